"""docs/measurements/rivals.md shows the runs that rivals.json holds; ABC over links."""

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

import airtcp
from airtcp import ScenarioError

ROOT = Path(__file__).resolve().parents[2]
WRITER = runpy.run_path(str(ROOT / "pages" / "write_rivals.py"))
DATA: dict[str, Any] = json.loads(WRITER["DATA"].read_text("utf-8"))


def test_the_page_is_of_the_data() -> None:
    page = WRITER["PAGE"].read_text("utf-8")
    assert WRITER["written"](page, DATA) == page, "python pages/write_rivals.py writes it"


def test_every_recording_has_every_sender() -> None:
    assert {(row["recording"], row["way"], row["sender"]) for row in DATA["rows"]} == {
        (name, way, sender.name)
        for name in WRITER["RECORDINGS"]
        for way in ("down", "up")
        for sender in WRITER["SENDERS"]
    }


def two_rates(directory: Path) -> Path:
    """A link of 24 and 6 Mbit/s in turn, each for half a second."""
    times = [ms for ms in range(1, 1001) for _ in range(2 if ms <= 500 else ms % 2)]
    file = directory / "two-rates.down"
    file.write_text("".join(f"{ms}\n" for ms in [*times, 1000]), "ascii")
    return file


def outcome(file: Path, *remedies: str) -> tuple[float, float]:
    """Utilization, and 95 % of the packets' delay in ms."""
    settings = {
        "link.trace": f'{{ down = "{file}", data = "down" }}',
        "link.delay": "25 ms",
        "link.queue.packets": 250,
        "duration": "30 s",
    }
    flow = airtcp.run("cellular", settings=settings, remedies=remedies).summary["flows"][0]
    return flow["goodput_bps"] * 1500 / 1448 / 15e6, flow["delay_p95_ms"]


def test_abc_follows_a_rate_that_changes(tmp_path: Path) -> None:
    """More throughput than CUBIC behind CoDel, less delay than CUBIC (NSDI 2020, abstract)."""
    file = two_rates(tmp_path)
    abc, codel, cubic = (outcome(file, *some) for some in (["abc"], ["codel"], []))
    assert abc[0] > 1.05 * codel[0]
    assert abc[1] < 0.7 * cubic[1]


def test_its_parameters_trade_utilization_for_delay(tmp_path: Path) -> None:
    file = two_rates(tmp_path)
    usual, short, low = (outcome(file, one) for one in ("abc", "abc:dt=5 ms", "abc:eta=0.7"))
    assert short[1] < usual[1]
    assert low[0] < usual[0] - 0.1
    with pytest.raises(ScenarioError, match="brings one"):
        airtcp.load_scenario("cellular", remedies=["abc", "codel"])


def test_without_its_router_it_is_cubic_and_shares_with_itself() -> None:
    """Two flows share the router's link (NSDI 2020, §3); without it CUBIC's window holds."""
    shared = airtcp.run(
        "lossy-pipe",
        settings={"link.loss.rate": 0, "flows.count": 2, "duration": "60 s"},
        remedies=["abc"],
    ).summary
    assert shared["fairness"] > 0.9
    without = {"link.loss.rate": 0, "tcp.congestion_control": "abc", "duration": "20 s"}
    flow = airtcp.run("lossy-pipe", settings=without).summary["flows"][0]
    assert flow["segments_lost_link"] == 0
    assert flow["segments_retransmitted"] > 0
    assert flow["goodput_bps"] > 9e6


@pytest.mark.parametrize("rate", [0.02, 0.05])
def test_repair_packets_spare_tcp_losses(rate: float) -> None:
    """What remains is near the closed form, in which blocks are never cut short."""
    settings = {"link.loss.rate": rate, "duration": "60 s"}
    plain, coded = (
        airtcp.run("lossy-pipe", settings=settings, remedies=some).summary["flows"][0]
        for some in ([], ["fec"])
    )
    assert coded["goodput_bps"] > 1.5 * plain["goodput_bps"]
    found = coded["segments_lost_link"] / coded["segments_sent"]
    assert found < 1.3 * WRITER["residual"](rate)
