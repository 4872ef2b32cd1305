"""Every generated table records its engine, and earlier engines are marked."""

import shutil
from pathlib import Path

import pytest

from airtcp.pages import provenance
from airtcp.pages.provenance import SENTENCE, Made, admit, faults, made, stamp, tables

ROOT = Path(__file__).parents[2]
PAGE = """# A page

<!-- one: begin -->
| a |
<!-- one: end -->

<!-- generated: two -->
| b |
<!-- end -->
"""
LISTED = """
[[table]]
page = "docs/page.md"
marks = ["one"]
program = "make one"
cells = [{ scenarios = ["link.toml"], settings = { duration = "1 s" }, seeds = [1, 2] }]

[[table]]
page = "docs/page.md"
marks = ["two"]
program = "make two"
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A tree of one page with two tables."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text(PAGE)
    (tmp_path / "README.md").write_text("# Here\n")
    (tmp_path / provenance.LIST).write_text(LISTED)
    shutil.copy(ROOT / "scenarios" / "lossy-pipe.toml", tmp_path / "link.toml")
    return tmp_path


def test_every_table_says_what_it_was_made_with_and_whether_that_is_todays() -> None:
    assert faults(ROOT) == []


def test_a_table_without_a_word_is_a_fault(small: Path) -> None:
    assert [fault.split(" does not")[0] for fault in faults(small)] == [
        "docs/page.md: one",
        "docs/page.md: two",
    ]
    stamp(small, "one", "two")
    assert faults(small) == []
    page = (small / "docs" / "page.md").read_text()
    assert "; 2 simulated cells, sha256 " in page
    assert "two; airtcp" in page
    assert "nothing simulated" in page
    assert SENTENCE not in page
    # Again changes nothing.
    stamp(small, "one", "two")
    assert (small / "docs" / "page.md").read_text() == page


def test_a_stale_table_fails_until_its_page_says_so(small: Path) -> None:
    stamp(small, "one", "two")
    changed = (small / "link.toml").read_text().replace("25 ms", "26 ms")
    (small / "link.toml").write_text(changed)
    provenance._result.cache_clear()
    (fault,) = faults(small)
    assert "one would be another today: make one" in fault
    assert admit(small) == ["one"]
    page = (small / "docs" / "page.md").read_text()
    assert faults(small) == []
    assert page.count(SENTENCE) == 1
    # The numbers stay, with their provenance.
    said = made(page, "one")
    assert said is not None
    assert said.is_earlier
    assert "| a |" in page
    # Changed back, the page must no longer have the mark.
    (small / "link.toml").write_text(changed.replace("26 ms", "25 ms"))
    provenance._result.cache_clear()
    assert "is today's again" in faults(small)[0]
    assert admit(small) == []
    assert faults(small) == []
    assert SENTENCE not in (small / "docs" / "page.md").read_text()


def test_a_table_that_nobody_lists_is_a_fault(small: Path) -> None:
    stamp(small, "one", "two")
    page = small / "docs" / "page.md"
    page.write_text(page.read_text() + "\n<!-- three: begin -->\n<!-- three: end -->\n")
    (fault,) = faults(small)
    assert fault.startswith("docs/page.md: three is not in docs/provenance.toml")


def test_a_place_that_is_not_there_is_an_error(small: Path) -> None:
    table = tables(small)[0]
    with pytest.raises(ValueError, match="no table one"):
        provenance.stamped("# Nothing\n", table, Made("0", "0", False))
