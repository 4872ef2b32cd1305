"""Sprout over links whose rate changes, and its tables in docs/measurements/rivals.md."""

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

import airtcp
from airtcp import ScenarioError

ROOT = Path(__file__).resolve().parents[2]
WRITER = runpy.run_path(str(ROOT / "pages" / "write_sprout.py"))


def data_of_the_page() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(WRITER["DATA"].read_text("utf-8"))
    return data


def test_the_page_is_of_the_data() -> None:
    page, data = WRITER["PAGE"].read_text("utf-8"), data_of_the_page()
    assert WRITER["written"](page, data) == page, "python pages/write_sprout.py writes it"


def test_every_link_has_every_sender() -> None:
    assert {(row["link"], row["sender"]) for row in data_of_the_page()["rows"]} == {
        (link.name, sender) for link in WRITER["LINKS"] for sender in WRITER["SENDERS"]
    }


def two_rates(directory: Path) -> Path:
    """A link of 6 Mbit/s and 600 kbit/s in turn, each for two seconds."""
    times = [ms for ms in range(1, 4001) if ms % (2 if ms <= 2000 else 20) == 0]
    file = directory / "two-rates.down"
    file.write_text("".join(f"{ms}\n" for ms in times), "ascii")
    return file


def outcome(file: Path, *remedies: str) -> tuple[float, float]:
    """Utilization, and 95 % of the packets' delay in ms."""
    settings = {
        "link.trace": f'{{ down = "{file}", data = "down" }}',
        "link.delay": "20 ms",
        "link.queue.packets": 1000,
        "duration": "60 s",
    }
    flow = airtcp.run("cellular", settings=settings, remedies=remedies).summary["flows"][0]
    return flow["goodput_bps"] * 1500 / 1448 / 3.3e6, flow["delay_p95_ms"] or 0.0


def test_it_follows_a_rate_that_changes(tmp_path: Path) -> None:
    """Less delay than CUBIC by far, and the average variant in between (NSDI 2013, §5)."""
    file = two_rates(tmp_path)
    sprout, ewma, cubic = (outcome(file, *some) for some in (["sprout"], ["sprout-ewma"], []))
    assert sprout[0] > 0.4
    assert sprout[0] < ewma[0]
    assert sprout[1] < ewma[1] < cubic[1] / 2


def test_risk_and_ticks_trade_throughput_for_delay(tmp_path: Path) -> None:
    file = two_rates(tmp_path)
    usual = outcome(file, "sprout")
    for bolder in ("sprout:risk=0.5", "sprout:ticks=7"):
        found = outcome(file, bolder)
        assert found[0] > usual[0], bolder
        assert found[1] > usual[1], bolder
    assert outcome(file, "sprout:ticks=2")[0] < usual[0]


def test_no_other_window_can_be_chosen_with_it() -> None:
    with pytest.raises(ScenarioError, match="how large the congestion window is"):
        airtcp.load_scenario("lossy-pipe", remedies=["sprout", "copa"])
