"""Results in a notebook: sentences, a table and a figure, from the pages' side."""

import base64
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest

import airtcp
from airtcp.comparison.grid import GridResult
from airtcp.comparison.study import run as run_study
from airtcp.core.shown import InNotebook

ROOT = Path(__file__).resolve().parents[2]


def shown(result: InNotebook) -> str:
    """The fragment, whose figure is an SVG and whose table has rows."""
    html = result._repr_html_()
    encoded = re.search(r"data:image/svg\+xml;base64,([\w+/=]+)", html)
    assert encoded
    assert b"<svg" in base64.b64decode(encoded[1])
    assert html.count("<tr>") > 1
    return html


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("capture") / "slow.pcap"
    settings = {"link.loss.rate": 0.01, "duration": "12 s"}
    airtcp.run("lossy-pipe", settings=settings, pcap=path)
    return path


def test_a_capture_shows_its_answer(capture: Path) -> None:
    diagnosis = airtcp.diagnose(capture)
    html = shown(diagnosis)
    assert diagnosis.headline.split(":")[0] in html


@pytest.mark.long
def test_a_ping_shows_its_answer() -> None:
    diagnosis = airtcp.diagnose(ROOT / "recordings" / "wifi-spikes.ping", rate_bps=20e6)
    html = shown(diagnosis)
    assert "round trip of each probe" in html


def test_a_ranking_is_a_table_and_a_figure(lossy: str) -> None:
    comparison = airtcp.compare(lossy, ["bbr", "tahoe"], seeds=3)
    html = shown(comparison.ranking)
    assert "Best: bbr." in html
    assert "tahoe" in html


def study(folder: Path, lossy_file: Path) -> GridResult:
    file = folder / "study.toml"
    link = f'[[link]]\nname = "a link"\nscenario = "{lossy_file}"\n'
    stacks = '[[stack]]\nname = "SACK"\nsettings = { "tcp.profile" = "sack" }\n'
    file.write_text(f'remedies = ["tahoe", "go-back-n"]\n{link}{stacks}', "utf-8")
    return run_study(file, seeds=2)


def test_a_study_is_a_table_and_a_figure(tmp_path: Path, lossy_file: Path) -> None:
    html = shown(study(tmp_path, lossy_file))
    assert "a link, SACK" in html
    assert "go-back-n" in html


class Bar:
    """IPython's bar, which keeps every state."""

    made: ClassVar[list["Bar"]] = []

    def __init__(self, total: int) -> None:
        self.total = total
        self.seen: list[int] = []
        self.made.append(self)

    def display(self) -> None:
        self.is_shown = True

    @property
    def progress(self) -> int:
        return self.seen[-1]

    @progress.setter
    def progress(self, finished: int) -> None:
        self.seen.append(finished)


@pytest.mark.parametrize("kernel", [None, object()], ids=["terminal", "notebook"])
def test_a_bar_shows_progress_in_a_notebook_only(
    kernel: object, lossy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell = SimpleNamespace(kernel=kernel)
    monkeypatch.setattr(Bar, "made", [])
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(ProgressBar=Bar))
    airtcp.compare(lossy, ["tahoe"], seeds=2)
    if kernel is None:
        assert Bar.made == []
    else:
        (bar,) = Bar.made
        assert bar.is_shown
        assert bar.seen[0] == 0
        assert bar.progress == bar.total == 4
