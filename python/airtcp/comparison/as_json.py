"""A comparison as one object, as `airtcp compare --json` prints it."""

from pathlib import Path

from airtcp.comparison.compared import Comparison
from airtcp.comparison.context import context
from airtcp.comparison.front import Front, front
from airtcp.comparison.ranking.as_json import ranking_json
from airtcp.comparison.recommend import recommendations

_OF_ALL = ("summary", "scenario", "scenario_hash", "engine_version")
"""Columns of cells that the object has once, or not."""


def comparison_object(comparison: Comparison, page: Path | None) -> dict[str, object]:
    """The comparison as one object; the cells without their per-flow summaries."""
    cells = comparison.cell_rows.records()
    return {
        "scenario": cells[0]["scenario"],
        "scenario_hash": cells[0]["scenario_hash"],
        "engine_version": cells[0]["engine_version"],
        "seeds": list(comparison.seeds),
        "metric": comparison.metric,
        "can": comparison.can,
        "smallest_percent": comparison.smallest,
        "decided": comparison.is_decided,
        "stopped": comparison.stopped or None,
        "ranking": ranking_json(comparison.ranking),
        "aims": {
            one.aim.value: {
                "metric": one.aim.metric,
                "sentence": one.sentence,
                **ranking_json(one.ranking),
            }
            for one in recommendations(comparison)
        },
        "front": _front_json(front(comparison)),
        "link_and_sender": context(comparison),
        "verdict": comparison.verdict,
        "refused": dict(comparison.refused),
        "sized": dict(comparison.sized),
        "deployment": comparison.deployment,
        "remedies": comparison.rows.records(),
        "cells": [
            {name: value for name, value in cell.items() if name not in _OF_ALL} for cell in cells
        ],
        "report": None if page is None else str(page),
    }


def _front_json(places: Front | None) -> dict[str, object] | None:
    if places is None:
        return None
    return {
        "metric": places.metric.name,
        "points": [
            {
                "remedy": point.remedy,
                "goodput_bps": point.goodput_bps,
                "latency": point.latency,
                "mark": point.mark.value,
                "by": point.by,
            }
            for point in places.points
        ],
    }
