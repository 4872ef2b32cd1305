"""Figures for print: their width, readable text, embedded fonts, and tables as LaTeX."""

import re
import subprocess
import sys
import zlib
from collections.abc import Mapping
from pathlib import Path

import pytest

import airtcp
from airtcp.pages.latex import tabular
from airtcp.pages.plot.bars import Bars
from airtcp.pages.plot.latex_text import escaped
from airtcp.pages.plot.pictures import PICTURES
from airtcp.pages.plot.print_width import inches
from airtcp.pages.plot.printed import SMALLEST_POINTS, fitted_to, for_width, smallest_points
from airtcp.pages.plot.svg import Drawing
from airtcp.pages.tables import Table
from every_drawing import drawings

SHORT = ("--set", "duration=3 s")
BOX = re.compile(rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+) ?\]")


@pytest.fixture(scope="module")
def every() -> Mapping[str, Drawing]:
    return drawings()


def airtcp_in(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "airtcp", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("text", "width"),
    [("column", 3.5), ("page", 7.16), ("85mm", 85 / 25.4), ("8.5 cm", 8.5 / 2.54), ("4in", 4.0)],
)
def test_a_width_has_a_name_or_a_unit(text: str, width: float) -> None:
    assert inches(text) == pytest.approx(width)


@pytest.mark.parametrize("text", ["", "wide", "85", "1.2.3in", "1in", "90in", "-4in", "4 px"])
def test_what_is_no_width_is_refused(text: str, tmp_path: Path) -> None:
    done = airtcp_in(tmp_path, "run", "ping", "--plot", "a.pdf", "--figure-width", text)
    assert done.returncode == 2
    assert "expected column or page, or a length such as 85mm" in done.stderr
    assert not (tmp_path / "a.pdf").exists()


def test_a_width_needs_a_figure(tmp_path: Path) -> None:
    done = airtcp_in(tmp_path, "run", "ping", "--figure-width", "column")
    assert done.returncode == 2
    assert "name a figure, such as --plot flow.pdf" in done.stderr


def test_a_run_is_drawn_for_a_column(tmp_path: Path) -> None:
    words = ["--plot", "a.pdf", "--figure-width", "column"]
    for form in ("svg", "png"):
        words += ["--picture", f"timeline=a.{form}"]
    done = airtcp_in(tmp_path, "run", "lossy-pipe", *SHORT, *words)
    assert done.returncode == 0, done.stderr
    pdf = (tmp_path / "a.pdf").read_bytes()
    box = BOX.search(pdf)
    assert box is not None
    assert float(box[1]) == pytest.approx(252.0)
    # The content is scaled as a whole, and its fonts are TrueType.
    streams = re.findall(rb"stream\n(.*?)endstream", pdf, re.DOTALL)
    page = zlib.decompress(streams[0])
    scale = re.search(rb"([\d.]+) 0 0 ([\d.]+) 0 0 cm", page)
    assert scale is not None
    assert scale[1] == scale[2]
    assert 0.5 < float(scale[1]) < 1.0
    assert b"/CIDFontType2" in pdf
    assert b"/Type3" not in pdf
    svg = (tmp_path / "a.svg").read_text("utf-8")
    assert re.search(r'<svg[^>]* width="252\.000pt"', svg)
    width = int.from_bytes((tmp_path / "a.png").read_bytes()[16:20], "big")
    assert width == pytest.approx(3.5 * 300, abs=1)


@pytest.mark.parametrize("kind", PICTURES)
def test_text_is_readable_in_a_column(kind: str) -> None:
    links = {"channel": "wlan-clients", "injection": "wlan-upload", "fading": "wlan-clients"}
    remedies = {"injection": ["delay-injection"], "retries": ["dynamic-arq"]}
    run = airtcp.run(
        {"retries": "arq-download"}.get(kind, links.get(kind, "lossy-pipe")),
        settings={"duration": "2 s"},
        remedies=remedies.get(kind, []),
        probes=PICTURES[kind].probes,
        events=True,
        air=PICTURES[kind].air,
    )
    figure = fitted_to(run.picture(kind), 3.5)
    if kind == "timeline":
        return  # has a variant for narrow pages, which the command takes
    smallest = smallest_points(figure) * 3.5 / figure.get_figwidth()
    assert smallest >= SMALLEST_POINTS - 1e-6
    figure.draw_without_rendering()
    for legend in (*figure.legends, *(axes.get_legend() for axes in figure.axes)):
        if legend is not None:
            box = legend.get_window_extent()
            assert 0 <= box.x0 < box.x1 <= figure.bbox.width


@pytest.mark.parametrize("name", ["Bars", "Gains", "Distances", "Chart", "Windows", "SweepLines"])
def test_margins_stay_when_a_figure_is_made_narrower(
    name: str, every: Mapping[str, Drawing]
) -> None:
    drawing = every[name]
    wide, column = drawing.figure(), for_width(drawing, 3.5)
    assert smallest_points(column) * 3.5 / column.get_figwidth() >= SMALLEST_POINTS - 1e-6
    for side in ("left", "right"):
        before, after = (
            abs(getattr(one.subplotpars, side) - (side == "right")) * one.get_figwidth()
            for one in (wide, column)
        )
        assert after == pytest.approx(before)
    assert column.get_figheight() == wide.get_figheight()


def test_tiles_keep_their_width(every: Mapping[str, Drawing]) -> None:
    """Their texts need it; only a margin without room for its axes stops others."""
    for name in ("Matrix", "VerdictTiles", "Scores"):
        wide = every[name].figure().get_figwidth()
        assert for_width(every[name], 3.5).get_figwidth() == wide
    names = Bars(("w" * 60,), (40.0,), "share (%)")
    figure = for_width(names, 3.5)
    assert figure.get_figwidth() * (figure.subplotpars.right - figure.subplotpars.left) > 1.79


def test_a_report_has_pdfs_and_tables_for_a_paper(tmp_path: Path) -> None:
    words = ("compare", "lossy-pipe", "--remedy", "sack", "--seeds", "2", *SHORT)
    done = airtcp_in(tmp_path, *words, "--out", "out", "--figure-width", "85mm")
    assert done.returncode == 0, done.stderr
    figures = sorted(path.stem for path in (tmp_path / "out").glob("*.svg"))
    assert figures
    for name in figures:
        box = BOX.search((tmp_path / "out" / f"{name}.pdf").read_bytes())
        assert box is not None
        assert float(box[1]) == pytest.approx(85 / 25.4 * 72, abs=0.01)
        table = (tmp_path / "out" / f"{name}.tex").read_text("utf-8")
        assert table.startswith("\\begin{tabular}{l")
        picture = (tmp_path / "out" / f"{name}-figure.tex").read_text("utf-8")
        assert r"rectangle (240.94," in picture


def test_a_table_is_escaped_for_latex() -> None:
    assert escaped("10 % of a_b & #1 ± 2") == r"10 \% of a\_b \& \#1 $\pm$ 2"
    table = Table(("remedy", "gain"), [("a_b", "−5 %")])  # noqa: RUF001, as in our tables
    assert tabular(table) == (
        "\\begin{tabular}{lr}\nremedy & gain \\\\\n\\hline\na\\_b & $-$5 \\% \\\\\n\\end{tabular}\n"
    )
