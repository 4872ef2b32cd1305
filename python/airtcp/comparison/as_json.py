"""A comparison as one object, as `airtcp compare --json` prints it."""

from pathlib import Path

from airtcp.comparison.compared import Comparison
from airtcp.comparison.context import context
from airtcp.comparison.front import Front, front
from airtcp.comparison.ranking.as_json import ranking_json
from airtcp.comparison.recommend import recommendations


def comparison_object(comparison: Comparison, page: Path | None) -> dict[str, object]:
    """The comparison as one object; the cells without their per-flow summaries."""
    cells = comparison.cells
    return {
        "scenario": cells["scenario"][0],
        "scenario_hash": cells["scenario_hash"][0],
        "engine_version": cells["engine_version"][0],
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
        "remedies": comparison.table.to_dicts(),
        "cells": cells.drop("summary", "scenario", "scenario_hash", "engine_version").to_dicts(),
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
