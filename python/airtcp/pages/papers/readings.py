"""Open points of a paper, and the joint reading that serves it best, on a page.

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


def nearest(paper: Mapping[str, Any]) -> tuple[str, Table] | None:
    """The readings nearest to the paper, and the rank of the default."""
    found = (paper.get("readings") or {}).get("chosen_by")
    if not found:
        return None
    scanned = f" ({found['scanned']} scanned)" if found["scanned"] else ""
    stands = "is among" if found["default_is_among_nearest"] else "is not among"
    sentence = (
        f"Of {found['run']} readings run{scanned}, {found['alike']} are not told apart from the "
        f"nearest to the paper; the default {stands} them. {found['without_vote']} break a fact "
        "that the default keeps, and have no vote."
    )
    rows = [
        (
            ", ".join(row["reading"]) or "the default",
            ", ".join(row["breaks"]) or "none",
            f"{row['error']:.2f}",
            f"{row['held_out']:.2f}",
        )
        for row in found["field"]
    ]
    columns = ("reading", "facts broken", "error", "error of what was held out")
    return sentence, Table(columns, rows)


def _run_of(readings: Mapping[str, Any]) -> str:
    """Number of readings run, out of all."""
    run, admissible = int(readings["run"]), int(readings.get("admissible", 0))
    return f"{run} readings" if run >= admissible else f"{run} readings run, of {admissible}"


def _without_marks(text: object) -> str:
    """Removes the marks of code in Markdown."""
    return str(text).replace("`", "")


def best_reading(paper: Mapping[str, Any]) -> list[str]:
    """The joint reading that reproduces most claims, and claims that no reading gives."""
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
