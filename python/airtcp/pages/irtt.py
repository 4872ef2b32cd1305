"""A run's pings as irtt would have written them (`irtt client -o FILE`), as JSON or as CSV.

Field names and words are from irtt 0.9 (result.go): times are nanoseconds, "send" is the way of
the request and "receive" that of its answer. Both simulated hosts have the same clock.
"""

import csv
import gzip
import io
import json
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median, variance

from airtcp._core import engine_version
from airtcp.core.runs import Run

# Simulated time begins at 0; irtt's wall clock needs a date.
_EPOCH_NS = 946_684_800_000_000_000
_PAYLOAD_BYTES = 56
"""Of the probe under load, and the default of `flows.ping.size`."""
_LOST = {"request": "true_up", "answer": "true_down"}
_COLUMNS = ("seqno", "timestamp_ns", "lost", "rtt_ns", "send_ns", "receive_ns")
_JITTER = ("ipdv_rtt_ns", "ipdv_send_ns", "ipdv_receive_ns")


@dataclass(frozen=True)
class _RoundTrip:
    """One ping, in nanoseconds of simulated time."""

    number: int
    lost: str
    """A word of irtt: "false", "true_up", "true_down", or "true" if the run ended before."""
    sent: int
    arrived: int | None
    answered: int | None

    @property
    def delay(self) -> dict[str, int]:
        """`rtt`, `send` and `receive`, empty without an answer."""
        if self.arrived is None or self.answered is None:
            return {}
        return {
            "rtt": self.answered - self.sent,
            "send": self.arrived - self.sent,
            "receive": self.answered - self.arrived,
        }

    def as_json(self, jitter: dict[str, int]) -> dict[str, object]:
        """An element of irtt's `round_trips`."""
        client = {"receive": _instant(self.answered), "send": _instant(self.sent)}
        server = {"receive": _instant(self.arrived), "send": _instant(self.arrived)}
        return {
            "seqno": self.number,
            "lost": self.lost,
            "timestamps": {"client": client, "server": server},
            "delay": self.delay,
            "ipdv": jitter,
        }


def irtt_json(run: Run) -> bytes:
    """The JSON of irtt, format 1; the same for the same run.

    Args:
        run: a run with `pings`.

    Raises:
        ValueError: it has no answered ping.
    """
    trips = _round_trips(run)
    jitters = list(_jitters(trips))
    summary = run.summary
    document = {
        "version": {"irtt": f"airtcp {engine_version}", "protocol": 1, "json_format": 1},
        "config": {
            "local_address": "simulated",
            "remote_address": f"{summary['scenario']}, {run.title}, seed {summary['seed']}",
            "params": {
                "proto_version": 1,
                "duration": _nanoseconds(summary["duration_s"]),
                "interval": _interval(trips),
                "length": _payload(run),
                "received_stats": "both",
                "stamp_at": "both",
                "clock": "wall",
            },
            "ip_version": "IPv4",
        },
        "stats": _statistics(run, trips, jitters),
        "round_trips": [trip.as_json(jitter) for trip, jitter in zip(trips, jitters, strict=True)],
    }
    return json.dumps(document).encode()


def irtt_csv(run: Run) -> bytes:
    """The same round trips as a table: one row a ping, empty fields where it has no answer.

    Args:
        run: a run with `pings`.

    Raises:
        ValueError: it has no answered ping.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*_COLUMNS, *_JITTER])
    trips = _round_trips(run)
    for trip, jitter in zip(trips, _jitters(trips), strict=True):
        fates = [trip.number, _EPOCH_NS + trip.sent, trip.lost]
        delays = [
            one.get(key) for one in (trip.delay, jitter) for key in ("rtt", "send", "receive")
        ]
        writer.writerow([*fates, *delays])
    return text.getvalue().encode()


def irtt_file(run: Run, suffix: str) -> bytes:
    """The content of a file with one of the endings .csv, .json and .gz."""
    if suffix == ".csv":
        return irtt_csv(run)
    content = irtt_json(run)
    return gzip.compress(content, mtime=0) if suffix == ".gz" else content


def _round_trips(run: Run) -> list[_RoundTrip]:
    """The pings of the first flow that has any, up to the last with a known fate."""
    pings = run.arrow("pings").rows()
    first = min((row["flow"] for row in pings), default=0)
    trips = [_round_trip(row) for row in pings if row["flow"] == first]
    while trips and trips[-1].lost == "true":
        trips.pop()
    if not any(trip.delay for trip in trips):
        raise ValueError(
            "the run has no answered ping: add --under-load ping, or set flows.kind=ping"
        )
    return trips


def _round_trip(row: "dict[str, float | int | str | None]") -> _RoundTrip:
    sent, arrived, answered = (row[name] for name in ("sent_s", "arrived_s", "answered_s"))
    is_answered = answered is not None
    return _RoundTrip(
        number=int(row["number"] or 0),
        lost="false" if is_answered else _LOST.get(str(row["lost"]), "true"),
        sent=_nanoseconds(sent) or 0,
        arrived=_nanoseconds(arrived),
        answered=_nanoseconds(answered),
    )


def _nanoseconds(seconds: object) -> int | None:
    return round(seconds * 1e9) if isinstance(seconds, float) else None


def _instant(time: int | None) -> dict[str, int]:
    """A reading of irtt's wall clock; empty where nothing was received."""
    return {} if time is None else {"wall": _EPOCH_NS + time}


