"""The RFC requirements of docs/contributing/requirements/, checked against the citing code."""

import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_SPEC = importlib.util.spec_from_file_location(
    "write_requirements", ROOT / "pages" / "write_requirements.py"
)
assert _SPEC is not None
assert _SPEC.loader is not None
requirements = importlib.util.module_from_spec(_SPEC)
sys.modules["write_requirements"] = requirements
_SPEC.loader.exec_module(requirements)

RFCS = requirements.rfcs()
_COMMENT = re.compile(r"\n\s*//[/!]?\s*")
_CITED = re.compile(r"RFC (\d+)((?:,? (?:and |or |to )?(?:§[\dA-Z][\d.]*\d|§\d|appendix [A-Z]))+)")
_SECTION = re.compile(r"§(\d[\d.]*\d|\d)|appendix ([A-Z])")


def cited_in(text: str) -> Iterator[tuple[int, str]]:
    """Each RFC and section that a source cites, also across the lines of a comment."""
    for match in _CITED.finditer(_COMMENT.sub(" ", text)):
        for section, appendix in _SECTION.findall(match[2]):
            yield int(match[1]), section or appendix


def test_citations_are_found_in_every_form() -> None:
    text = (
        "/// RFC 6298 §2.2, §2.3; RFC 7323 appendix A (RFC 5681\n"
        "    /// §4.1). RFC 9293 §3.4 and §3.5"
    )
    assert list(cited_in(text)) == [
        (6298, "2.2"),
        (6298, "2.3"),
        (7323, "A"),
        (5681, "4.1"),
        (9293, "3.4"),
        (9293, "3.5"),
    ]


@pytest.mark.parametrize("rfc", RFCS, ids=lambda rfc: str(rfc.number))
def test_every_section_that_the_code_cites_is_listed(rfc: requirements.Rfc) -> None:
    """A section stands for those inside it, and for the one that holds it."""
    listed = {row.section for row in rfc.requirements}
    missing = {}
    for file in sorted((ROOT / "crates").rglob("*.rs")):
        for number, section in cited_in(file.read_text(encoding="utf-8")):
            is_listed = any(
                one == section or one.startswith(f"{section}.") or section.startswith(f"{one}.")
                for one in listed
            )
            if number == rfc.number and not is_listed:
                missing[section] = str(file.relative_to(ROOT))
    assert not missing, f"rfc{rfc.number}.toml lacks sections that are cited"


@pytest.mark.parametrize("rfc", RFCS, ids=lambda rfc: str(rfc.number))
def test_every_place_exists(rfc: requirements.Rfc) -> None:
    for row in rfc.requirements:
        where = f"RFC {rfc.number} §{row.section}: {row.says}"
        assert row.level in requirements.LEVELS, where
        assert row.code, where
        assert row.test or row.exception, f"{where}: expected a test, or the reason for none"
        for place in row.code:
            source = (ROOT / place.path).read_text(encoding="utf-8")
            named = f"fn {place.item}(" if place.item else f"RFC {rfc.number}"
            assert named in source, f"{where}: {place.path} lacks {named}"
        for place in row.test:
            source = (ROOT / place.path).read_text(encoding="utf-8")
            is_script = place.path.endswith(".pkt")
            assert is_script or f"fn {place.item}(" in source, f"{where}: {place}"


def test_the_page_is_the_generated_one() -> None:
    written = requirements.PAGE.read_text(encoding="utf-8")
    assert written == requirements.page(RFCS), "python pages/write_requirements.py"
