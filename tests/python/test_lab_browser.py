"""The lab in a browser: headless Chromium, as a person meets it.

Skipped by name where Playwright's package (`pip install playwright`, without its browsers) or
Chromium (`apt install chromium`) is absent. With AIRTCP_SCREENSHOTS=FOLDER screenshots are kept.
"""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from needs import program

if TYPE_CHECKING:
    from airtcp.lab.server import Lab

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = sync_api.expect
CHROMIUM = program("chromium")
pytestmark = pytest.mark.needs("chromium")

PATIENCE_MS = 60_000
"""For a machine that is busy with other things; every wait is for an event."""
expect.set_options(timeout=PATIENCE_MS)

DESKTOP = {"viewport": {"width": 1280, "height": 900}}
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}
RENO = "&set=tcp.profile%3Dnewreno"
LOSSY = f"#link=ready/lossy-pipe&set=link.loss.rate%3D0.03&set=duration%3D10+s{RENO}&b=sack"
STOPS = f"#link=ready/wifi-suspension&set=duration%3D20+s{RENO}&b=rto-factor:factor%3D10"

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One headless Chromium for all."""
    with sync_api.sync_playwright() as playwright:
        # Its sandbox does not start for root, in containers.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield chromium
        chromium.close()


@pytest.fixture
def show(browser: Any, lab: "Lab") -> Iterator[Open]:
    """Opens a page of the lab; afterwards nothing may have gone wrong in it."""
    contexts = []
    wrong: list[str] = []
    asked: set[str] = set()

    def show_page(fragment: str = LOSSY, *, done: bool = True, **options: Any) -> Any:
        context = browser.new_context(**(options or DESKTOP))
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: asked.add(request.url))
        page.goto(lab.address + fragment)
        if done:
            finished(page)
        return page

    yield show_page
    for context in contexts:
        context.close()
    assert wrong == []
    elsewhere = [url for url in asked if not url.startswith((lab.address, "data:", "blob:"))]
    assert elsewhere == [], "the page works without a network"


def finished(page: Any) -> None:
    """Waits until the selection has been computed and drawn."""
    expect(page.locator("#status")).to_contain_text(" ms")


def keep(page: Any, name: str) -> None:
    """Keeps a screenshot, if requested."""
    if folder := os.environ.get("AIRTCP_SCREENSHOTS"):
        page.screenshot(path=str(Path(folder) / f"lab-{name}.png"), full_page=True)


def drawn_colours(page: Any, chart: str) -> int:
    """How many colours a chart has: more than a handful when lines are drawn on it."""
    return int(
        page.evaluate(
            """(chart) => {
              const canvas = document.querySelector(`#chart-${chart} canvas`);
              const data = canvas.getContext("2d")
                .getImageData(0, 0, canvas.width, canvas.height).data;
              const seen = new Set();
              for (let at = 0; at < data.length; at += 4) {
                seen.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
              }
              return seen.size;
            }""",
            chart,
        )
    )


def goodput(page: Any, side: int) -> str:
    """The goodput of a side as the table shows it."""
    return str(page.locator("#summary tbody tr").first.locator("td").nth(side).inner_text())


def test_two_sides_are_drawn(show: Open) -> None:
    page = show()
    expect(page.locator("#summary thead th")).to_have_text(["", "A: as written", "B: sack"])
    assert goodput(page, 0) != goodput(page, 1)
    expect(page.locator("#gain")).to_contain_text("B, sack: ")
    for chart in ("cwnd", "rtt", "goodput", "queue", "retransmitted"):
        assert drawn_colours(page, chart) > 10, chart
    expect(page.locator("#chart-retries")).to_be_hidden()  # a pipe has no medium
    page.click("#run-cloud")
    expect(page.locator("#cloud-verdict")).to_contain_text("95 %, n=20")
    expect(page.locator("#cloud circle")).to_have_count(20)
    keep(page, "desktop")


def test_what_helps_is_asked_for_who_asks(show: Open) -> None:
    page = show(LOSSY.replace("duration%3D10+s", "duration%3D4+s") + "&can=access-point")
    expect(page.locator("#can")).to_have_value("access-point")
    page.click("#ask")
    expect(page.locator("#answer .verdict")).to_contain_text("At the access point ")
    first = page.locator("#answer tr.yours button").first
    remedy = first.inner_text().split(" = ")[0]
    first.click()
    expect(page.locator("#remedy-b")).to_have_value(remedy)
    # Another side leaves the answer; another link, or another asker, does not.
    expect(page.locator("#answer .verdict")).to_be_visible()
    keep(page, "answer")
    page.select_option("#can", "server")
    expect(page.locator("#answer .verdict")).to_have_count(0)
    expect(page).to_have_url(re.compile("can=server"))


def test_what_others_get_is_measured_and_asked_for(show: Open) -> None:
    page = show(LOSSY.replace("duration%3D10+s", "duration%3D4+s") + "&b=codel")
    rows = page.locator("#summary tbody th")
    assert "responsiveness" not in rows.all_inner_texts()
    page.check("#under-load")
    row = page.locator("#summary tbody tr", has_text="responsiveness")
    expect(row.locator("td")).to_have_text([re.compile(r"^\d+ RPM$")] * 2)
    expect(page.locator("#summary tbody tr", has_text="call, late").locator("td")).to_have_text(
        [re.compile("%$")] * 2
    )
    expect(page).to_have_url(re.compile("flows.under_load"))
    page.select_option("#aim", "latency")
    page.click("#ask")
    expect(page.locator("#answer .verdict")).to_be_visible()
    expect(page.locator("#answer caption")).to_contain_text("responsiveness")
    keep(page, "under-load")
    expect(page).to_have_url(re.compile("for=latency"))
    # Another aim has another answer.
    page.select_option("#aim", "calls")
    expect(page.locator("#answer .verdict")).to_have_count(0)
    page.uncheck("#under-load")
    expect(row).to_have_count(0)
    expect(page.locator("#changed")).not_to_contain_text("flows.under_load")


def test_a_refusal_is_shown_in_place_of_a_ranking(
    show: Open, lab: "Lab", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab.drops, "refusal", lambda _source: "Another sender filled the link.")
    page = show()
    expect(page.locator("#answer .refusal")).to_have_text(
        "Not ranked. Another sender filled the link."
    )
    expect(page.locator("#ask")).to_be_disabled()


def test_a_medium_has_its_retries(show: Open) -> None:
    page = show("#link=ready/wlan-upload&set=duration%3D5+s&b=inf-retry")
    expect(page.locator("#chart-retries")).to_be_visible()
    assert drawn_colours(page, "retries") > 10
    # A rate is one of the standard's: the slider has no others.
    rate = page.locator('[data-key="wlan.rate"]')
    rate.focus()
    page.keyboard.press("ArrowLeft")
    finished(page)
    expect(page).to_have_url(re.compile("wlan.rate%3D5.5"))
    expect(page.locator("#error")).to_be_hidden()


def test_a_standard_brings_its_modes(show: Open) -> None:
    page = show("#link=ready/laptop-upload&set=duration%3D2+s&b=bbr")
    wrong: list[str] = []
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    standard, width = page.locator("#pick-wlan-standard"), page.locator("#pick-wlan-channel_width")
    mcs = page.locator("#slider-wlan-mcs")
    expect(mcs).to_have_attribute("max", "7")
    expect(width.locator("option[value='80 MHz']")).to_be_disabled()
    before = goodput(page, 0)
    standard.select_option("802.11ax")
    expect(mcs).to_have_attribute("max", "11")
    expect(width.locator("option[value='80 MHz']")).to_be_enabled()
    width.select_option("80 MHz")
    expect(standard.locator("option[value='802.11n']")).to_be_disabled()
    mcs.focus()
    page.keyboard.press("End")
    expect(page).to_have_url(re.compile("wlan.mcs%3D11"))
    page.locator("#slider-wlan-spatial_streams").focus()
    page.keyboard.press("End")
    page.select_option("#pick-wlan-guard_interval", "3200 ns")
    expect(page).to_have_url(re.compile("wlan.guard_interval%3D3200"))
    finished(page)
    assert goodput(page, 0) != before
    expect(page.locator("#error")).to_be_hidden()
    # A value in the scenario is no setting.
    page.select_option("#pick-wlan-guard_interval", "800 ns")
    expect(page).not_to_have_url(re.compile("guard_interval"))
    assert wrong == []


def test_a_slider_moves_the_run_and_the_address(show: Open) -> None:
    page = show()
    before = goodput(page, 0)
    slider = page.locator('[data-key="link.loss.rate"]')
    slider.focus()
    for _ in range(3):
        page.keyboard.press("PageUp")
    expect(page.locator("#summary tbody tr").first.locator("td").first).not_to_have_text(before)
    finished(page)
    value = page.locator('[aria-label="link.loss.rate, exact value"]').input_value()
    assert value.endswith("%")
    assert float(value.split()[0]) > 3
    expect(page).to_have_url(re.compile(r"link\.loss\.rate%3D(?!0\.03&)"))
    assert page.evaluate("performance.getEntriesByName('airtcp-play').length") >= 2
    page.click("#reset")
    finished(page)
    expect(page.locator("#changed li")).to_have_count(0)


def test_keys_do_what_the_help_says(show: Open) -> None:
    page = show(STOPS)
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#help")).to_be_hidden()
    page.keyboard.press("t")
    explanation = page.locator("#explanation")
    expect(explanation).to_contain_text("the retransmission timer expired")
    assert page.evaluate("document.activeElement.id") == "explanation"
    first = explanation.locator("h2").inner_text()
    page.keyboard.press("t")
    expect(explanation.locator("h2")).not_to_have_text(first)
    keep(page, "explanation")
    page.keyboard.press("n")
    expect(page.locator("#seed")).to_have_value("2")
    expect(explanation).to_be_hidden()
    page.keyboard.press("x")
    expect(page.locator("#remedy-a")).to_have_value("rto-factor:factor=10")
    page.keyboard.press("l")
    assert page.evaluate("document.activeElement.id") == "link"


def test_every_control_has_a_name(show: Open) -> None:
    page = show("#link=ready/cell&set=duration%3D2+s")
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("input, select, button")]
          .filter((one) => !one.labels?.length && !one.getAttribute("aria-label")
            && !one.textContent.trim() && one.type !== "range")
          .map((one) => one.outerHTML)"""
    )
    assert nameless == []


