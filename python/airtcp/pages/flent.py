"""A run as a data file of flent (version 4 of its format), for flent's plots and comparisons.

Rates are the receivers' goodput, in steps of 0.2 s. The round trips are the TCP senders', in the
series that flent's tests fill from a ping: as the file's note explains.
"""

import gzip
import json
from collections.abc import Iterable
from itertools import pairwise
from math import ceil

from airtcp._core import engine_version
from airtcp.comparison.ranking import Direction, direction
from airtcp.core.runs import Run

PROBES = ("delivered_bytes",)
"""The probes that a run needs for it."""
STEP_S = 0.2
_VERSION = 4
_PING = "Ping (ms) ICMP"
# Simulated time begins at 0; flent needs a date.
_EPOCH_S = 946_684_800
_EPOCH = "2000-01-01T00:00:00.000000Z"
_NOTE = (
    "Simulated by airtcp {version}: {scenario}, seed {seed}, {title}. The series of the ping has "
    "the round trips that the TCP senders measured."
)


def flent_file(run: Run) -> bytes:
    """The content of a .flent.gz; the same for the same run.

    Args:
        run: a run with `PROBES` and `rtts`.
    """
    samples, rtts = run.arrow("samples"), run.arrow("rtts")
    try:
        delivered = samples.reals("delivered_bytes").tolist()
    except KeyError:
        raise ValueError(
            "the run has no delivered bytes: give probes=['delivered_bytes']"
        ) from None
    times, of_flow = samples.reals("time_s").tolist(), samples.wholes("flow").tolist()
    round_trips = list(
        zip(rtts.reals("time_s").tolist(), rtts.reals("rtt_ms").tolist(), strict=True)
    )
    end_s = max(times, default=0.0)
    length = max(1, ceil(end_s / STEP_S - 1e-9))
    way = "upload" if direction(run.scenario) is Direction.UP else "download"
    totals: dict[int, list[tuple[float, float]]] = {flow: [] for flow in sorted(set(of_flow))}
    for flow, time, total in zip(of_flow, times, delivered, strict=True):
        totals[flow].append((time, total))
    several = len(totals) > 1
    rates = {
        f"TCP {way}::{flow + 1}" if several else f"TCP {way}": _rates(one, length)
        for flow, one in totals.items()
    }
    if several:
        every = list(zip(*rates.values(), strict=True))
        rates[f"TCP {way} sum"] = [sum(one) for one in every]
        rates[f"TCP {way} avg"] = [sum(one) / len(one) for one in every]
    raw = [
        {"seq": number, "t": _EPOCH_S + time, "val": rtt}
        for number, (time, rtt) in enumerate(round_trips, start=1)
    ]
    summary = run.summary
    steps = [round(STEP_S * step, 6) for step in range(length)]
    name = f"tcp_n{'up' if way == 'upload' else 'down'}" if several else f"tcp_{way}"
    note = _NOTE.format(
        version=engine_version,
        scenario=summary["scenario"],
        seed=summary["seed"],
        title=run.title,
    )
    document = {
        "version": _VERSION,
        "metadata": {
            "NAME": name,
            "TITLE": f"{summary['scenario']}, {run.title}",
            "NOTE": note,
            "TIME": _EPOCH,
            "T0": _EPOCH,
            "HOST": "simulated",
            "HOSTS": ["simulated"],
            "LOCAL_HOST": "airtcp",
            "LENGTH": round(length * STEP_S),
            "TOTAL_LENGTH": round(length * STEP_S, 6),
            "STEP_SIZE": STEP_S,
            "FLENT_VERSION": f"airtcp {engine_version}",
            "IP_VERSION": 4,
            "TEST_PARAMETERS": {},
            "DATA_FILENAME": f"{name}.flent.gz",
        },
        "x_values": steps,
        "results": {**rates, _PING: _means(round_trips, length)},
        "raw_values": {_PING: raw},
    }
    return gzip.compress(json.dumps(document, sort_keys=True).encode(), mtime=0)


def _rates(delivered: Iterable[tuple[float, float]], length: int) -> list[float]:
    """The goodput of a receiver in each step, in Mbit/s, from its bytes at some times."""
    totals = [0.0] * (length + 1)
    for time, so_far in delivered:
        step = min(length, ceil(time / STEP_S - 1e-9))
        totals[step] = max(totals[step], so_far)
    for step in range(1, length + 1):
        totals[step] = max(totals[step], totals[step - 1])
    return [(after - before) * 8 / STEP_S / 1e6 for before, after in pairwise(totals)]


def _means(rtts: Iterable[tuple[float, float]], length: int) -> list[float | None]:
    """The mean round trip of each step, in milliseconds; None without one."""
    sums, counts = [0.0] * length, [0] * length
    for time, rtt in rtts:
        step = min(length - 1, int(time / STEP_S))
        sums[step] += rtt
        counts[step] += 1
    return [one / count if count else None for one, count in zip(sums, counts, strict=True)]
