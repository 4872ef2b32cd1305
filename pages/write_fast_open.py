"""Compares Fast Open with ordinary handshakes on links and flows, and writes scenarios.md's table.

    python pages/write_fast_open.py

A table of where it helps and where it does not: `airtcp compare` of each row, on forty seeds.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import airtcp
from airtcp.comparison.statistics import Outcome
from airtcp.core.quantities import format_percent
from airtcp.pages.marked import put
from airtcp.pages.provenance import stamp

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "scenarios.md"
MARK = "fast-open"
REMEDY = "fast-open"
SEEDS = 40
SMALLEST_PERCENT = 0.05
"""A smaller difference is a transmission time: the option makes a SYN longer."""
MINUS = "\N{MINUS SIGN}"

GEO = "geo-satellite"
LOSSY = "lossy-pipe"


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    link: str
    flows: str
    scenario: str
    settings: Mapping[str, object]
    """Beyond 20 flows over 60 s."""


def short(**more: object) -> dict[str, object]:
    """Twenty flows, one after another, with other keys: `__` stands for a dot."""
    keys = {key.replace("__", "."): value for key, value in more.items()}
    return {
        "duration": "90 s",
        "flows.count": 20,
        "flows.start_spread": "60 s",
        "flows.request": "350 B",
        **keys,
    }


SATELLITE, HOME = "620 ms, 25 Mbit/s", "20 ms, 10 Mbit/s"
MOBILE = "100 ms, 10 Mbit/s, 1 % of losses"
NOISY = "20 ms, 10 Mbit/s, one bit in 100 000 wrong"
UPLOAD = {"flows.request": None, "flows.direction": "up"}
AT_HOME: dict[str, object] = {"link.delay": "10 ms", "link.loss.rate": "0"}
ABROAD: dict[str, object] = {"link.delay": "50 ms", "link.loss.rate": "1 %"}
WRONG: dict[str, object] = {
    "link.delay": "10 ms",
    "link.loss.model": "bit-error",
    "link.loss.rate": "0.00001",
    "link.loss.direction": "both",
}

ROWS = (
    Row(SATELLITE, "downloads of 5 kB", GEO, short(flows__bytes="5 kB")),
    Row(SATELLITE, "downloads of 30 kB", GEO, short(flows__bytes="30 kB")),
    Row(SATELLITE, "downloads of 300 kB", GEO, short(flows__bytes="300 kB")),
    Row(
        SATELLITE,
        "downloads of 5 kB, requests of 2 kB",
        GEO,
        short(flows__bytes="5 kB", flows__request="2 kB"),
    ),
    Row(SATELLITE, "uploads of 1 kB", GEO, short(flows__bytes="1 kB") | UPLOAD),
    Row(SATELLITE, "uploads of 30 kB", GEO, short(flows__bytes="30 kB") | UPLOAD),
    Row(
        SATELLITE,
        "two downloads of 30 MB",
        GEO,
        short(flows__bytes="30 MB", flows__count=2, flows__start_spread="60 s")
        | {"duration": "150 s"},
    ),
    Row(MOBILE, "downloads of 30 kB", LOSSY, short(flows__bytes="30 kB") | ABROAD),
    Row(HOME, "downloads of 30 kB", LOSSY, short(flows__bytes="30 kB") | AT_HOME),
    Row(
        NOISY,
        "downloads of 1 kB, requests of 1 kB",
        LOSSY,
        short(flows__bytes="1 kB", flows__request="1 kB") | WRONG,
    ),
)


def settings_of(row: Row) -> dict[str, object]:
    """The settings of a row, without those that it leaves out."""
    return {key: value for key, value in row.settings.items() if value is not None}


def compared(row: Row) -> airtcp.Comparison:
    """The comparison of a row."""
    return airtcp.compare(
        ROOT / "scenarios" / f"{row.scenario}.toml",
        [REMEDY],
        seeds=SEEDS,
        settings=settings_of(row),
        metric="completion",
        harm=False,
        horizon=False,
    )


def line(row: Row) -> str:
    """The row as a line of the table."""
    comparison = compared(row)
    by = comparison.decisive[REMEDY]
    percent = by.mean_percent or 0.0
    saved = f"{-1000 * by.mean:.0f} ms".replace("-", MINUS)
    is_shown = by.outcome in (Outcome.HIGHER, Outcome.LOWER) and abs(percent) >= SMALLEST_PERCENT
    change = format_percent(percent, sign=True) if is_shown else "no difference"
    return (
        f"| {row.link} | {row.flows} | {by.baseline_mean:.3g} s | {by.treated_mean:.3g} s "
        f"| {saved} | {change} |"
    )


def table() -> str:
    """The table, all rows compared."""
    head = (
        "| link | flows | completion time | with `fast-open` | saved | shown |\n"
        "|---|---|---:|---:|---:|---:|"
    )
    return "\n".join([head, *(line(row) for row in ROWS)])


def main() -> None:
    """Compares and writes the page."""
    PAGE.write_text(put(PAGE.read_text(), MARK, table()))
    stamp(ROOT, MARK)


if __name__ == "__main__":
    main()