def test_it_fits_a_phone(show: Open) -> None:
    page = show(STOPS, **PHONE)
    page.locator("#timeouts button").first.tap()
    expect(page.locator("#explanation .u-over")).to_be_visible(timeout=PATIENCE_MS)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    keep(page, "phone")
    too_wide = page.evaluate(
        """() => [...document.querySelectorAll("main *")].filter((one) =>
          !one.closest(".wide, .u-wrap, .file") && one.getBoundingClientRect().right > 391)
          .map((one) => one.outerHTML.slice(0, 80))"""
    )
    assert too_wide == []


def test_it_is_dark_in_the_dark(show: Open) -> None:
    page = show(**DESKTOP, color_scheme="dark")
    keep(page, "dark")
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert max(map(int, re.findall(r"\d+", background)[:3])) < 60
    page.emulate_media(color_scheme="light")
    expect(page.locator("body")).to_have_css("background-color", "rgb(255, 255, 255)")
    assert drawn_colours(page, "cwnd") > 10


def test_the_address_is_the_whole_state(show: Open) -> None:
    page = show(LOSSY + "&a=reno&seed=12")
    expect(page).to_have_url(re.compile("seed=12"))
    other = show("#" + page.url.split("#")[1])
    assert [goodput(other, side) for side in (0, 1)] == [goodput(page, side) for side in (0, 1)]
    expect(other.locator("#seed")).to_have_value("12")
    expect(other.locator("#remedy-a")).to_have_value("reno")


