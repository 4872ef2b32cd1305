"""Against ns-3.37 over aggregating Wi-Fi: datagrams, TCP, and pings under load.

The runs are in ``ns3-aggregating.jsonl``; ``benches/ns3/wlan_aggregating.py`` makes them.

Where the standard leaves ns-3 a choice, a switch has airtcp make the same:

- Two frames at the same power are heard as energy: nobody recognises a preamble, and all wait for
AIFS after a collision and not for EIFS (``wlan.collision_heard``). Twenty stations without
  aggregates have 5 % more by that.
- Each MPDU of an aggregate is handed on at its own last bit (``wlan.aggregation.hand_on``): the
  ACKs of an upload come spread over the next aggregate, the access point contends with some of
  them at each of its ends, and an upload has 4 % less by that.

One does not fit and is switched off in ns-3: a nearer sender's frame survives a collision
(``--capture``), which airtcp does not model.
"""

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median
from typing import Any

import pytest

from airtcp import _core

from .conftest import ROOT, Goodputs

RUNS = Path(__file__).parent / "ns3-aggregating.jsonl"
PROGRAM = ROOT / "benches" / "ns3" / "wlan_aggregating.cc"
SEEDS = 10
# A run's results; the other keys of a line are its settings.
RESULTS = {"seed", "delivered_packets", "cpu_s", "goodput_bps", "pings", "program"}
SCENARIO = """
duration = "{duration_s} s"
topology = "wlan"
[wlan]
standard = "802.11{standard}"
mcs = {mcs}
channel_width = "{width} MHz"
spatial_streams = 1
guard_interval = "{guard} ns"
scheduler = "fifo"
queue.packets = 500
retry_limit = {retry_limit}
collision_heard = "energy"
loss.rate = {loss}
[wlan.aggregation]
hand_on = "mpdu"
missed_block_ack = "{missed}"
{aggregation}
[wired]
rate = "1 Gbit/s"
delay = "{delay_ms} ms"
queue.packets = 10000  # A-MPDUs come in one instant
[flows]
{flows}
[tcp]
profile = "sack"
initial_window = 10
max_window = {segments}
min_rto = "200 ms"
window_growth = "acknowledgments"
delayed_ack = {{ segments = 2, timeout = "100 ms" }}
"""


@dataclass
class Point:
    """One setting, and ns-3's results in it."""

    settings: dict[str, Any]
    goodputs: list[float] = field(default_factory=list)
    round_trips_ms: list[float] = field(default_factory=list)

    @property
    def name(self) -> str:
        """As pytest shows it."""
        own = self.settings
        parts = [own["traffic"], own["background"], own["direction"], own["standard"], own["mode"]]
        parts += [f"n{own['stations']}", f"loss{own['loss']:g}", f"window{own['window']}"]
        parts += [] if own["aggregation"] else ["single"]
        parts += ["requests"] if own["requests"] else []
        return "-".join(part for part in parts if part)

    def scenario(self) -> str:
        """The same here."""
        own = self.settings
        pings = own["traffic"] == "ping"
        kind = own["background"] if pings else own["traffic"]
        return SCENARIO.format_map(
            own
            | {
                # Pings are judged by their median, to which the beginning matters less.
                "duration_s": 33 if pings else own["warm_up_s"] + own["simulated_s"],
                "mcs": own["mode"].rpartition("Mcs")[2],
                # ns-3 does not count attempts within an A-MPDU.
                "retry_limit": '"unlimited"' if own["aggregation"] else 7,
                "missed": "request" if own["requests"] else "retransmit",
                "aggregation": f"window = {own['window']}" if own["aggregation"] else "frames = 1",
                "flows": "\n".join(self._flows(kind, pings=pings)),
            }
        )

    def _flows(self, kind: str, *, pings: bool) -> Iterator[str]:
        own = self.settings
        others = own["stations"] - pings
        yield f"count = {own['stations']}"
        yield 'start_spread = "50 ms"'
        if pings:
            yield f"kind = {json.dumps(['ping'] + [kind] * others)}"
            yield f"direction = {json.dumps(['down'] + [own['direction']] * others)}"
            yield 'ping = { interval = "20 ms", size = "64 B" }'
        else:
            yield f'kind = "{kind}"'
            yield f'direction = "{own["direction"]}"'
        if kind == "udp":
            # The load offered to ns-3 exceeds capacity, except in this one.
            is_half = own["direction"] == "down"
            yield f'udp = {{ size = "1472 B"{", rate = " + HALF if is_half else ""} }}'


HALF = '"30 Mbit/s"'


def lines() -> list[dict[str, Any]]:
    """Output of ns-3."""
    return [json.loads(line) for line in RUNS.read_text().splitlines()]


def points(traffic: str) -> list[object]:
    """One for each setting."""
    found: dict[str, Point] = {}
    for line in lines():
        if line["traffic"] != traffic:
            continue
        settings = {key: line[key] for key in line if key not in RESULTS and "rtt" not in key}
        point = found.setdefault(json.dumps(settings), Point(settings))
        point.goodputs.append(line["goodput_bps"])
        if "rtt_p50_ms" in line:
            point.round_trips_ms.append(line["rtt_p50_ms"])
    return [pytest.param(point, id=point.name) for point in found.values()]


def run(text: str, seeds: int) -> list[dict[str, Any]]:
    """Results of these seeds here."""
    scenario = _core.Scenario.parse(text)
    cells = [(scenario, seed) for seed in range(1, seeds + 1)]
    summaries = []
    for result in _core.run_many(cells, os.cpu_count() or 1):
        assert isinstance(result, _core.RunResult), result
        summaries.append(json.loads(result.summary()))
    return summaries


def test_the_runs_are_of_this_program() -> None:
    digest = hashlib.sha256(PROGRAM.read_bytes()).hexdigest()[:16]
    programs: dict[str, int] = defaultdict(int)
    for line in lines():
        programs[line["program"]] += 1
    assert set(programs) == {digest}, f"run benches/ns3/wlan_aggregating.py again: {programs}"


@pytest.mark.parametrize("point", points("udp"))
def test_datagrams(point: Point) -> None:
    ours = Goodputs(tuple(each["goodput_bps"] for each in run(point.scenario(), 2)))
    ours.assert_near(fmean(point.goodputs), 0.04, point.name)


@pytest.mark.parametrize("point", points("tcp"))
def test_tcp(point: Point) -> None:
    """Over the same seconds from the start on, with windows that do not fill the queue."""
    ours = Goodputs(tuple(each["goodput_bps"] for each in run(point.scenario(), SEEDS)))
    print(f"ns-3 {Goodputs(tuple(point.goodputs))}")
    ours.assert_near(fmean(point.goodputs), 0.03, point.name)


@pytest.mark.parametrize("point", points("ping"))
def test_pings_under_load(point: Point) -> None:
    """By the median run's median: under saturated uploads a ping may wait for seconds."""
    seeds = max(SEEDS, len(point.round_trips_ms))
    each = [summary["flows"][0]["rtt_p50_ms"] for summary in run(point.scenario(), seeds)]
    theirs = median(point.round_trips_ms)
    print(f"{point.name}: airtcp {median(each):.3f} ms, ns-3 {theirs:.3f}")
    assert median(each) == pytest.approx(theirs, rel=0.10)