def _jitters(trips: Sequence[_RoundTrip]) -> Iterator[dict[str, int]]:
    """The difference of each delay to the previous one, where both pings were answered."""
    yield {}
    for before, after in pairwise(trip.delay for trip in trips):
        yield {key: after[key] - before[key] for key in after if key in before}


def _interval(trips: Sequence[_RoundTrip]) -> int:
    """The usual time from one request to the next."""
    steps = [after.sent - before.sent for before, after in pairwise(trips)]
    return round(median(steps or [0]))


def _payload(run: Run) -> int:
    """Bytes of a request without its headers."""
    flows = tomllib.loads(run.scenario.to_toml()).get("flows", {})
    text = str(flows.get("ping", {}).get("size", f"{_PAYLOAD_BYTES} B"))
    return int(text.split()[0])


def _statistics(
    run: Run, trips: Sequence[_RoundTrip], jitters: Sequence[dict[str, int]]
) -> dict[str, object]:
    """The `stats` of irtt, as far as a simulation has them."""
    sent, answered = len(trips), [trip for trip in trips if trip.delay]
    arrived = sum(trip.arrived is not None for trip in trips)
    size = _payload(run)
    sending = trips[-1].sent - trips[0].sent
    answers = [trip.answered for trip in answered if trip.answered is not None]
    delays = {key: [trip.delay[key] for trip in answered] for key in ("rtt", "send", "receive")}
    varied = {key: [abs(one[key]) for one in jitters if key in one] for key in delays}
    return {
        "rtt": _durations(delays["rtt"]),
        "send_delay": _durations(delays["send"]),
        "receive_delay": _durations(delays["receive"]),
        "ipdv_round_trip": _durations(varied["rtt"]),
        "ipdv_send": _durations(varied["send"]),
        "ipdv_receive": _durations(varied["receive"]),
        "packets_sent": sent,
        "packets_received": len(answered),
        "server_packets_received": arrived,
        "packet_loss_percent": 100 * (sent - len(answered)) / sent,
        "upstream_loss_percent": 100 * (sent - arrived) / sent,
        "downstream_loss_percent": 100 * (arrived - len(answered)) / arrived,
        "duplicates": 0,
        "duplicate_percent": 0,
        "late_packets": 0,
        "late_packets_percent": 0,
        "bytes_sent": size * sent,
        "bytes_received": size * len(answered),
        "duration": _nanoseconds(run.summary["duration_s"]),
        "send_rate": _rate(size * sent, sending),
        "receive_rate": _rate(size * len(answered), max(answers) - min(answers)),
    }


def _durations(values: Sequence[int]) -> dict[str, int]:
    """The statistics that irtt gives of durations, with the variance of a sample."""
    if not values:
        return dict.fromkeys(("total", "n", "min", "max", "mean", "stddev", "variance"), 0)
    spread = variance(values) if len(values) > 1 else 0
    return {
        "total": sum(values),
        "n": len(values),
        "min": min(values),
        "max": max(values),
        "mean": round(fmean(values)),
        "median": round(median(values)),
        "stddev": round(spread**0.5),
        "variance": round(spread),
    }


def _rate(size: int, nanoseconds: int) -> dict[str, object]:
    """Bits of payload a second."""
    rate = round(8e9 * size / nanoseconds) if nanoseconds > 0 else 0
    return {"bps": rate, "string": f"{rate} bps"}
