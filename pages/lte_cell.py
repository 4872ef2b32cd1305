"""A cell of LTE in the settings of a recorded run of ns-3, and its figures.

`tests/oracles/ns3-lte.jsonl` has the runs (benches/ns3/lte_cell.py makes them). Where the standard
leaves ns-3 a choice, a key makes the same one here: blocks have one symbol of control, a grant is
asked for in every slot, RLC polls with each PDU, and link adaptation has no outer loop.
"""

import json
import runpy
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from airtcp import _core

ROOT = Path(__file__).resolve().parents[1]
RUNS = ROOT / "tests" / "oracles" / "ns3-lte.jsonl"
PROGRAM = ROOT / "benches" / "ns3" / "lte_cell.cc"
RECORDER = ROOT / "benches" / "ns3" / "lte_cell.py"

Line = Mapping[str, Any]
Reals = NDArray[np.float64]

MHZ = {6: 1.4, 100: 20}
RLC = {
    "um": 'mode = "um"\nreordering = "100 ms"',
    "am": """mode = "am"
poll_pdu = 1
poll_byte = "50 B"
poll_retransmit = "20 ms"
status_prohibit = "100 ms"
reordering = "10 ms\"""",
}
SCENARIO = """
duration = "{duration_s} s"
topology = "cell"
[cell]
standard = "lte"
bandwidth_mhz = {mhz}
subbands = 1
control_symbols = 1
scheduler = "proportional-fair"
time_constant = 99
[cell.cqi]
period = "{report_ms} ms"
[cell.outer_loop]
step_db = {step_db}
target = {target}
[cell.harq]
nack_to_ack = 0
[cell.rlc]
{rlc}
[cell.uplink]
request_period = "1 ms"
request_grant = "1 kB"
queue.packets = 10000
transmit_power_dbm = {snr_db}
[cell.radio]
fading = "{fading}"
path_loss_exponent = 0
loss_at_1_m_db = 0
transmit_power_dbm = {snr_db}
noise_dbm = 0
[wired]
rate = "1 Gbit/s"
delay = "{delay} ms"
queue.packets = 10000
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
FLOWS = {
    "tcp": 'count = {users}\ndirection = "{direction}"\nstart_spread = "50 ms"',
    # 100 bytes each 20.1 ms: no multiple of a slot, so that every phase is met.
    "light": """count = {users}
direction = "{direction}"
kind = "udp"
udp = {{ rate = "39801 bit/s", size = "100 B" }}""",
    "ping": 'kind = "ping"\nping = {{ interval = "20.1 ms", size = "56 B" }}',
}
STRONG_DB = 140.0
"""A signal with which every block arrives."""
REPORT_MS = {"down": 2, "up": 10}
"""From one report of the channel to the next: ns-3's CQI, and its sounding reference signals."""
OUTER_LOOP_DB, DEFAULT_TARGET = 0.01, 0.1


@dataclass(frozen=True)
class Figures:
    """One of our runs in the terms of ns-3's."""

    flows: list[dict[str, Any]]
    goodput_bps: float
    delay_ms: dict[str, float]
    """Quantiles of the one-way delay, by percent."""
    blocks_sent: int
    blocks_failed: int
    blocks_repeated: int
    repeated_failed: int


def lines(**wanted: object) -> list[dict[str, Any]]:
    """Recorded runs with these values."""
    read = [json.loads(line) for line in RUNS.read_text().splitlines()]
    return [one for one in read if all(one[key] == value for key, value in wanted.items())]


def error_rate(line: Line) -> float:
    """Share of ns-3's blocks whose first transmission failed."""
    return float(line["blocks_failed"] / line["blocks_sent"])


def scenario(line: Line, duration_s: float, *, target: float | None = None) -> _core.Scenario:
    """Our scenario for a run of ns-3, without an outer loop or with one to a block error rate."""
    filled = {
        **line,
        "duration_s": duration_s,
        "mhz": MHZ[line["blocks"]],
        "report_ms": REPORT_MS[line["direction"]],
        "step_db": 0 if target is None else OUTER_LOOP_DB,
        "target": target or DEFAULT_TARGET,
        "rlc": RLC[line["mode"]],
        "snr_db": line["snr"] or STRONG_DB,
        "fading": "jakes" if line["walking"] else "none",
        "flows": FLOWS[line["traffic"]].format_map(line),
    }
    return _core.Scenario.parse(SCENARIO.format_map(filled))