def test_a_scenario_that_was_dropped_travels_in_the_address(show: Open, tmp_path: Path) -> None:
    scenario = tmp_path / "mine.toml"
    scenario.write_text('name = "mine"\nduration = "5 s"\nlink.rate = "3 Mbit/s"\n')
    page = show()
    page.set_input_files("#file", scenario)
    expect(page.locator("#sliders [data-key='link.rate']")).to_have_count(1)
    expect(page.locator("#summary tbody tr").first).to_contain_text("2.84")
    expect(page).to_have_url(re.compile("toml="))
    page.click("#share-button")
    expect(page.locator("#share-link")).to_have_value(re.compile("#.*toml="))
    address = page.locator("#share-link").input_value()
    other = show("#" + address.split("#")[1])
    assert goodput(other, 0) == goodput(page, 0)


def test_a_side_is_saved_as_a_file(show: Open) -> None:
    page = show()
    page.click("#share-button")
    with page.expect_download() as download:
        page.click("#save-b")
    assert download.value.suggested_filename == "lossy-pipe.toml"
    text = Path(download.value.path()).read_text()
    assert "sack" in text
    assert "rate = 0.03" in text


def test_a_ping_log_becomes_a_link(show: Open) -> None:
    page = show()
    page.set_input_files("#file", "recordings/cellular-slow.ping")
    expect(page.locator("#link option:checked")).to_have_text("cellular-slow.ping")
    expect(page.locator("#summary caption")).to_contain_text("sender linux")


