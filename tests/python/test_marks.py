"""Figures of marks: as SVG where matplotlib puts them, with its text widths, and round ticks."""

import math
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from airtcp.pages.plot.comparison import DifferenceRow, DifferenceRows
from airtcp.pages.plot.marks import Dots, Grid, Line, Panel, Plot, Scale, Words
from airtcp.pages.plot.style import BLUE, VERMILLION
from airtcp.pages.plot.ticks import ends, linear, logarithmic
from airtcp.pages.plot.vector import svg_of_plot
from airtcp.pages.plot.widths import text_inches
from airtcp.pages.plot.with_matplotlib import figure_of

SVG = "{http://www.w3.org/2000/svg}"


def plot_of(*marks: object, x: Scale, y: Scale) -> Plot:
    return Plot(6.0, 4.0, (Panel(1.0, 0.5, 4.5, 2.75, x, y, marks),))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    ["baseline", "goodput minus the baseline's (Mbit/s)", "\u22120.25", "rto-factor:factor=4"],
)
def test_widths_are_the_fonts(text: str) -> None:
    font = FontProperties(family="DejaVu Sans", size=9)
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    assert text_inches(text) * 72 == pytest.approx(width, rel=0.04, abs=1.0)
    assert text_inches(f"a\n{text}") == text_inches(text)


@pytest.mark.parametrize(
    "y", [Scale(0.0, 8.0), Scale(8.0, 0.0), Scale(0.5, 80.0, is_log=True)], ids=str
)
def test_a_line_is_where_matplotlib_has_it(y: Scale) -> None:
    x = Scale(-2.0, 3.0)
    across, along = np.array([-1.5, 0.0, 2.5]), np.array([1.0, 7.0, 3.0])
    plot = plot_of(Line(across, along, BLUE), Dots(across, along, VERMILLION, 4.0), x=x, y=y)
    root = ET.fromstring(svg_of_plot(plot, "line"))
    paths = [one.get("d", "") for one in root.iter(f"{SVG}path")]
    (path,) = [one for one in paths if one.count("L") == 2]
    found = np.array(re.findall(r"[ML]([\d.]+) ([\d.]+)", path), dtype=float)
    figure = figure_of(plot)
    figure.set_dpi(72)
    expected = figure.axes[0].transData.transform(np.column_stack((across, along)))
    expected[:, 1] = 72 * plot.height - expected[:, 1]
    assert found == pytest.approx(expected, abs=0.02)
    circles = [(one.get("cx"), one.get("cy")) for one in root.iter(f"{SVG}circle")]
    assert np.array(circles, dtype=float) == pytest.approx(expected, abs=0.02)


def test_a_dense_line_keeps_its_extremes() -> None:
    random = np.random.default_rng(1)
    across, along = np.linspace(0.0, 1.0, 100_000), random.normal(size=100_000)
    along[50_000] = 9.0
    line = Line(across, along, BLUE)
    svg = svg_of_plot(plot_of(line, x=Scale(0.0, 1.0), y=Scale(-10.0, 10.0)), "dense")
    points = re.findall(r"[ML]([\d.]+) ([\d.]+)", svg)
    assert len(points) < 10_000
    top = min(float(along) for _, along in points if float(along) > 0.5 * 72)
    assert top == pytest.approx(72 * (0.5 + 2.75 * 0.05), abs=0.02)


def test_a_gap_begins_the_line_anew() -> None:
    line = Line((0.0, 1.0, math.nan, 2.0, 3.0), (0.0, 1.0, 2.0, 1.0, 0.0), BLUE)
    svg = svg_of_plot(plot_of(line, x=Scale(0.0, 3.0), y=Scale(0.0, 1.0)), "gap")
    assert re.search(r'd="M\S+ [\d.]+L\S+ [\d.]+M\S+ [\d.]+L\S+ [\d.]+"', svg)
    assert "nan" not in svg


def test_texts_are_escaped() -> None:
    words = Words("a < b & c", 0.5, 0.5)
    svg = svg_of_plot(plot_of(words, x=Scale(0.0, 1.0, label="<x>"), y=Scale(0.0, 1.0)), "text")
    texts = {one.text for one in ET.fromstring(svg).iter(f"{SVG}text")}
    assert texts == {"a < b & c", "<x>"}


@given(
    st.floats(-1e9, 1e9),
    st.floats(1e-6, 1e9),
    st.floats(0.5, 9.0),
    st.sampled_from(["x", "y"]),
)
def test_ticks_are_round_and_within(low: float, apart: float, inches: float, axis: str) -> None:
    high = low + apart
    if high - low < 1e-9 * max(abs(low), abs(high)):
        return
    ticks = linear(low, high, inches, axis).ticks
    assert 1 <= len(ticks) <= 11
    assert len({text for _, text in ticks}) == len(ticks)
    for place, text in ticks:
        assert low - 1e-6 * apart <= place <= high + 1e-6 * apart
        assert float(text.replace("\u2212", "-")) == pytest.approx(place, rel=1e-9, abs=1e-9)


def test_logarithmic_ticks_are_plain() -> None:
    ticks = logarithmic(9.0, 2100.0, "ms").ticks
    assert [text for _, text in ticks] == ["10", "20", "50", "100", "200", "500", "1000", "2000"]


def test_ends_of_one_value_are_apart() -> None:
    assert ends([5.0]) == (4.75, 5.25)
    assert ends([math.nan, 0.0]) == (-0.05, 0.05)
    assert ends([1.0, 3.0], 0.5) == (0.0, 4.0)


def test_rows_and_columns_fill_the_figure() -> None:
    grid = Grid(9.0, 6.0, 1.0, 0.5, 0.5, 1.0, 2, 0.5, 0.5, heights=(1.0, 3.0))
    assert grid.rectangle(0, 0) == (1.0, 0.5, 3.5, 1.0)
    left, top, width, height = grid.rectangle(1, 1)
    assert (left + width, top + height) == pytest.approx((8.5, 5.0))


def test_a_reports_figures_do_not_load_matplotlib() -> None:
    program = (
        "import sys; from airtcp.pages import comparison; from airtcp.pages.plot.svg import *\n"
        "from airtcp.pages.plot.comparison import *\n"
        "rows = DifferenceRows(1e6, (DifferenceRow('sack', (1e3, 2e3), 2e3, 1e3, '+0.2 %'),))\n"
        "svg_of_drawing(rows, 'rows'); print('matplotlib' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


def test_both_forms_have_the_same_texts() -> None:
    rows = tuple(
        DifferenceRow(name, (1e6, -2e6), -5e5, half, "−1 %\nhurts")  # noqa: RUF001
        for name, half in (("sack", 3e6), ("bbr", None))
    )
    drawing = DifferenceRows(4e6, rows)
    for plot, figure in (
        (drawing.plot(), drawing.figure()),
        (drawing.narrow_plot(), drawing.narrow()),
    ):
        root = ET.fromstring(svg_of_plot(plot, "both"))
        written = {one.text for one in root.iter(f"{SVG}text")}
        has_text = figure.findobj(lambda part: hasattr(part, "get_text"))
        drawn = {line for one in has_text for line in one.get_text().split("\n") if line}
        assert written == drawn
