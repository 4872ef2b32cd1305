"""Against ns-3.37 over a cell of LTE: TCP of one and five users in both modes of RLC, and pings.

The runs are in ``ns3-lte.jsonl``; ``benches/ns3/lte_cell.py`` makes them, with ns-3 set as a
network is and not as it comes: RLC in place of its saturation mode, a queue without a limit, and a
status each 100 ms.

Where the standard leaves ns-3 a choice, a key has airtcp make the same: its blocks have one symbol
of control, its grants need no scheduling request to be waited for, and RLC polls with each PDU.
"""

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from airtcp import _core

from .conftest import ROOT

RUNS = Path(__file__).parent / "ns3-lte.jsonl"
PROGRAM = ROOT / "benches" / "ns3" / "lte_cell.cc"
MHZ = {6: 1.4, 100: 20}
RLC = {
    "um": 'mode = "um"',
    "am": """mode = "am"
poll_pdu = 1
poll_byte = "50 B"
poll_retransmit = "20 ms"
status_prohibit = "100 ms"
reordering = "10 ms\"""",
}
# The signal is 140 dB above the noise: every block arrives.
SCENARIO = """
duration = "{duration_s} s"
topology = "cell"
[cell]
standard = "lte"
bandwidth_mhz = {mhz}
control_symbols = 1
scheduler = "proportional-fair"
time_constant = 99
[cell.harq]
nack_to_ack = 0
[cell.rlc]
{rlc}
[cell.uplink]
request_period = "1 ms"
request_grant = "1 kB"
queue.packets = 10000
[cell.radio]
path_loss_exponent = 2
transmit_power_dbm = 60
noise_dbm = -100
distance_m = 10
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
TRANSFER = """count = {users}
direction = "{direction}"
start_spread = "50 ms\""""
PING = """kind = "ping"
ping = { interval = "20.1 ms", size = "56 B" }"""


def lines(traffic: str | None = None) -> list[dict[str, Any]]:
    """Output of ns-3."""
    read = [json.loads(line) for line in RUNS.read_text().splitlines()]
    return [line for line in read if traffic in {None, line["traffic"]}]


def points(traffic: str) -> list[object]:
    """A case for each run."""
    keys = ("direction", "mode", "blocks", "users")
    return [
        pytest.param(line, id="-".join(str(line[key]) for key in keys)) for line in lines(traffic)
    ]


def flows(line: dict[str, Any], duration_s: float) -> list[dict[str, Any]]:
    """The flows of a run here in the settings of ns-3's."""
    kinds = PING if line["traffic"] == "ping" else TRANSFER.format_map(line)
    filled = line | {
        "duration_s": duration_s,
        "mhz": MHZ[line["blocks"]],
        "rlc": RLC[line["mode"]],
        "flows": kinds,
    }
    result = _core.run_many([(_core.Scenario.parse(SCENARIO.format_map(filled)), 1)], 1)[0]
    assert isinstance(result, _core.RunResult), result
    found: list[dict[str, Any]] = json.loads(result.summary())["flows"]
    return found


def test_the_runs_are_of_this_program() -> None:
    digest = hashlib.sha256(PROGRAM.read_bytes()).hexdigest()[:16]
    programs = Counter(line["program"] for line in lines())
    assert set(programs) == {digest}, f"run benches/ns3/lte_cell.py again: {programs}"


@pytest.mark.parametrize("line", points("tcp"))
def test_tcp(line: dict[str, Any]) -> None:
    """Goodput of all users, and that of the user with the least, after slow start."""
    begin_s, length_s = line["warm_up_s"], line["simulated_s"]
    before, after = (flows(line, end_s) for end_s in (begin_s, begin_s + length_s))
    each = [
        8 * (late["delivered_bytes"] - early["delivered_bytes"]) / length_s
        for early, late in zip(before, after, strict=True)
    ]
    print(f"airtcp {sum(each) / 1e6:.3f} Mbit/s, ns-3 {line['goodput_bps'] / 1e6:.3f}")
    # In ns-3 a status PDU takes the whole transmission of its user: of five users a twentieth.
    is_halted = (line["mode"], line["users"], line["blocks"]) == ("am", 5, 100)
    tolerance = 0.06 if is_halted else 0.05
    assert sum(each) == pytest.approx(line["goodput_bps"], rel=tolerance)
    assert min(each) == pytest.approx(line["least_bps"], rel=0.10)


@pytest.mark.parametrize("line", points("ping"))
def test_pings(line: dict[str, Any]) -> None:
    """ns-3's uplink waits for no scheduling request: a fixed round trip, 3 ms less than here."""
    (flow,) = flows(line, line["simulated_s"])
    print(f"airtcp {flow['rtt_p50_ms']:.2f} ms, ns-3 {line['rtt_p50_ms']:.2f}")
    assert flow["rtt_p50_ms"] == pytest.approx(line["rtt_p50_ms"], abs=4)
