"""The sizes of a flow on the page of performance are those that Rust tests hold."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "measurements" / "performance.md"
FLOW = ROOT / "crates" / "sim" / "src" / "engine" / "flow" / "mod.rs"
SENDER = ROOT / "crates" / "tcp" / "src" / "connection" / "tests" / "mod.rs"


def _held(source: Path, name: str) -> int:
    """The bound of a type's size in bytes."""
    (bound,) = re.findall(rf"assert!\(size_of::<{name}>\(\) <= (\d+)", source.read_text("utf-8"))
    return int(bound)


def _now(site: str) -> int:
    """The bytes of a site in the table of the heap, in the column of today."""
    (row,) = re.findall(rf"^\| {site} \| [\d,]+ \| ([\d,]+) \|", PAGE.read_text("utf-8"), re.M)
    return int(row.replace(",", ""))


def test_the_page_has_the_sizes_that_tests_hold() -> None:
    flow, sender = _held(FLOW, "Flow"), _held(SENDER, "Sender")
    assert _now("the flow with both connections") == flow
    assert _now("its sender") == sender
    text = " ".join(PAGE.read_text("utf-8").split())
    assert f"a flow with both connections and its sender alone take {flow + sender:,}." in text


def test_the_sites_add_up_to_all() -> None:
    table = PAGE.read_text("utf-8").split("The heap by site", 1)[1].split("The peak", 1)[0]
    rows = re.findall(r"^\| ([^|]+) \| ([\d,]+) \| ([\d,]+) \|", table, re.M)
    *sites, (last, *_) = rows
    assert last == "all"
    for column in (1, 2):
        bytes_of = [int(row[column].replace(",", "")) for row in rows]
        assert sum(bytes_of[:-1]) == bytes_of[-1]
    assert len(sites) > 5
