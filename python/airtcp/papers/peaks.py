"""The highest goodput of a run over fixed intervals, all flows together."""

import json
from typing import TYPE_CHECKING

from airtcp import _core
from airtcp._core import Scenario
from airtcp.comparison.plan import Observation

if TYPE_CHECKING:
    import polars as pl

INTERVAL_S = 6.0
"""OPNET keeps a hundred values of a statistic: over 600 s one every six seconds."""


def peak_summary(scenario: Scenario, seed: int) -> str:
    """The summary as JSON, with the highest goodput of an interval in its field `sampled`."""
    import polars as pl

    result = _core.run(scenario, seed, probes=["goodput"], probe_interval_s=INTERVAL_S)
    summary = json.loads(result.summary())
    summary["sampled"] = {"goodput_peak_bps": _highest(pl.DataFrame(result.samples()))}
    return json.dumps(summary)


def _highest(samples: "pl.DataFrame") -> float:
    of_all = samples.group_by("time_s").sum()["goodput_bps"]
    return float(of_all.max() or 0.0)  # type: ignore[arg-type]


PEAKS = Observation("peaks:", peak_summary)
"""Cells with the goodput of each interval."""
