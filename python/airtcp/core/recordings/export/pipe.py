"""A scenario's link as the numbers that other programs take."""

import gzip
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from airtcp._core import Scenario, ScenarioError
from airtcp.core.quantities import parse_bit_rate
from airtcp.core.recordings.opportunities import PACKET_BITS, PACKET_BYTES, mean_bps, rescaled
from airtcp.core.recordings.recording import DOWN, UP


@dataclass(frozen=True)
class Direction:
    """One direction of a link."""

    rate_bps: float | None
    """A constant rate; None for a trace, or without a rate."""
    trace: bytes | None
    """Opportunities as mahimahi's file."""
    opportunity_bytes: int
    """Bytes that cross at each: 1500, but for CellReplay's traces."""
    light: bytes | None
    """The same of the first packets after a pause, as CellReplay's file."""
    delay_s: float
    """One way; the median of recorded ones."""
    delays: list[tuple[float, float, float]]
    """Recorded delays: time, delay in seconds, loss."""
    queue_packets: int | None
    queue_bytes: int | None
    loss: float
    """The share of lost packets, whatever their model."""
    loss_model: dict[str, Any]
    discipline: str | None

    @property
    def times_ms(self) -> list[int]:
        """The opportunities of the trace, each of `opportunity_bytes`."""
        return [] if self.trace is None else [int(word) for word in self.trace.split()]

    @property
    def packet_times_ms(self) -> list[int]:
        """The opportunities of whole packets of 1500 bytes."""
        return rescaled(self.times_ms, self.opportunity_bytes, PACKET_BYTES)

    @property
    def mean_bps(self) -> float | None:
        """The mean rate; None where there is no limit."""
        if self.trace is None:
            return self.rate_bps
        return mean_bps(self.times_ms, self.opportunity_bytes)

    def rates(self, step_s: float) -> list[float]:
        """Mean rates of steps of the trace, in bits a second."""
        times = self.times_ms
        if not times:
            return []
        sums = [0.0] * (int(times[-1] / 1e3 / step_s) + 1)
        for time in times:
            sums[int(time / 1e3 / step_s)] += 8 * self.opportunity_bytes / step_s
        if times[-1] / 1e3 % step_s == 0:
            # Packets at the very end belong to the step before it.
            sums[-2:] = [sum(sums[-2:])]
        return sums


@dataclass(frozen=True)
class Pipe:
    """Both directions, and properties that other programs lack."""

    name: str
    ways: dict[str, Direction]
    notes: list[str]


def pipe_of(scenario: Scenario) -> Pipe:
    """The link of a scenario.

    Raises:
        ScenarioError: its topology is no pipe.
    """
    document = tomllib.loads(scenario.to_toml())
    files: dict[str, bytes] = scenario.__reduce__()[1][2]
    topology = document.get("topology", "pipe")
    if topology != "pipe":
        raise ScenarioError(
            f'export: topology = "{topology}" has a medium that no such program has; expected '
            '"pipe": `airtcp run LINK --replay FOLDER` writes one run of it as a pipe'
        )
    link = document["link"]
    if "rtt_log" in link or "rtt_model" in link:
        raise ScenarioError(
            "export: link.rtt_log and link.rtt_model give each packet a round trip and no rate; "
            "import the log instead: airtcp import my.ping --rate RATE -o link.toml"
        )
    data = link.get("trace", {}).get("data") or document.get("flows", {}).get("direction", DOWN)
    data = data if data in {DOWN, UP} else DOWN
    back = UP if data == DOWN else DOWN
    reverse = {**_inherited(link), **link.get("reverse", {})}
    ways = {
        data: _direction(link, files, data, "link", _loss_of(link, "data")),
        back: _direction(reverse, files, back, "link.reverse", _loss_of(link, "acks")),
    }
    return Pipe(scenario.name, ways, _notes(link))


def _inherited(link: dict[str, Any]) -> dict[str, Any]:
    kept = ("rate", "delay", "queue", "trace", "aqm")
    return {key: link[key] for key in kept if key in link}


