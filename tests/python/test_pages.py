"""Every page in a browser: on a phone and a desk, by day and by night.

Nothing is wider than the window, no text is smaller than 11 pixels, in drawings too, and every text
stands out from what is below it (WCAG 2.2, success criterion 1.4.3: 4.5 to 1). Skipped by name
where Playwright's package or Chromium is absent. With AIRTCP_SCREENSHOTS=FOLDER what is seen is
kept.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import airtcp
from airtcp import TIMELINE_PROBES, Comparison
from airtcp.comparison.grid import load_grid
from airtcp.comparison.grid_run import run_grid
from airtcp.diagnosis.trying import Effort
from airtcp.pages.demonstration import Story
from airtcp.pages.demonstration.kernel import Trial
from airtcp.pages.demonstration.page import write_story
from airtcp.pages.demonstration.story import Observed
from airtcp.pages.grid import write_study
from test_cli import airtcp_command
from test_lab_browser import CHROMIUM, finished, sync_api
from test_verify import _install

if TYPE_CHECKING:
    from airtcp.lab.server import Lab

MEASURE = (Path(__file__).parent / "pages.js").read_text(encoding="utf-8")
PAPERS = Path(__file__).resolve().parents[2] / "papers"
SITE = Path(__file__).resolve().parents[2] / "out" / "site"
LOSSY = {"duration": "2 s", "link.loss.rate": 0.02}
FEW = Effort(seeds=1)
"""One seed of each link that a capture leaves open."""
REMEDIES = ["bbr", "delayed-ack", "dupack-threshold:segments=5", "max-window:segments=4"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One headless Chromium for all pages."""
    with sync_api.sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield chromium
        chromium.close()


# Their runs are this module's first setup, and take minutes where others want the processor, too.
pytestmark = [pytest.mark.timeout(400), pytest.mark.needs("chromium")]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of each kind, of short runs."""
    folder = tmp_path_factory.mktemp("pages")
    compared = airtcp.compare("lossy-pipe", REMEDIES, 3, LOSSY, harm=True)
    searched = airtcp.compare("wifi-suspension", seeds=2, settings={"duration": "5 s"})
    studied = run_grid(load_grid(airtcp.core.shipped.find("then-and-now", "studies")), 1)
    with_scores = run_grid(load_grid(airtcp.core.shipped.find("classifiers", "studies")), 1)
    capture, log = folder / "run.pcapng", folder / "my.ping"
    losses = {"duration": "12 s", "link.rate": "2 Mbit/s", "link.loss.rate": 0.02}
    airtcp.run("lossy-pipe", settings=losses, pcap=capture)
    log.write_bytes((airtcp.core.shipped.folder("recordings") / "wifi-spikes.ping").read_bytes())
    options = ["--quick", "--cross", "--readings", "1", "--papers", _one_paper(folder / "source")]
    done = airtcp_command("papers", *options, "--out", folder / "papers")
    assert done.exit_code == 0, done.output
    return {
        "compare": compared.report(folder / "compare", "airtcp compare lossy-pipe"),
        "search": searched.report(folder / "search", "airtcp compare wifi-suspension"),
        "study": write_study(studied, folder / "study"),
        "study-scores": write_study(with_scores, folder / "scores"),
        "diagnose": airtcp.diagnose(capture, effort=FEW).report(folder / "diagnose"),
        "diagnose-ping": airtcp.diagnose(log, rate_bps=2e6).report(folder / "ping"),
        "papers": folder / "papers" / "index.html",
        "paper": folder / "papers" / "newzag.html",
        "cross": folder / "papers" / "cross.html",
        "story": write_story(_made(folder / "story"), _story(folder / "kernel", searched)),
        "story-of-a-log": write_story(_made(folder / "own"), _story_of_a_log(log)),
    }


def _one_paper(folder: Path) -> Path:
    """A folder of papers with only NewZag, and a comparison across of few remedies."""
    shutil.copytree(PAPERS / "newzag", folder / "newzag")
    cross = (PAPERS / "cross.toml").read_text(encoding="utf-8")
    begin, end = cross.index("[[link]]"), cross.index("[[stack]]")
    (link,) = (part for part in cross[begin:end].split("[[link]]") if "newzag/" in part)
    few = 'remedies = ["newzag", "sack", "bbr"]\npairs_of = ["newzag", "delayed-ack"]\n'
    text = f"seeds = 4\nquick = 2\n{few}[[link]]{link}{cross[end:]}"
    (folder / "cross.toml").write_text(text, encoding="utf-8")
    return folder


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _story(folder: Path, other: Comparison) -> Story:
    """The demonstration with every part that it can have, of short runs."""
    settings = {"duration": "4 s"}
    picture = airtcp.run("wlan-upload", settings=settings, probes=TIMELINE_PROBES, rtts=True)
    link = airtcp.compare("wlan-upload", seeds=3, settings=settings, can="my-machine", harm=True)
    with pytest.MonkeyPatch.context() as patch:
        _install(_made(folder), patch, late=0)
        tried = airtcp.kernel.verify.verify("lossy-pipe", ["sack"], 2, {"duration": "2 s"})
    kernel = Trial("6.12-test", tried, ("bbr-v3", "westwood"))
    observed = Observed(picture, 5e6)
    return Story(None, observed, link, kernel, other, observed)


def _story_of_a_log(log: Path) -> Story:
    settings = {"link.rtt_log.path": log, "duration": "6 s"}
    picture = airtcp.run("ping", settings=settings, probes=TIMELINE_PROBES, rtts=True)
    link = airtcp.compare("ping", seeds=2, settings=settings)
    return Story(log, Observed(picture, None), link, None, None, None)


@pytest.fixture(scope="module")
def verified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a verification against a program that emulates the kernel."""
    folder = tmp_path_factory.mktemp("verified")
    with pytest.MonkeyPatch.context() as patch:
        _install(folder, patch, late=0)
        found = airtcp.kernel.verify.verify("lossy-pipe", ["sack"], 2, {"duration": "2 s"})
    return found.report(folder)


