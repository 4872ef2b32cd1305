"""Against the Linux kernel's Reno with SACK on the lossy pipe: mean goodput over seeds."""

from collections import defaultdict
from collections.abc import Callable
from statistics import fmean

import pytest

from .conftest import Goodputs, Settings, oracle_lines

# The kernel has RACK-TLP, PRR and F-RTO, which the `sack` profile has not.
TOLERANCE = 0.15
SEEDS = 30


def points() -> list[object]:
    """One for each setting in the file: its settings here, and the kernel's mean goodput."""
    runs: dict[tuple[object, ...], list[float]] = defaultdict(list)
    settings: dict[tuple[object, ...], Settings] = {}
    for line in oracle_lines("linux.jsonl"):
        kernel = (line["cc"], line["sack"], line["timestamps"], line["spikes"])
        if kernel != ("reno", 1, 1, None):
            continue
        key = tuple(line[name] for name in ("rate_mbps", "owd_ms", "queue", "loss"))
        runs[key].append(float(str(line["goodput_bps"])))
        settings[key] = {
            "duration": f"{line['secs']} s",
            "link.rate": f"{line['rate_mbps']} Mbit/s",
            "link.delay": f"{line['owd_ms']} ms",
            "link.queue.packets": str(line["queue"]),
            "link.loss.rate": str(line["loss"]),
            "tcp.profile": "sack",
            # The kernel counts what was acknowledged.
            "tcp.window_growth": "bytes",
            "tcp.initial_window": "10",
            "tcp.min_rto": "200 ms",
            "tcp.delayed_ack.segments": "2",
            "tcp.delayed_ack.timeout": "40 ms",
        }
    if not runs:
        reason = "no linux.jsonl: set AIRTCP_ORACLES to its folder"
        return [pytest.param({}, 0.0, "no oracles", marks=pytest.mark.skip(reason=reason))]
    cases: list[object] = []
    for key, goodputs in sorted(runs.items(), key=str):
        name = "Linux Reno, {} Mbit/s, {} ms each way, queue {}, loss {}".format(*key)
        cases.append(pytest.param(settings[key], fmean(goodputs), name, id=name))
    return cases


@pytest.mark.parametrize(("settings", "expected_bps", "name"), points())
def test_goodput(
    goodputs: Callable[[Settings, int], Goodputs],
    settings: Settings,
    expected_bps: float,
    name: str,
) -> None:
    goodputs(settings, SEEDS).assert_near(expected_bps, TOLERANCE, name)