def _loss_of(link: dict[str, Any], way: str) -> dict[str, Any]:
    if way == "acks" and "loss" in link.get("reverse", {}):
        return dict(link["reverse"]["loss"])
    loss: dict[str, Any] = dict(link.get("loss", {}))
    return loss if loss.get("direction", "data") in {way, "both"} else {}


def _direction(
    link: dict[str, Any], files: dict[str, bytes], way: str, within: str, loss: dict[str, Any]
) -> Direction:
    trace = link.get("trace", {}).get(way)
    content = None if trace is None else files.get(f"link.trace.{way}")
    if content is not None and content.startswith(b"\x1f\x8b"):
        content = gzip.decompress(content)
    delays = _delays(files.get(f"{within}.recorded.path") if "recorded" in link else None)
    delay_s = _seconds(str(link.get("delay", "0 s")))
    if delays:
        delay_s = median(delay for _, delay, _ in delays)
    queue = link.get("queue", {})
    share = _mean_loss(loss)
    if delays:
        share = sum(lost for _, _, lost in delays) / len(delays)
    rate = link.get("rate", "unlimited")
    return Direction(
        None if content is not None or rate == "unlimited" else parse_bit_rate(rate),
        content,
        _bytes(link.get("trace", {}).get("opportunity")) or PACKET_BYTES,
        files.get(f"link.trace.light.{way}"),
        delay_s,
        delays,
        queue.get("packets"),
        _bytes(queue.get("bytes")),
        share,
        loss,
        link.get("aqm", {}).get("discipline"),
    )


def _seconds(text: str) -> float:
    number, _, unit = text.partition(" ")
    factor = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
    return float(number) * factor[unit]


def _bytes(size: object) -> int | None:
    if size is None or isinstance(size, int):
        return size
    number, _, unit = str(size).partition(" ")
    factor = {"kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
    return round(float(number) * factor.get(unit, 1))


def _mean_loss(loss: dict[str, Any]) -> float:
    match loss.get("model", "iid"):
        case "gilbert-elliott":
            to_bad, to_good = float(loss["good_to_bad"]), float(loss["bad_to_good"])
            bad = to_bad / (to_bad + to_good) if to_bad + to_good > 0 else 0.0
            return bad * float(loss.get("loss_in_bad", 1)) + (1 - bad) * float(
                loss.get("loss_in_good", 0)
            )
        case "block":
            return float(loss["lost"]) / float(loss.get("of", 100))
        case "bit-error":
            return float(1 - (1 - float(loss.get("rate", 0))) ** PACKET_BITS)
        case _:
            return float(loss.get("rate", 0.0))


def _delays(content: bytes | None) -> list[tuple[float, float, float]]:
    if content is None:
        return []
    rows = content.decode().splitlines()
    names = [name.strip() for name in rows[0].split(",")]
    places = [names.index(name) for name in ("time_ms", "delay_ms", "loss")]
    found = []
    for row in rows[1:]:
        if row.strip():
            fields = row.split(",")
            time, delay, loss = (float(fields[place]) for place in places)
            found.append((time / 1e3, delay / 1e3, loss))
    return found


_BEYOND: tuple[tuple[str, str], ...] = (
    ("stops", "stops of the link (link.stops)"),
    ("jitter", "a delay drawn for each packet (link.jitter)"),
    ("late", "packets that come late (link.late)"),
    ("lost_packets", "packets that are lost by their numbers (link.lost_packets)"),
    ("policer", "a policer (link.policer)"),
)


def _notes(link: dict[str, Any]) -> list[str]:
    """Keys that no target is given."""
    return [f"Not exported: {what}." for key, what in _BEYOND if key in link]


def said_of_queue(way: str, one: Direction, known: Sequence[str]) -> list[str]:
    """Notes on a direction's discipline."""
    if one.discipline in {None, "drop-tail", *known}:
        return []
    return [f"The direction {way} has {one.discipline}, which becomes a drop-tail queue."]
