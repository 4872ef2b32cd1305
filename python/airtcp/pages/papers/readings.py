"""Open points of a paper, and the reading that serves it best, on a page.

Both come from `readings` of the paper in `papers.json`, and are omitted if it is empty.
"""

from collections.abc import Mapping
from typing import Any

from airtcp.pages.tables import Table


def open_points(paper: Mapping[str, Any]) -> Table | None:
    """Every open point: the question, the values that the text admits, the default and why."""
    points = (paper.get("readings") or {}).get("points") or []
    if not points:
        return None
    rows = [
        (
            str(point["id"]),
            str(point["open"]),
            ", ".join(map(str, point["values"])),
            str(point["default"]),
            _without_marks(point["why"]),
            _without_marks(point["source"]),
        )
        for point in points
    ]
    return Table(("point", "what is open", "admitted", "default", "why", "source"), rows, 6)


def facts(paper: Mapping[str, Any]) -> Table | None:
    """Every fact of the text, whether the default keeps it, and how many readings break it."""
    found = (paper.get("readings") or {}).get("facts") or []
    if not found:
        return None
    rows = [
        (
            str(fact["what"]),
            "keeps it" if fact["default_keeps"] else "breaks it",
            f"{fact['broken_by']} of {fact['of']}",
            _without_marks(fact["source"]),
        )
        for fact in found
    ]
    return Table(("the text says", "the default", "readings that break it", "source"), rows, 4)


def _run_of(readings: Mapping[str, Any]) -> str:
    """Number of readings run, out of all."""
    run, admissible = int(readings["run"]), int(readings.get("admissible", 0))
    return f"{run} readings" if run >= admissible else f"{run} readings run, of {admissible}"


def _without_marks(text: object) -> str:
    """Removes the marks of code in Markdown."""
    return str(text).replace("`", "")


def best_reading(paper: Mapping[str, Any]) -> list[str]:
    """The reading that reproduces most claims, and claims that no reading gives."""
    readings = paper.get("readings") or {}
    best = readings.get("serves_best")
    if not best or int(readings.get("run", 0)) < 2:
        return []
    claims = len(paper["claims"])
    reading = ", ".join(best["reading"]) or "the default"
    sentences = [
        f"Of {_run_of(readings)}, {reading} serves the paper best: {best['papers_way']} of "
        f"{claims} claims go its way, {best['reproduced']} of them reproduced; "
        f"{best['under_default']} do under the default. The verdicts above do not rest on it."
    ]
    never = [str(claim) for claim in readings.get("never") or []]
    if never:
        sentences.append(f"No reading that was run gives {', '.join(never)}.")
    return sentences
