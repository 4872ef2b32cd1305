"""The pages at the width of a phone and of a desk: nothing of a table is cut off.

A window of Chromium is at least 500 pixels wide; the cards of a phone begin at 704.
"""

import json
import re
import subprocess
from pathlib import Path

import pytest

import airtcp
from airtcp.comparison.grid import load_grid
from airtcp.comparison.grid_run import run_grid
from airtcp.pages.grid import write_study
from needs import program

BROWSER = program("chromium")
pytestmark = pytest.mark.needs("chromium")

# What is wider than its place, for tables that people read without scrolling.
_PROBE = """
<script>
addEventListener("load", () => {
  // A window is at least 500 pixels wide, and a phone 390.
  if (innerWidth < 600) document.body.style.maxWidth = "390px";
  const wide = [...document.querySelectorAll("table:not(.matrix)")].filter(
    (table) => table.checkVisibility() && table.scrollWidth > table.parentElement.clientWidth + 1);
  const found = {
    width: innerWidth,
    page: document.documentElement.scrollWidth,
    tables: document.querySelectorAll("table").length,
    cut: [...document.querySelectorAll("figure .wide")].filter(
      (place) => place.checkVisibility() && place.scrollWidth > place.clientWidth + 1).length,
    figures: [...document.querySelectorAll("figure svg")].filter(
      (svg) => svg.checkVisibility()).length,
    wide: wide.map((table) => table.querySelector("th").textContent),
  };
  document.body.setAttribute("data-found", JSON.stringify(found));
});
</script>
"""


def found_at(page: Path, width: int) -> dict[str, object]:
    """What the probe finds in a page at that width."""
    assert BROWSER is not None
    probed = page.with_name("probed.html")
    probed.write_text(page.read_text().replace("</body>", f"{_PROBE}</body>"))
    command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu"]
    command += ["--hide-scrollbars", "--dump-dom"]
    told = subprocess.run(
        [*command, f"--window-size={width},2000", probed.as_uri()],
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    (text,) = re.findall(r'data-found="([^"]*)"', told.stdout)
    found: dict[str, object] = json.loads(text.replace("&quot;", '"'))
    return found


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A comparison with wide numbers, and a study with many columns."""
    folder = tmp_path_factory.mktemp("pages")
    remedies = ["max-window:segments=4", "bbr", "delayed-ack", "dupack-threshold:segments=5"]
    settings = {"duration": "4 s"}
    compared = airtcp.compare("dumbbell", remedies, 3, settings, harm=True)
    studied = run_grid(load_grid(airtcp.core.shipped.find("then-and-now", "studies")), 1)
    return [compared.report(folder / "compare"), write_study(studied, folder / "study")]


@pytest.mark.parametrize("width", [390, 1280])
def test_no_table_is_cut_off(pages: list[Path], width: int) -> None:
    for page in pages:
        found = found_at(page, width)
        assert found["tables"]
        assert found["wide"] == [], page
        assert found["page"] == found["width"] <= max(width, 500), page


def test_a_comparisons_figures_fit_a_phone(pages: list[Path]) -> None:
    """One shape of each is shown, the phone's where the window is narrow, without scrolling."""
    narrow, wide = found_at(pages[0], 500), found_at(pages[0], 1400)
    assert narrow["cut"] == wide["cut"] == 0
    assert narrow["figures"] == wide["figures"] == 5
