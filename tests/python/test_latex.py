"""Figures as source for LaTeX: the marks of the SVG, texts escaped, and pages that TeX makes."""

import math
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import airtcp
from airtcp.pages.plot.latex import latex_of, latex_of_plot
from airtcp.pages.plot.latex_of_figure import latex_of_figure
from airtcp.pages.plot.latex_text import escaped
from airtcp.pages.plot.marks import Area, Dots, Line, Panel, Plot, Scale, Shape, Words
from airtcp.pages.plot.plotted import Plotted
from airtcp.pages.plot.style import BLUE, GREEN, VERMILLION
from airtcp.pages.plot.svg import Drawing, svg_of_drawing
from airtcp.pages.plot.vector import svg_of_plot
from airtcp.pages.plot.with_matplotlib import figure_of
from every_drawing import HOSTILE, drawings, kinds

SVG = "{http://www.w3.org/2000/svg}"
PAIR = re.compile(r"\((-?[\d.]+),(-?[\d.]+)\)")
LABEL = re.compile(r"\\node\[.*?\] at (\(.*?\)) \{(.*)\};")


@pytest.fixture(scope="module")
def every() -> Mapping[str, Drawing]:
    return drawings()


def plot_of(*marks: object, x: Scale, y: Scale) -> Plot:
    return Plot(6.0, 4.0, (Panel(1.0, 0.5, 4.5, 2.75, x, y, marks),))  # type: ignore[arg-type]


def stroked(source: str, colour: str) -> list[np.ndarray]:
    """The places of each line of a colour."""
    paths = re.findall(rf"\\path\[draw=airtcp-{colour},[^]]*\](.*?);", source, re.DOTALL)
    return [np.array(PAIR.findall(one), dtype=float) for one in paths]


@pytest.mark.parametrize(
    "y", [Scale(0.0, 8.0), Scale(8.0, 0.0), Scale(0.5, 80.0, is_log=True)], ids=str
)
def test_marks_are_where_the_svg_and_matplotlib_have_them(y: Scale) -> None:
    across, along = np.array([-1.5, 0.0, 2.5]), np.array([1.0, 7.0, 3.0])
    dots = Dots(across, along, VERMILLION, 4.0)
    plot = plot_of(
        Line(across, along, BLUE), dots, Words("here", 0.0, 7.0), x=Scale(-2.0, 3.0), y=y
    )
    root = ET.fromstring(svg_of_plot(plot, "line"))
    circles = [(one.get("cx"), one.get("cy")) for one in root.iter(f"{SVG}circle")]
    expected = np.array(circles, dtype=float)
    # The SVG's origin is on top; the source is half as wide.
    expected[:, 1] = 72.0 * plot.height - expected[:, 1]
    source = latex_of_plot(plot, 3.0)
    assert rf"rectangle ({36 * plot.width:g},{36 * plot.height:g});" in source
    (line,) = stroked(source, "blue")
    assert line == pytest.approx(expected / 2, abs=0.011)
    (places,) = re.findall(r"\\foreach \\x/\\y in \{(.*?)\}", source.replace("\n", ""))
    found = np.array([one.split("/") for one in places.split(",")], dtype=float)
    assert found == pytest.approx(expected / 2, abs=0.011)
    (here,) = [place for place, text in LABEL.findall(source) if text == "here"]
    texts = {one.text: one for one in root.iter(f"{SVG}text")}
    at = float(texts["here"].get("x", "")), 288 - float(texts["here"].get("y", ""))
    assert np.array(PAIR.findall(here), dtype=float)[0] == pytest.approx(np.array(at) / 2, abs=0.01)
    # Through matplotlib the same places come out.
    (other,) = stroked(latex_of_figure(figure_of(plot), 3.0), "blue")
    assert other == pytest.approx(line, abs=0.011)


