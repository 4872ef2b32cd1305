"""A measured link in words: findings on the idle link, and remedies that would help."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from airtcp.comparison.compare import compare
from airtcp.comparison.ranking.aims import COMPANIONS
from airtcp.comparison.recommend import recommendations
from airtcp.core.recordings.events import find_events
from airtcp.core.recordings.log import FEWEST, PingLog
from airtcp.diagnosis.ping_findings import find, said
from airtcp.measure.measurement import Measurement
from airtcp.measure.phase import Phase
from airtcp.measure.probes import INTERVAL_S

_SEEDS = 3
_FASTEST_BPS = 150e6
"""Maximum rate of a link for a comparison by default: every remedy's runs would take minutes."""


def what_is_wrong(phase: Phase) -> list[str]:
    """The findings in sentences; empty if too few pings were answered."""
    rtt_ms = np.array([np.nan if rtt is None else rtt for _, rtt in phase.probes])
    if np.count_nonzero(~np.isnan(rtt_ms)) < FEWEST:
        return []
    left_s = np.array([left for left, _ in phase.probes], dtype=np.float64)
    log = PingLog(Path(phase.way), left_s, rtt_ms / 1e3, INTERVAL_S, "stamps")
    return said(log, find(log, find_events(log)))


def is_slow_enough(found: Measurement) -> bool:
    """Whether remedies can be compared on the link within seconds."""
    return max((phase.goodput_bps or 0.0 for phase in found.loaded), default=0.0) <= _FASTEST_BPS


def what_helps(link: str, can: str, progress: Callable[[float, str], object]) -> list[str]:
    """The sentences of a comparison on the link, a scenario, with few seeds.

    `can` are the places that may be changed, as in `airtcp.compare`.
    """
    comparison = compare(
        link,
        seeds=_SEEDS,
        settings={"flows.under_load": list(COMPANIONS)},
        can=can,
        horizon=True,
        progress=lambda done, cells: progress(done / cells, f"{done} of {cells} runs"),
    )
    return [comparison.verdict[0], *(one.sentence for one in recommendations(comparison))]