def test_what_cannot_be_shown_says_why_and_passes(show: Open, tmp_path: Path) -> None:
    page = show()
    capture = tmp_path / "phone.pcapng"
    capture.write_bytes(b"\x0a\x0d\x0d\x0a" + bytes(40))
    page.set_input_files("#file", capture)
    error = page.locator("#error")
    expect(error).to_contain_text("phone.pcapng")
    page.fill("#remedy-b", "sock")
    page.press("#remedy-b", "Tab")
    expect(error).to_contain_text('did you mean "sack"')
    page.fill("#remedy-b", "sack")
    expect(error).to_be_hidden(timeout=PATIENCE_MS)
    field = page.locator('[aria-label="link.rate, exact value"]')
    field.fill("<img src=x onerror=alert(1)>")
    field.press("Tab")
    expect(error).to_contain_text("link.rate")
    assert page.locator("img").count() == 0


def test_a_long_run_is_drawn_while_it_is_computed(show: Open) -> None:
    fragment = "#link=ready/wlan-clients&set=duration%3D30+min&set=flows.count%3D60&b=snoop"
    page = show(fragment, done=False)
    expect(page.locator("#status")).to_have_text(
        re.compile(r"^[1-9]\d* of 1800 s$"), timeout=PATIENCE_MS
    )
    assert drawn_colours(page, "cwnd") > 10
    # Another choice does not wait for it.
    page.select_option("#link", "ready/lossy-pipe")
    finished(page)


def test_reports_are_listed(show: Open) -> None:
    page = show()
    page.click("#reports-button")
    expect(page.locator("#reports-list a")).to_have_text(["An upload & more"])


@pytest.mark.parametrize("link", ["lossy-pipe", "wlan-upload", "cell", "wlan-clients"])
def test_positions_and_values_go_back_and_forth(show: Open, link: str) -> None:
    """Each slider: every position gives a text, and that text's value the position again."""
    page = show(f"#link=ready/{link}&set=duration%3D1+s")
    off = page.evaluate(
        """async (source) => {
          const { toValue, toPosition, steps } = await import("/js/scale.js");
          const { quantity } = await import("/js/format.js");
          const answer = await fetch("/api/link", {
            method: "POST", body: JSON.stringify({ source, settings: {} }),
          });
          const off = [];
          for (const control of (await answer.json()).controls) {
            const last = steps(control);
            for (let at = 0; at <= last; at += Math.max(1, Math.floor(last / 50))) {
              const value = toValue(control, at);
              const text = quantity(control.kind, value);
              // Counts and three digits are coarser than positions.
              const near = control.kind === "count" ? toValue(control, toPosition(control, value))
                : value;
              const back = toPosition(control, value);
              if (/e|NaN|undefined/.test(text.replace(/unlimited/, ""))
                || (control.kind === "count" ? near !== value : Math.abs(back - at) > 2)) {
                off.push([control.key, at, value, text, back]);
              }
            }
          }
          return off;
        }""",
        f"ready/{link}",
    )
    assert off == []