KINDS = (
    "compare",
    "search",
    "study",
    "study-scores",
    "diagnose",
    "diagnose-ping",
    "papers",
    "paper",
    "cross",
    "story",
    "story-of-a-log",
)


def assert_readable(browser: Any, address: str, name: str, *, is_lab: bool = False) -> None:
    """Measures a page in all four ways that it is seen."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(address)
    if is_lab:
        finished(page)
    wrong = {}
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            if folder := os.environ.get("AIRTCP_SCREENSHOTS"):
                picture = Path(folder) / f"{name}-{width}-{scheme}.png"
                page.screenshot(path=str(picture), full_page=True)
            found = page.evaluate(MEASURE)
            too_wide = found["page"] > found["width"]
            if too_wide or found["small"] or found["faint"]:
                wrong[f"{width} {scheme}"] = found
    page.close()
    assert wrong == {}


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_can_be_read(browser: Any, pages: dict[str, Path], kind: str) -> None:
    assert_readable(browser, pages[kind].as_uri(), kind)


def test_a_verification_can_be_read(browser: Any, verified: Path) -> None:
    assert_readable(browser, verified.as_uri(), "verification")


def test_the_lab_can_be_read(browser: Any, lab: "Lab") -> None:
    fragment = "#link=ready/lossy-pipe&set=link.loss.rate%3D0.03&set=duration%3D10+s&b=bbr"
    assert_readable(browser, lab.address + fragment, "lab", is_lab=True)


@pytest.mark.skipif(not SITE.is_dir(), reason="the site is not built: make site")
def test_the_documentation_can_be_read(browser: Any) -> None:
    for page in ("index", "start/tutorial/index", "reference/results/index"):
        assert_readable(browser, (SITE / f"{page}.html").as_uri(), page.replace("/", "-"))