def test_both_forms_have_the_same_texts(every: Mapping[str, Drawing]) -> None:
    compared = 0
    for name, drawing in every.items():
        if not isinstance(drawing, Plotted):
            continue
        root = ET.fromstring(svg_of_drawing(drawing, "both"))
        drawn = {escaped(one.text) for one in root.iter(f"{SVG}text") if one.text}
        # A width at which the variant is that of a page.
        source = latex_of(drawing, drawing.plot().width)
        assert {text for _, text in LABEL.findall(source)} == drawn, name
        compared += 1
    assert compared == 5


def test_every_line_of_a_figure_is_in_its_source() -> None:
    """Of matplotlib: bars with hatches, markers, clipped curves, and texts in several lines."""
    figure = Figure(figsize=(4.0, 3.0))
    axes = figure.add_axes((0.2, 0.2, 0.7, 0.7))
    axes.plot([0, 1, 2], [0, 1, 4], "o", color=GREEN)
    axes.bar([0.5], [3.0], width=0.2, color="#ffffff", edgecolor=VERMILLION, hatch="//")
    axes.text(1.0, 2.0, "two\nlines", ha="right")
    axes.set_ylabel("of $x^2$, 5 % & more")
    axes.set_xlim(0, 2)
    source = latex_of_figure(figure, 4.0)
    assert r"{of $x^2$, 5 \% \& more}" in source
    (turned,) = [line for line in source.splitlines() if "x^2" in line]
    assert "rotate=90" in turned
    assert "anchor=base, " in turned
    for text in ("two", "lines"):
        (row,) = [line for line in source.splitlines() if f"{{{text}}}" in line]
        assert "anchor=base east" in row
    (places,) = re.findall(r"\\foreach \\x/\\y in \{(.*?)\}", source.replace("\n", ""))
    assert len(places.split(",")) == 3
    assert source.count("circle[radius=") == 1
    hatched = max(stroked(source, "vermillion"), key=len)
    left, right = 72 * (0.8 + 2.8 * 0.2), 72 * (0.8 + 2.8 * 0.3)
    assert len(hatched) > 10
    # matplotlib cuts a line a point outside; the rest is clipped.
    assert hatched[:, 0].min() == pytest.approx(left, abs=1.1)
    assert hatched[:, 0].max() == pytest.approx(right, abs=1.1)


def test_a_dense_line_is_thinned_and_keeps_its_extremes() -> None:
    random = np.random.default_rng(1)
    across, along = np.linspace(0.0, 1.0, 100_000), random.normal(size=100_000)
    along[50_000] = 9.0
    plot = plot_of(Line(across, along, BLUE), x=Scale(0.0, 1.0), y=Scale(-10.0, 10.0))
    source = latex_of_plot(plot, 3.5)
    assert len(source) < 50_000
    (line,) = stroked(source, "blue")
    assert line[:, 1].max() == pytest.approx(72 * (0.75 + 2.75 * 0.95) * 3.5 / 6, abs=0.02)


def test_a_staircase_has_only_its_turns_and_equal_dots_are_one() -> None:
    steps = Line((0.0, 1.0, 2.0, 2.0, 2.0, math.nan, 3.0), (1.0,) * 3 + (2.0, 3.0, 0.0, 0.0), BLUE)
    dots = Dots((1.0,) * 50, (1.0,) * 50, GREEN, 4.0, Shape.DIAMOND, opacity=0.5)
    scale = Scale(0.0, 4.0)
    source = latex_of_plot(plot_of(steps, dots, x=scale, y=scale), 6.0)
    (line,) = stroked(source, "blue")
    assert len(line) == 4
    assert source.count("fill=airtcp-green, fill opacity=0.5") == 1


def test_no_length_is_too_large_for_tex() -> None:
    line = Line((1.0, 2.0, 3.0), (1.0, 0.0, 1e9), BLUE)
    area = Area((1.0, 2.0, 3.0), (0.0, 1e12, 0.0), GREEN, 0.5)
    for y in (Scale(0.5, 2.0, is_log=True), Scale(0.5, 2.0)):
        source = latex_of_plot(plot_of(line, area, x=Scale(0.0, 4.0), y=y), 6.0)
        lengths = np.array(PAIR.findall(source), dtype=float)
        assert np.abs(lengths).max() <= 5000


