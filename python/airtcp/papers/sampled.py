"""Results of sampled runs: of the congestion window, and of the goodput over intervals."""

import json
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from airtcp import _core
from airtcp._core import Scenario
from airtcp.comparison.plan import Observation

_INTERVAL_S = 0.05
PEAK_INTERVAL_S = 6.0
"""OPNET keeps a hundred values of a statistic: over 600 s one every six seconds."""


@dataclass(frozen=True)
class Window:
    """The window of one flow against time: `time_s` and `cwnd_segments`."""

    time_s: list[float]
    cwnd_segments: list[float]


def watched(scenario: Scenario, seed: int, segment_bytes: int = 1448) -> tuple[str, Window]:
    """Runs a scenario with the window of its first flow sampled every 50 ms, until it is complete.

    Returns:
        The summary as JSON, with the results of the samples in its field `sampled`; and the window.
    """
    result = _core.run(
        scenario, seed, probes=["cwnd", "ssthresh"], probe_interval_s=_INTERVAL_S, events=True
    )
    summary = json.loads(result.summary())
    end = summary["flows"][0]["completed_s"] or summary["duration_s"]
    samples = result.samples()
    of_flow = (samples.wholes("flow") == 0) & (samples.reals("time_s") <= end)
    times = samples.reals("time_s")[of_flow].tolist()
    cwnd = samples.reals("cwnd_bytes")[of_flow]
    windows = (cwnd / segment_bytes).tolist()
    fifths, halves = _steps(cwnd.tolist(), samples.reals("ssthresh_bytes")[of_flow].tolist())
    summary["sampled"] = {
        "cwnd_mean_segments": sum(windows) / len(windows) if windows else 0.0,
        "steps_four_fifths": float(fifths),
        "steps_half": float(halves),
    }
    return json.dumps(summary), Window(times, windows)


def watched_summary(scenario: Scenario, seed: int) -> str:
    """The summary without the window, for a cell of a study."""
    return watched(scenario, seed)[0]


def peak_summary(scenario: Scenario, seed: int) -> str:
    """The summary as JSON, with the highest goodput of all flows together over an interval."""
    result = _core.run(scenario, seed, probes=["goodput"], probe_interval_s=PEAK_INTERVAL_S)
    samples = result.samples()
    highest = _highest_sum(samples.reals("time_s"), samples.reals("goodput_bps"))
    summary = json.loads(result.summary()) | {"sampled": {"goodput_peak_bps": highest}}
    return json.dumps(summary)


WATCHED = Observation("watched to the end:", watched_summary)
"""Cells with a window sampled until the flow was complete."""
PEAKS = Observation("peaks:", peak_summary)
"""Cells with the goodput of each interval."""


def _highest_sum(times: NDArray[np.float64], values: NDArray[np.float64]) -> float:
    """The highest sum over the values of one time; 0 without any."""
    instants, rows = np.unique(times, return_inverse=True)
    sums = np.bincount(rows, np.nan_to_num(values), len(instants))
    return float(sums.max(initial=0.0))


def _steps(windows: list[float], thresholds: list[float]) -> tuple[int, int]:
    """Number of times that ssthresh fell to about four fifths of the window, and to half.

    Args:
        windows: bytes, in the order of time.
        thresholds: bytes; NaN before the first.
    """
    fifths = halves = 0
    for index in range(1, len(windows)):
        before, now = thresholds[index - 1], thresholds[index]
        if math.isnan(now) or now == before or not windows[index - 1]:
            continue
        ratio = now / windows[index - 1]
        if 0.7 <= ratio <= 0.9:
            fifths += 1
        elif ratio < 0.65:
            halves += 1
    return fifths, halves