def flows(line: Line, duration_s: float) -> list[dict[str, Any]]:
    """The flows of our run, which ends after this time."""
    result = _core.run_many([(scenario(line, duration_s), line["seed"])], 1)[0]
    assert isinstance(result, _core.RunResult), result
    found: list[dict[str, Any]] = json.loads(result.summary())["flows"]
    return found


def rates_bps(line: Line) -> list[float]:
    """Goodput of each of our flows in the time in which ns-3's counts."""
    begin_s, length_s = line["warm_up_s"], line["simulated_s"]
    after = flows(line, begin_s + length_s)
    before = flows(line, begin_s) if begin_s else [{"delivered_bytes": 0}] * len(after)
    pairs = zip(before, after, strict=True)
    return [
        8 * (late["delivered_bytes"] - early["delivered_bytes"]) / length_s for early, late in pairs
    ]


def ours(line: Line, *, target: float | None = None) -> Figures:
    """One of our runs, from the start of its flows on."""
    length_s = line["warm_up_s"] + line["simulated_s"]
    run = _core.run(scenario(line, length_s, target=target), line["seed"], air=True)
    summary = json.loads(run.summary())
    is_ours = pl.col("station") == 0 if line["direction"] == "down" else pl.col("station") > 0
    frames = pl.DataFrame(run.frames()).filter(is_ours)
    first = frames.filter(pl.col("attempt") == 1)
    failed = [one.filter(pl.col("fate") == "damaged").height for one in (first, frames)]
    latency = summary["latency"]
    delays = zip(latency["percent"], latency["delay_ms"], strict=True)
    return Figures(
        flows=summary["flows"],
        goodput_bps=summary["goodput_bps"],
        delay_ms={f"{percent:g}": delay for percent, delay in delays},
        blocks_sent=first.height,
        blocks_failed=failed[0],
        blocks_repeated=frames.height - first.height,
        repeated_failed=failed[1] - failed[0],
    )


def cpu_s(line: Line, seconds: float = 10.0) -> float:
    """Processor time of a simulated second of ours."""
    cell = (scenario(line, seconds), line["seed"])
    begin = time.process_time()
    _core.run_many([cell], 1)
    return (time.process_time() - begin) / seconds


@cache
def gains(users: int) -> Reals:
    """Power of each user over its mean, a row a millisecond: the channel of both programs."""
    recorder = runpy.run_path(str(RECORDER))
    found: Reals = recorder["gains"](users, recorder["WALK_S"])
    return found


@cache
def rate_curves(direction: str) -> tuple[Reals, Reals, Reals]:
    """Signals to noise in dB, and goodput of a user at rest there: ns-3's and ours."""
    still = [one for one in lines(direction=direction, walking=False) if one["snr"]]
    still.sort(key=lambda one: one["snr"])
    mine = [sum(rates_bps(one)) for one in still]
    signals, theirs = ([one[key] for one in still] for key in ("snr", "goodput_bps"))
    return np.array(signals), np.array(theirs), np.array(mine)


def expected_bps(line: Line) -> tuple[float, float]:
    """Goodput of ns-3 and of ours as it follows from link adaptation and the scheduler.

    A user who walks gets the goodput of one at rest at the momentary signal, whenever it
    is chosen: by proportional fairness; but in ns-3's uplink users have their turns, whatever the
    scheduler (`PfFfMacScheduler::DoSchedUlTriggerReq`).
    """
    signals, *curves = rate_curves(line["direction"])
    momentary = line["snr"] + 10 * np.log10(gains(line["users"]))
    theirs, mine = (np.interp(momentary, signals, curve, left=0.0) for curve in curves)
    takes_turns = line["direction"] == "up"
    return float(theirs.mean()) if takes_turns else _fair(theirs), _fair(mine)


def expected_ratio(line: Line) -> float:
    """Our goodput over ns-3's as it follows from link adaptation and the scheduler."""
    theirs, mine = expected_bps(line)
    return mine / theirs


def _fair(rates: Reals, slots: float = 99.0) -> float:
    """Mean rate of proportional fairness over slots in rows, for users in columns."""
    served = np.full(rates.shape[1], 1.0)
    total = 0.0
    for row in rates:
        chosen = int(np.argmax(row / served))
        served *= 1 - 1 / slots
        served[chosen] += row[chosen] / slots
        total += row[chosen]
    return total / len(rates)
