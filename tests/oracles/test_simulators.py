"""Against ns-2 and ns-3 on the lossy pipe: mean goodput over seeds."""

from collections import defaultdict
from collections.abc import Callable
from statistics import fmean

import pytest

from .conftest import Goodputs, Settings, oracle_lines

TOLERANCE = 0.10
# Each seed takes some 20 ms; enough of them for an uncertainty in airtcp of about 1 %.
SEEDS = 30


def points() -> list[object]:
    """One for each setting in the files: its settings here, and the peer's mean goodput."""
    runs: dict[tuple[object, ...], list[float]] = defaultdict(list)
    settings: dict[tuple[object, ...], Settings] = {}
    for line in oracle_lines("ns2.jsonl") + oracle_lines("ns3.jsonl"):
        if line["scenario"] != "S1" or line["n"] != 1:
            continue
        key = (line["peer"], line["sack"], line["loss"], line["delack"], line["minrto_s"])
        runs[key].append(float(str(line["goodput_bps"])))
        settings[key] = {
            "duration": f"{line['sim_s']} s",
            "link.rate": f"{line['rate_mbps']} Mbit/s",
            "link.delay": f"{line['owd_ms']} ms",
            "link.queue.packets": str(line["queue"]),
            "link.loss.rate": str(line["loss"]),
            "tcp.profile": "sack" if line["sack"] else "newreno",
            # Both open the window by ACKs, not by acknowledged bytes.
            "tcp.window_growth": "acknowledgments",
            "tcp.mss": str(line["mss"]),
            "tcp.initial_window": str(line["iw"]),
            "tcp.min_rto": f"{float(str(line['minrto_s'])) * 1000:.0f} ms",
            "tcp.delayed_ack.segments": str(line["delack"]),
            "tcp.delayed_ack.timeout": "40 ms",
        }
    if not runs:
        reason = "no ns2.jsonl or ns3.jsonl: set AIRTCP_ORACLES to their folder"
        return [pytest.param({}, 0.0, "no oracles", marks=pytest.mark.skip(reason=reason))]
    cases: list[object] = []
    for key, goodputs in sorted(runs.items(), key=str):
        peer, sack, loss, delack, _ = key
        name = f"{peer}, {'SACK' if sack else 'NewReno'}, loss {loss}, ACK for {delack}"
        cases.append(pytest.param(settings[key], fmean(goodputs), name, id=name))
    return cases


@pytest.mark.parametrize(("settings", "expected_bps", "name"), points())
def test_goodput(
    goodputs: Callable[[Settings, int], Goodputs],
    settings: Settings,
    expected_bps: float,
    name: str,
) -> None:
    seeds = SEEDS if float(settings["link.loss.rate"]) > 0 else 1
    goodputs(settings, seeds).assert_near(expected_bps, TOLERANCE, name)
