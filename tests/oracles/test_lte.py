"""Against ns-3.37 over a cell of LTE: TCP of one and five users in both modes of RLC, and pings.

The runs are in ``ns3-lte.jsonl``; ``benches/ns3/lte_cell.py`` makes them, with ns-3 set as a
network is and not as it comes: RLC in place of its saturation mode, a queue without a limit, and a
status each 100 ms. Here every block arrives; ``test_lte_walking.py`` has a fading channel.
"""

import hashlib
import runpy
from collections import Counter
from typing import Any

import pytest

from .conftest import ROOT

CELL = runpy.run_path(str(ROOT / "pages" / "lte_cell.py"))


def points(traffic: str) -> list[object]:
    """A case for each run with a strong signal."""
    keys = ("direction", "mode", "blocks", "users")
    return [
        pytest.param(line, id="-".join(str(line[key]) for key in keys))
        for line in CELL["lines"](traffic=traffic, snr=0)
    ]


def test_the_runs_are_of_this_program() -> None:
    program = CELL["PROGRAM"]
    parts = [program, *sorted(program.parent.glob(f"{program.stem}_*.h"))]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in parts)).hexdigest()[:16]
    programs = Counter(line["program"] for line in CELL["lines"]())
    assert set(programs) == {digest}, f"run benches/ns3/lte_cell.py again: {programs}"


@pytest.mark.parametrize("line", points("tcp"))
def test_tcp(line: dict[str, Any]) -> None:
    """Goodput of all users, and that of the user with the least, after slow start."""
    each = CELL["rates_bps"](line)
    print(f"airtcp {sum(each) / 1e6:.3f} Mbit/s, ns-3 {line['goodput_bps'] / 1e6:.3f}")
    # In ns-3 a status PDU takes the whole transmission of its user: of five users a twentieth.
    is_halted = (line["mode"], line["users"], line["blocks"]) == ("am", 5, 100)
    tolerance = 0.06 if is_halted else 0.05
    assert sum(each) == pytest.approx(line["goodput_bps"], rel=tolerance)
    assert min(each) == pytest.approx(line["least_bps"], rel=0.10)


@pytest.mark.parametrize("line", points("ping"))
def test_pings(line: dict[str, Any]) -> None:
    """ns-3's uplink waits for no scheduling request: a fixed round trip, 3 ms less than here."""
    (flow,) = CELL["flows"](line, line["simulated_s"])
    print(f"airtcp {flow['rtt_p50_ms']:.2f} ms, ns-3 {line['rtt_ms']['50']:.2f}")
    assert flow["rtt_p50_ms"] == pytest.approx(line["rtt_ms"]["50"], abs=4)
