"""Measures of a run: numbers that claims and figures name."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from airtcp.core.summary import RunSummary

Measures = dict[str, float]
"""The measurements of one run by name."""


@dataclass(frozen=True)
class Measure:
    """How a measure is taken from a run, and its label on the axis of a figure."""

    of: Callable[[RunSummary], float] | None
    """None: the sampled window or goodput of the run gives it (`sampled`)."""
    label: str = ""
    is_count: bool = False
    """Whether it is a count, which scatters by chance."""
    is_goodput: bool = False
    """Whether it is goodput, of all flows or of one, in bits or bytes."""


def measures_of(summary: RunSummary) -> Measures:
    """Every measurement of a run."""
    measured = {name: one.of(summary) for name, one in MEASURES.items() if one.of}
    sampled: dict[str, float] = summary.get("sampled", {})  # type: ignore[assignment]
    return measured | sampled


def label_of(measure: str) -> str:
    """Label of a measurement on the axis of a figure."""
    return MEASURES[measure].label or measure.replace("_", " ")


def quantity_of(measure: str) -> str:
    """The quantity of a measure: every goodput is the same one."""
    return "goodput" if MEASURES[measure].is_goodput else measure


def _sum(summary: RunSummary, field: str) -> float:
    flows: list[Any] = list(summary["flows"])
    return float(sum(flow[field] for flow in flows))


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _percent(summary: RunSummary, part: str, whole: str) -> float:
    return 100 * _share(_sum(summary, part), _sum(summary, whole))


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


def _count(field: str, label: str = "") -> Measure:
    return Measure(lambda summary: _sum(summary, field), label, is_count=True)


def _goodput(of: Callable[[RunSummary], float] | None, label: str) -> Measure:
    return Measure(of, label, is_goodput=True)


MEASURES = {
    "goodput_bps": _goodput(lambda run: run["goodput_bps"], "goodput"),
    "flow_goodput_bps": _goodput(_flow_goodput, "goodput of a flow over its own life"),
    "flow_goodput_Bps": _goodput(lambda run: _flow_goodput(run) / 8.0, "goodput"),
    "first_flow_goodput_bps": _goodput(
        lambda run: run["flows"][0]["goodput_bps"], "goodput of the first flow"
    ),
    "last_flow_goodput_bps": _goodput(
        lambda run: run["flows"][-1]["goodput_bps"], "goodput of the last flow"
    ),
    "other_flows_goodput_bps": Measure(
        lambda run: sum(flow["goodput_bps"] for flow in run["flows"][1:]),
        "goodput of all flows but the first",
    ),
    "retransmitted_percent": Measure(
        lambda run: _percent(run, "segments_retransmitted", "segments_sent"),
        "segments retransmitted (%)",
    ),
    "lost_percent": Measure(lambda run: 100 * (1 - _delivery_ratio(run)), "segments lost (%)"),
    "judged_radio_percent": Measure(
        lambda run: _percent(run, "loss_events_judged_radio", "loss_events_judged"),
        "judged random (%)",
    ),
    "below_mean_percent": Measure(
        lambda run: _percent(run, "loss_events_below_mean_rtt", "loss_events_judged"),
        "round trip below the mean (%)",
    ),
    "in_flight_bytes": Measure(_in_flight, "data in flight (bytes)"),
    "ping_rtt_p50_ms": Measure(_ping_rtt, "median round trip of the first pings (ms)"),
    "delay_p50_ms": Measure(
        lambda run: _mean_over_flows(run, "delay_p50_ms"), "way of the packets, median (ms)"
    ),
    "delay_p95_ms": Measure(
        lambda run: run["flows"][0]["delay_p95_ms"] or 0.0,
        "way of the packets, 95th percentile (ms)",
    ),
    "rtt_p95_ms": Measure(
        lambda run: _mean_over_flows(run, "rtt_p95_ms"), "round trip, 95th percentile (ms)"
    ),
    "timeouts_spurious_a_minute": Measure(
        lambda run: _sum(run, "timeouts_spurious") / (run["duration_s"] / 60.0),
        "spurious timeouts a minute",
    ),
    "events_processed": Measure(lambda run: float(run["events_processed"])),
    "attempts_a_packet": Measure(
        lambda run: _share(_sum(run, "attempts_on_air"), _sum(run, "packets_on_air")),
        "attempts a packet on the air",
    ),
    "timeouts": _count("timeouts", "timeouts a run"),
    "timeouts_spurious": _count("timeouts_spurious", "spurious timeouts a run"),
    "fast_retransmits": _count("fast_retransmits", "fast retransmits a run"),
    "segments_lost_link": _count("segments_lost_link"),
    "segments_dropped_queue": _count("segments_dropped_queue"),
    "loss_events_judged": _count("loss_events_judged", "loss events"),
    "loss_events_of_one_segment": _count("loss_events_of_one_segment"),
    "loss_events_of_two_segments": _count("loss_events_of_two_segments"),
    "loss_events_of_three_segments": _count("loss_events_of_three_segments"),
    "cwnd_mean_segments": Measure(None, "mean window (segments)"),
    "steps_four_fifths": Measure(None, "reductions to four fifths"),
    "steps_half": Measure(None, "reductions to half"),
    "goodput_peak_bps": _goodput(None, "highest goodput of an interval"),
}
"""All measurements by name."""
