"""Measures of a run: numbers that claims and figures name."""

from collections.abc import Callable
from typing import Any

from airtcp.core.summary import RunSummary

Measures = dict[str, float]
"""The measurements of one run by name."""


def measures_of(summary: RunSummary) -> Measures:
    """Every measurement of a run."""
    measured = {name: of(summary) for name, of in _TOTALS.items()}
    measured |= {name: float(_sum(summary, name)) for name in COUNTS}
    sampled: dict[str, float] = summary.get("sampled", {})  # type: ignore[assignment]
    return measured | sampled


LABELS = {
    "goodput_bps": "goodput",
    "flow_goodput_bps": "goodput of a flow over its own life",
    "flow_goodput_Bps": "goodput",
    "first_flow_goodput_bps": "goodput of the first flow",
    "last_flow_goodput_bps": "goodput of the last flow",
    "other_flows_goodput_bps": "goodput of all flows but the first",
    "ping_rtt_p50_ms": "median round trip of the first pings (ms)",
    "rtt_p95_ms": "round trip, 95th percentile (ms)",
    "delay_p50_ms": "way of the packets, median (ms)",
    "delay_p95_ms": "way of the packets, 95th percentile (ms)",
    "timeouts": "timeouts a run",
    "timeouts_spurious": "spurious timeouts a run",
    "timeouts_spurious_a_minute": "spurious timeouts a minute",
    "in_flight_bytes": "data in flight (bytes)",
    "fast_retransmits": "fast retransmits a run",
    "retransmitted_percent": "segments retransmitted (%)",
    "lost_percent": "segments lost (%)",
    "loss_events_judged": "loss events",
    "judged_radio_percent": "judged random (%)",
    "below_mean_percent": "round trip below the mean (%)",
    "cwnd_mean_segments": "mean window (segments)",
    "goodput_peak_bps": "highest goodput of an interval",
    "steps_four_fifths": "reductions to four fifths",
    "steps_half": "reductions to half",
    "attempts_a_packet": "attempts a packet on the air",
}
"""Names of measurements in figures, if different from the name itself."""


def label_of(measure: str) -> str:
    """Label of a measurement on the axis of a figure."""
    return LABELS.get(measure, measure.replace("_", " "))


_QUANTITIES = {
    "goodput": (
        "goodput_bps",
        "goodput_peak_bps",
        "flow_goodput_bps",
        "flow_goodput_Bps",
        "first_flow_goodput_bps",
        "last_flow_goodput_bps",
    ),
}


def quantity_of(measure: str) -> str:
    """The quantity of a measure: goodput for all flows or for one, in bits or bytes."""
    for quantity, measures in _QUANTITIES.items():
        if measure in measures:
            return quantity
    return measure


COUNTS = (
    "timeouts",
    "timeouts_spurious",
    "fast_retransmits",
    "segments_lost_link",
    "segments_dropped_queue",
    "loss_events_judged",
    "loss_events_of_one_segment",
    "loss_events_of_two_segments",
    "loss_events_of_three_segments",
)
"""Counts, which scatter by chance."""


_OTHERS = (
    "cwnd_mean_segments",
    "steps_four_fifths",
    "steps_half",
    "goodput_peak_bps",
)
"""Of sampled runs: their window, or the peaks of their goodput."""


def _sum(summary: RunSummary, field: str) -> float:
    flows: list[Any] = list(summary["flows"])
    return float(sum(flow[field] for flow in flows))


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _flow_goodput(summary: RunSummary) -> float:
    flows = summary["flows"]
    return sum(flow["goodput_bps"] for flow in flows) / len(flows)


def _delivery_ratio(summary: RunSummary) -> float:
    lost = _sum(summary, "segments_lost_link") + _sum(summary, "segments_dropped_queue")
    return 1.0 - _share(lost, _sum(summary, "segments_sent"))


def _in_flight(summary: RunSummary) -> float:
    """Delivery in a median round trip, by Little's law: the used window."""
    return sum(
        flow["goodput_bps"] * (flow["rtt_p50_ms"] or 0.0) / 8000 for flow in summary["flows"]
    )


def _mean_over_flows(summary: RunSummary, field: str) -> float:
    """The mean over the flows that have a value; 0 without one."""
    flows: list[Any] = list(summary["flows"])
    known = [flow[field] for flow in flows if flow[field] is not None]
    return sum(known) / len(known) if known else 0.0


def _ping_rtt(summary: RunSummary) -> float:
    """Ping RTT of the first flow that pings, in milliseconds; 0 without pings or answers."""
    medians = [flow["rtt_p50_ms"] for flow in summary["flows"] if flow["pings_answered"]]
    return next((median for median in medians if median is not None), 0.0)


_TOTALS: dict[str, Callable[[RunSummary], float]] = {
    "goodput_bps": lambda summary: summary["goodput_bps"],
    "flow_goodput_bps": _flow_goodput,
    "flow_goodput_Bps": lambda summary: _flow_goodput(summary) / 8.0,
    "first_flow_goodput_bps": lambda summary: summary["flows"][0]["goodput_bps"],
    "last_flow_goodput_bps": lambda summary: summary["flows"][-1]["goodput_bps"],
    "other_flows_goodput_bps": lambda summary: sum(
        flow["goodput_bps"] for flow in summary["flows"][1:]
    ),
    "retransmitted_percent": lambda summary: (
        100 * _share(_sum(summary, "segments_retransmitted"), _sum(summary, "segments_sent"))
    ),
    "lost_percent": lambda summary: 100 * (1 - _delivery_ratio(summary)),
    "judged_radio_percent": lambda summary: (
        100 * _share(_sum(summary, "loss_events_judged_radio"), _sum(summary, "loss_events_judged"))
    ),
    "below_mean_percent": lambda summary: (
        100
        * _share(_sum(summary, "loss_events_below_mean_rtt"), _sum(summary, "loss_events_judged"))
    ),
    "in_flight_bytes": _in_flight,
    "ping_rtt_p50_ms": _ping_rtt,
    "delay_p50_ms": lambda summary: _mean_over_flows(summary, "delay_p50_ms"),
    "delay_p95_ms": lambda summary: summary["flows"][0]["delay_p95_ms"] or 0.0,
    "rtt_p95_ms": lambda summary: _mean_over_flows(summary, "rtt_p95_ms"),
    "timeouts_spurious_a_minute": lambda summary: (
        _sum(summary, "timeouts_spurious") / (summary["duration_s"] / 60.0)
    ),
    "events_processed": lambda summary: float(summary["events_processed"]),
    "attempts_a_packet": lambda summary: _share(
        _sum(summary, "attempts_on_air"), _sum(summary, "packets_on_air")
    ),
}

MEASURES = (*_TOTALS, *COUNTS, *_OTHERS)
"""The names of all measurements."""
