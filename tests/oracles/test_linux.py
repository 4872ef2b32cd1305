"""Against the Linux kernel on the lossy pipe: mean goodput over seeds, counts in magnitude.

The kernel's logic is followed and not its numbers: nothing is fitted to these points.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import fmean

import pytest

from airtcp import _core

from .conftest import SCENARIO, Goodputs, Settings, oracle_lines

TOLERANCE = 0.10
SEEDS = 30
PROFILES = {"cubic": "linux", "reno": "linux-reno", "bbr": "linux-bbr"}
# The kernel's counters, and what counts the same here.
UNDOS = ("TcpExtTCPFullUndo", "TcpExtTCPPartialUndo", "TcpExtTCPLossUndo")


@dataclass
class Point:
    """One setting, and the kernel's runs of it."""

    settings: Settings
    goodputs: list[float] = field(default_factory=list)
    timeouts: list[float] = field(default_factory=list)
    undos: list[float] = field(default_factory=list)


def number(line: dict[str, object], key: str) -> float:
    """A value of a line."""
    return float(str(line[key]))


def points() -> list[object]:
    """One for each setting in the file."""
    found: dict[str, Point] = {}
    for line in oracle_lines("linux.jsonl"):
        if line["spikes"] or line["cc"] not in PROFILES or line["recovery"] != 1:
            continue
        keys = ("cc", "rate_mbps", "owd_ms", "queue", "loss", "sack", "frto", "timestamps")
        name = "{}, {} Mbit/s, {} ms each way, queue {}, loss {}, sack {}".format(
            *(line[key] for key in keys)
        )
        settings: Settings = {
            "duration": f"{line['secs']} s",
            "link.rate": f"{line['rate_mbps']} Mbit/s",
            "link.delay": f"{line['owd_ms']} ms",
            "link.queue.packets": str(line["queue"]),
            "link.loss.rate": str(line["loss"]),
            "tcp.profile": PROFILES[str(line["cc"])],
            "tcp.sack": bool(line["sack"]),
            "tcp.timestamps": bool(line["timestamps"]),
            "tcp.mss": "1448" if line["timestamps"] else "1460",
            "tcp.f_rto": line["frto"] != 0,
        }
        point = found.setdefault(name, Point(settings))
        point.goodputs.append(number(line, "goodput_bps"))
        point.timeouts.append(number(line, "TcpExtTCPTimeouts"))
        point.undos.append(sum(number(line, key) for key in UNDOS))
    if not found:
        reason = "no linux.jsonl: set AIRTCP_ORACLES to its folder"
        return [pytest.param(None, "no oracles", marks=pytest.mark.skip(reason=reason))]
    return [pytest.param(point, name, id=name) for name, point in sorted(found.items())]


@pytest.mark.parametrize(("point", "name"), points())
def test_goodput(goodputs: Callable[[Settings, int], Goodputs], point: Point, name: str) -> None:
    goodputs(point.settings, SEEDS).assert_near(fmean(point.goodputs), TOLERANCE, name)


@pytest.mark.parametrize(("point", "name"), points())
def test_timeouts_and_undos_are_of_the_kernels_order(point: Point, name: str) -> None:
    texts = [
        (key, json.dumps(value) if isinstance(value, bool) else str(value))
        for key, value in point.settings.items()
    ]
    scenario = _core.Scenario.load(SCENARIO, texts)
    timeouts, undos = [], []
    for result in _core.run_many([(scenario, seed) for seed in range(1, 11)], os.cpu_count() or 1):
        assert isinstance(result, _core.RunResult), result
        (flow,) = json.loads(result.summary())["flows"]
        timeouts.append(flow["timeouts"])
        undos.append(flow["recoveries_taken_back"])
    for what, ours, kernels in (
        ("timeouts", fmean(timeouts), fmean(point.timeouts)),
        ("undos", fmean(undos), fmean(point.undos)),
    ):
        print(f"{name}: {what} {ours:.1f}, kernel {kernels:.1f}")
        # One each way is chance; beyond that a factor of ten is an order of magnitude.
        assert ours <= 10 * kernels + 2, f"{name}: {what}"
        assert kernels <= 10 * ours + 2, f"{name}: {what}"
