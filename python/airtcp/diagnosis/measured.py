"""Findings on the idle link from the pings of a measurement."""

from pathlib import Path

import numpy as np

from airtcp.core.recordings.events import find_events
from airtcp.core.recordings.log import FEWEST, PingLog
from airtcp.diagnosis.ping_findings import said
from airtcp.measure.phase import Phase
from airtcp.measure.probes import INTERVAL_S


def what_is_wrong(phase: Phase) -> list[str]:
    """The findings in sentences; empty if too few pings were answered."""
    rtt_ms = np.array([np.nan if rtt is None else rtt for _, rtt in phase.probes])
    if np.count_nonzero(~np.isnan(rtt_ms)) < FEWEST:
        return []
    left_s = np.array([left for left, _ in phase.probes], dtype=np.float64)
    log = PingLog(Path(phase.way), left_s, rtt_ms / 1e3, INTERVAL_S, "stamps")
    return said(log, find_events(log))
