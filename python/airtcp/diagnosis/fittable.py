"""Flows that no link can be fitted to, and the reason in words."""

import numpy as np

from airtcp.diagnosis.observed import Observed

MIN_S = 0.1
"""Minimum time of delivery from which a link's rate is inferred."""
MAX_S = 86_400.0
"""Maximum duration: a longer flow has a clock that stepped, or is not limited by a link."""
COARSE_S = 1e-4
"""Maximum resolution of a clock that is precise enough, as in current captures."""
SMALLEST_BYTES = 48
"""Linux never sends smaller segments in a bulk transfer, whatever MSS the peer requests
(`tcp_min_snd_mss`).
"""
FEWEST_SAMPLES = 20
USUAL_SHARE = 0.8
"""Share of equal round trips that is not due to the clock: an emulator has round times."""

_NANOS_PER_S = 1e9


def why_no_fit(flow: Observed) -> str | None:
    """Why no link is fitted to a flow, and the remedy; None if one can be fitted.

    A flow that passes has a positive length, base round trip, median round trip and goodput.
    """
    if not flow.sampled.any():
        return "No round trip of the flow was seen: capture a longer transfer, from its start."
    if flow.base_rtt_s < 0 or not np.isfinite(flow.seconds):
        return (
            "Acknowledgments come before the data that they report: two clocks are in this "
            "capture. Capture on one host and one interface."
        )
    if flow.seconds < MIN_S:
        lasts = (
            f"The flow lasts {_short(flow.seconds)}: its times were lost, or it is too short."
            if flow.seconds > 0
            else "All packets of the flow have one time: its times were lost."
        )
        return (
            f"{lasts} Capture a transfer of a minute with tcpdump, and keep its times where a "
            "capture is converted."
        )
    if flow.seconds > MAX_S:
        return (
            f"The flow lasts {flow.seconds / 3600:.0f} hours by its times: its clock was set "
            "meanwhile, or it is no transfer that a link limits. Capture a transfer of a minute."
        )
    if _is_coarse(flow):
        return (
            "The clock of this capture is coarser than its round trips"
            f"{_ticks(tick_s(flow))}: no delay can be read from it. Capture with tcpdump or "
            "Wireshark, which keep microseconds."
        )
    if np.quantile(flow.payload, 0.9) < SMALLEST_BYTES:
        return (
            f"Nine segments in ten hold {np.quantile(flow.payload, 0.9):.0f} bytes or fewer: it is "
            "no bulk transfer, or the lengths of its packets were lost. Capture a transfer of a "
            "large file."
        )
    if flow.newly.sum() <= 0 or flow.payload.max() <= 0:
        return "No data of the flow was acknowledged: capture a longer transfer, from its start."
    return None


def has_times(flow: Observed) -> bool:
    """Whether the times of a flow show its delays, and with them causes and shares of the time."""
    return bool(flow.sampled.any()) and flow.seconds >= MIN_S and not _is_coarse(flow)


def tick_s(flow: Observed) -> float:
    """The largest common divisor of all times of the flow, in seconds; 0 if unknown."""
    times = np.concatenate([flow.sent_s, flow.ack_s])
    nanos = np.round(np.diff(np.sort(times)) * _NANOS_PER_S).astype(np.int64)
    return float(np.gcd.reduce(nanos)) / _NANOS_PER_S if len(nanos) else 0.0


def _is_coarse(flow: Observed) -> bool:
    if flow.base_rtt_s == 0 or flow.median_rtt_s == 0:
        return True
    tick = tick_s(flow)
    if tick < COARSE_S or flow.base_rtt_s > tick:
        return False
    # With a clock that is too coarse, equal round trips alternate between one tick and two.
    ticks = np.round(flow.rtt_s[flow.sampled] / tick)
    _, counts = np.unique(ticks, return_counts=True)
    return len(ticks) >= FEWEST_SAMPLES and counts.max() < USUAL_SHARE * len(ticks)


def _ticks(tick: float) -> str:
    return f" (it ticks every {_short(tick)})" if tick >= COARSE_S else ""


def _short(seconds: float) -> str:
    if seconds >= 1.0:
        return f"{seconds:.3g} s"
    if seconds >= 1e-3 or seconds <= 0:
        return f"{1e3 * seconds:.3g} ms"
    return f"{1e6 * seconds:.3g} microseconds"