def test_texts_and_unknown_colours_are_latex() -> None:
    assert escaped(HOSTILE) == (
        r"50 \% of a\_b \& \#1 \{x\} \textasciitilde{}\textasciicircum{}\textbackslash{} "
        r"\textless{}\$\textgreater{}\textbar{}"
    )
    plot = plot_of(Line((0, 1), (0, 1), "#123abc"), x=Scale(0.0, 1.0), y=Scale(0.0, 1.0))
    source = latex_of_plot(plot, 3.5)
    assert r"\providecolor{airtcp-123abc}{HTML}{123ABC}" in source
    assert "draw=airtcp-123abc" in source


def test_a_run_and_a_comparison_take_no_matplotlib() -> None:
    program = (
        "import sys, airtcp\n"
        "run = airtcp.run('lossy-pipe', settings={'duration': '2 s'}, "
        "probes=airtcp.TIMELINE_PROBES)\n"
        "found = airtcp.compare('lossy-pipe', ['sack'], 2, {'duration': '2 s'})\n"
        "assert 'cwnd' in airtcp.latex(run)\n"
        "assert 'sack' in airtcp.latex(found, '85mm')\n"
        "print('matplotlib' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


def test_others_than_figures_are_refused() -> None:
    figure = Figure()
    figure.add_subplot().imshow([[0, 1]])
    with pytest.raises(ValueError, match="has an image"):
        airtcp.latex(figure)
    with pytest.raises(ValueError, match="expected column or page"):
        airtcp.latex(Figure(), "wide")
    with pytest.raises(TypeError, match="str: expected a run, a comparison, or a figure"):
        airtcp.latex("a")  # type: ignore[arg-type]


@pytest.mark.parametrize(("words", "width"), [((), 252), (("--figure-width", "page"), 515.52)])
def test_a_run_is_drawn_as_latex(tmp_path: Path, words: tuple[str, ...], width: float) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "airtcp", "run", "wlan-clients", "--set", "duration=2 s", "--plot",
         "a.tex", "--picture", "channel=b.tex", *words],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for name in ("a", "b"):
        source = (tmp_path / f"{name}.tex").read_text("utf-8")
        box = re.search(r"use as bounding box\] \(0,0\) rectangle \(([\d.]+),", source)
        assert box is not None
        assert float(box[1]) == pytest.approx(width, abs=0.01)


def test_every_kind_of_drawing_is_tried(every: Mapping[str, Drawing]) -> None:
    assert kinds() <= set(every)


@pytest.mark.long
@pytest.mark.needs("tikz")
def test_tex_makes_a_page_of_every_kind(every: Mapping[str, Drawing], tmp_path: Path) -> None:
    lines = [r"\documentclass{article}", r"\usepackage{tikz}", r"\begin{document}"]
    for name, drawing in every.items():
        (tmp_path / f"{name}.tex").write_text(latex_of(drawing, 3.5), "utf-8")
        lines.append(rf"\setbox0\hbox{{\input{{{name}}}}}\typeout{{WIDE {name} \the\wd0}}")
        lines.append(r"\shipout\box0")
    (tmp_path / "every.tex").write_text("\n".join([*lines, r"\end{document}"]), "utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "every.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    log = (tmp_path / "every.log").read_text("utf-8", errors="replace")
    assert done.returncode == 0, log[-3000:]
    assert "Missing character" not in log
    widths = dict(re.findall(r"WIDE (\S+) ([\d.]+)pt", log))
    # In TeX's points.
    assert {name: float(width) for name, width in widths.items()} == pytest.approx(
        dict.fromkeys(every, 3.5 * 72.27), abs=0.02
    )
