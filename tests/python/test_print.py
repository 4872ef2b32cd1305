"""The pages on paper: how many there are, and that no table is wider than its page."""

import re
import subprocess
from pathlib import Path

import pytest

import airtcp
from test_cli import airtcp_command
from test_report_width import BROWSER, found_at

pytestmark = pytest.mark.needs("chromium")

MAX_PAGES = 15
PAPER = 680
"""Pixels between the margins of A4: 180 mm at 96 an inch."""


def sheets(page: Path) -> int:
    """The pages that Chromium prints."""
    assert BROWSER is not None
    target = page.with_suffix(".pdf")
    command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu"]
    command += [f"--print-to-pdf={target}", page.as_uri()]
    subprocess.run(command, capture_output=True, timeout=100, check=True)
    return len(re.findall(rb"/Type\s*/Page\b", target.read_bytes()))


def as_printed(page: Path) -> Path:
    """The page with the rules of print for the screen, where widths can be measured."""
    text = page.read_text().replace("@media screen", "@media not all")
    copy = page.with_name(f"printed-{page.name}")
    copy.write_text(text.replace("@media print", "@media all"))
    return copy


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Every remedy on a link, and a paper."""
    folder = tmp_path_factory.mktemp("pages")
    compared = airtcp.compare("lossy-pipe", seeds=2, settings={"duration": "2 s"}, harm=True)
    options = ["--quick", "--readings", "1", "--no-cross", "--out", folder / "papers"]
    assert airtcp_command("papers", "wsc-tcp", *options).exit_code == 0
    return [compared.report(folder / "compare"), folder / "papers" / "wsc-tcp.html"]


def test_pages_are_few(pages: list[Path]) -> None:
    assert [page.name for page in pages if not 0 < sheets(page) <= MAX_PAGES] == []


def test_no_table_is_wider_than_the_paper(pages: list[Path]) -> None:
    for page in pages:
        found = found_at(as_printed(page), PAPER)
        assert found["tables"]
        assert found["wide"] == [], page
        assert found["page"] == PAPER, page
