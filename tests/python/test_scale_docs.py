"""The tables on scale in docs/measurements/performance.md agree with their figures."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benches"))

import many_stations
import report_time
import scale_page
import study_memory

from airtcp.pages.marked import put


@pytest.mark.parametrize(
    "program", [study_memory, report_time, many_stations], ids=lambda one: one.MARK
)
def test_the_table_is_of_the_figures(program) -> None:
    page = scale_page.PAGE.read_text("utf-8")
    table = program.table(scale_page.figures(program.MARK))
    assert put(page, program.MARK, table) == page, f"benches/{program.__name__}.py --write"
