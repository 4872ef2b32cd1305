"""The lab without a server: a folder of files, in headless Chromium.

Skipped by name where Playwright's package, Chromium or the module (`make site`) is absent. With
AIRTCP_SCREENSHOTS=FOLDER screenshots are kept.
"""

import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import airtcp
from needs import ROOT, browser_core, program

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = sync_api.expect
pytestmark = pytest.mark.needs("chromium", "browser-core")
expect.set_options(timeout=60_000)

DESKTOP = {"viewport": {"width": 1280, "height": 900}}
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}
SETTINGS = {"link.loss.rate": "0.03", "duration": "10 s"}
LOSSY = "#link=ready/lossy-pipe&set=link.loss.rate%3D0.03&set=duration%3D10+s&b=bbr"

Open = Callable[..., Any]


class _Files(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Logs nothing."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page below a folder of a plain web server, as `make site` writes it."""
    sys.path.insert(0, str(ROOT / "packaging"))
    from lab_page import write

    sys.path.remove(str(ROOT / "packaging"))
    folder = tmp_path_factory.mktemp("site")
    write(folder / "lab", browser_core(), "")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Files, directory=folder)) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/lab/"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        chromium = playwright.chromium.launch(executable_path=program("chromium"), args=arguments)
        yield chromium
        chromium.close()


@pytest.fixture
def show(browser: Any, address: str) -> Iterator[Open]:
    """Opens the page; afterwards nothing may have gone wrong, nor elsewhere been asked."""
    contexts = []
    wrong: list[str] = []
    asked: list[Any] = []

    def show_page(fragment: str = LOSSY, **options: Any) -> Any:
        context = browser.new_context(**(options or DESKTOP))
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        context.on("request", lambda request: asked.append(request))
        page.goto(address + fragment)
        finished(page)
        return page

    yield show_page
    for context in contexts:
        context.close()
    assert wrong == []
    assert [one.url for one in asked if not one.url.startswith((address, "data:", "blob:"))] == []
    assert {one.method for one in asked} == {"GET"}, "nothing leaves the browser"


def finished(page: Any) -> None:
    expect(page.locator("#status")).to_contain_text(" ms")


def keep(page: Any, name: str) -> None:
    if folder := os.environ.get("AIRTCP_SCREENSHOTS"):
        page.screenshot(path=str(Path(folder) / f"browser-{name}.png"), full_page=True)


def goodput(page: Any, side: int) -> str:
    return str(page.locator("#summary tbody tr").first.locator("td").nth(side).inner_text())


def test_a_slider_moves_the_runs_of_this_browser(show: Open) -> None:
    page = show()
    runs = [
        airtcp.run("lossy-pipe", 1, SETTINGS, remedies).summary["goodput_bps"] / 1e6
        for remedies in ([], ["bbr"])
    ]
    for side, expected in enumerate(runs):
        assert float(goodput(page, side).split()[0]) == pytest.approx(expected, rel=0.01)
    before = goodput(page, 0)
    slider = page.locator('[data-key="link.loss.rate"]')
    slider.focus()
    for _ in range(3):
        page.keyboard.press("PageUp")
    expect(page.locator("#summary tbody tr").first.locator("td").first).not_to_have_text(before)
    finished(page)
    expect(page).to_have_url(re.compile(r"link\.loss\.rate%3D(?!0\.03&)"))
    # A log of the user's own.
    page.set_input_files("#file", "recordings/cellular-slow.ping")
    expect(page.locator("#link option:checked")).to_have_text("cellular-slow.ping")
    expect(page.locator("#link-description")).to_contain_text("played by time")
    finished(page)
    keep(page, "ping")
    page.click("#share-button")
    with page.expect_download() as download:
        page.click("#save-a")
    assert 'path = "delays.csv"' in Path(download.value.path()).read_text()
    expect(page.locator("#share-command")).to_contain_text("cellular-slow.toml, delays.csv")


def test_seeds_are_those_of_compare(show: Open) -> None:
    page = show()
    page.click("#run-cloud")
    expect(page.locator("#cloud-verdict")).to_contain_text("95 %, n=20")
    expect(page.locator("#cloud circle")).to_have_count(20)
    compared = airtcp.compare("lossy-pipe", ["bbr"], 20, SETTINGS)
    said = compared.verdict[0].replace("bbr", "B").partition(";")[0]
    shown = page.locator("#cloud-verdict").inner_text()
    assert shown.partition("(")[0] == said.partition("(")[0]
    keep(page, "desktop")


def test_what_a_server_alone_offers_names_its_command(show: Open) -> None:
    page = show(LOSSY + "&set=tcp.profile%3Dnewreno")
    expect(page.locator("#ask")).to_be_hidden()
    expect(page.locator("#reports-button")).to_be_hidden()
    expect(page.locator("#command")).to_contain_text("airtcp compare lossy-pipe --set")
    assert page.locator("#timeouts button").count() == 0
    expect(page.locator("#timeouts")).to_contain_text("airtcp lab")
    page.keyboard.press("?")
    expect(page.locator("#place")).to_contain_text("nothing leaves it")


def test_errors_are_shown_and_pass(show: Open, tmp_path: Path) -> None:
    page = show()
    capture = tmp_path / "phone.pcapng"
    capture.write_bytes(b"\x0a\x0d\x0d\x0a" + bytes(40))
    page.set_input_files("#file", capture)
    error = page.locator("#error")
    expect(error).to_contain_text("airtcp diagnose phone.pcapng")
    page.fill("#remedy-b", "sock")
    page.press("#remedy-b", "Tab")
    expect(error).to_contain_text('did you mean "sack"')
    page.fill("#remedy-b", "sack")
    expect(error).to_be_hidden()


def test_a_recorded_link_and_a_scenario_with_its_file(show: Open, tmp_path: Path) -> None:
    page = show("#link=ready/ping&set=duration%3D5+s&b=min-rto")
    expect(page.locator("#summary caption")).to_contain_text("sender linux")
    scenario = tmp_path / "mine.toml"
    scenario.write_text(
        "duration = '5 s'\ntcp.profile = 'newreno'\n"
        "link.stops = { process = 'recorded', path = 'stops.csv' }\n"
    )
    stops = tmp_path / "stops.csv"
    stops.write_text("start_ms,length_ms\n1000,400\n")
    page.set_input_files("#file", [scenario, stops])
    expect(page.locator("#link option:checked")).to_have_text("mine.toml")
    expect(page.locator("#timeouts li").first).to_contain_text("spurious")


def test_it_fits_a_phone_and_is_dark_in_the_dark(show: Open) -> None:
    page = show(**PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    keep(page, "phone")
    page = show(**DESKTOP, color_scheme="dark")
    keep(page, "dark")
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(map(int, re.findall(r"\d+", background)[:3])) < 60


def test_paper_has_the_results_without_the_controls(show: Open) -> None:
    page = show()
    page.emulate_media(media="print")
    expect(page.locator("#panel")).to_be_hidden()
    expect(page.locator("#summary table")).to_be_visible()
    keep(page, "print")
