"""The tables on scale in docs/measurements/performance.md agree with their figures."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benches"))

import aggregating
import many_stations
import report_time
import scale_page
import study_memory

from airtcp.pages.marked import put


@pytest.mark.parametrize(
    "program", [study_memory, report_time, many_stations, aggregating], ids=lambda one: one.MARK
)
def test_the_table_is_of_the_figures(program) -> None:
    page = scale_page.PAGE.read_text("utf-8")
    table = program.table(scale_page.figures(program.MARK))
    assert put(page, program.MARK, table) == page, f"benches/{program.__name__}.py --write"


def test_the_pipe_alone_takes_more_than_one_station_of_802_11ax_may() -> None:
    """The page's reason for the missed target of aggregating Wi-Fi."""
    counted = json.loads((scale_page.PAGE.parent / "performance.json").read_text("utf-8"))
    pipe = counted["instructions_a_packet"]["lossy pipe, sack, 0% loss"]
    rows = [aggregating.Counted(**one) for one in scale_page.figures(aggregating.MARK)["counted"]]
    (alone,) = (one for one in rows if (one.standard, one.stations) == ("ax", 1))
    assert pipe > alone.ns3 / alone.aim


def test_bbr_without_losses_is_compared_with_sack_that_repairs() -> None:
    """The page's reason for the missed target of BBR."""
    page = scale_page.PAGE.read_text("utf-8")
    counted = json.loads((scale_page.PAGE.parent / "performance.json").read_text("utf-8"))
    runs = counted["instructions_a_packet"]
    bbr = runs["lossy pipe, linux-bbr, 0% loss"]
    ratio = bbr / runs["lossy pipe, sack, 1% loss"]
    assert f"{bbr:,.0f} instructions, {ratio:.2f} times SACK at 1 % loss" in page
