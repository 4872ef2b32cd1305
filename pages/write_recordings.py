"""Compares scenarios with recordings of such links, and writes docs/measurements/recordings.md.

    python pages/write_recordings.py

Figures of the recordings are in recordings/cellular.py, nr.py and geostationary.py, with the source
and license of each; the scenarios are simulated here.
"""

import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from airtcp.pages.marked import put
from airtcp.pages.provenance import stamp

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "measurements" / "recordings.md"


def program(name: str) -> dict[str, Any]:
    """The names of a program in recordings/."""
    return runpy.run_path(str(ROOT / "recordings" / f"{name}.py"))


def table(heads: str, numbers: int, rows: Mapping[str, list[str]]) -> str:
    """A table with a row for each link."""
    lines = [f"| {heads} |", "|---|" + "---:|" * numbers]
    lines += [f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items()]
    return "\n".join(lines)


def lte_table() -> str:
    """Rates of 100 ms and of a second over the mean, of LTE."""
    of = program("cellular")
    all_rows = {"scenario `lte`": of["of_scenario"]("lte"), **of["RECORDED"]}
    rows = {
        name: [
            f"{one.mean_mbps:.1f}",
            *(f"{share:.2f}" for share in (one.low, one.median, one.high)),
            f"{one.deviation:.2f}",
            f"{one.memory:.2f}",
        ]
        for name, one in all_rows.items()
    }
    heads = (
        "downlink | mean, Mbit/s | 100 ms: 5 % | median | 95 % | deviation of a second "
        "| correlation with the next"
    )
    return table(heads, 6, rows)


def nr_table() -> str:
    """Rates of a second over the mean, outages and round trips, of 5G."""
    of = program("nr")
    all_rows = {"scenario `nr`": of["of_scenario"]("nr"), **of["RECORDED"]}
    rows = {
        name: [
            f"{one.mean_mbps:.0f}",
            *(f"{share:.2f}" for share in (one.low, one.median, one.high, one.deviation)),
            f"{one.outages:.1%}",
            *(f"{time:.0f}" for time in one.rtt_ms),
        ]
        for name, one in all_rows.items()
    }
    heads = (
        "downlink | mean, Mbit/s | a second: 5 % | median | 95 % | deviation "
        "| below 1 Mbit/s | round trip, ms: 5 % | median | 95 %"
    )
    return table(heads, 9, rows)


def geostationary_table() -> str:
    """Rates, delays and losses of geostationary satellites."""
    of = program("geostationary")
    all_rows = {
        "scenario `geo-satellite`": of["of_scenario"]("geo-satellite"),
        **of["RECORDED"],
    }
    rows = {
        name: [
            f"{one.down_mbps:.0f}, {one.up_mbps:.0f}",
            "{:.0f}, {:.0f}, {:.0f}".format(*one.forward_ms),
            f"{one.rtt_ms:.0f}",
            f"{one.loss:.3%}",
            f"{one.full_queue_ms:.0f}",
            "n/a"
            if one.loaded_rtt_ms is None
            else "{:.0f}, {:.0f}, {:.0f}".format(*one.loaded_rtt_ms),
        ]
        for name, one in all_rows.items()
    }
    heads = (
        "link | down, up, Mbit/s | one way down, quartiles, ms | round trip, ms | losses, at most "
        "| full queue, ms | round trip with CUBIC, quartiles, ms"
    )
    return table(heads, 6, rows)


def main() -> None:
    """Writes the tables."""
    tables = {
        "recordings-lte": lte_table,
        "recordings-nr": nr_table,
        "recordings-geostationary": geostationary_table,
    }
    for mark, made in tables.items():
        PAGE.write_text(put(PAGE.read_text("utf-8"), mark, made()), "utf-8")
        stamp(ROOT, mark)


if __name__ == "__main__":
    main()
