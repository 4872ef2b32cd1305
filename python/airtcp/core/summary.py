"""The summary of one run: the fields of `airtcp run --json`.

The fields are those declared by `crates/sim/src/result/`, generated from its schema.
"""

from typing import Literal, TypedDict, cast

Count = Literal[
    "delivered_bytes",
    "arrived_bytes",
    "segments_sent",
    "segments_retransmitted",
    "timeouts",
    "timeouts_spurious",
    "timeouts_acknowledgments_lost",
    "fast_retransmits",
    "segments_marked",
]
"""Fields of a flow that are counts, and so can be summed over flows."""


class FlowSummary(TypedDict):
    """One flow of a run; counts are the sender's and exact: the simulator knows every arrival.

    `docs/reference/results.md` documents each field.
    """

    # generated: flow
    flow: int
    opened: bool
    goodput_bps: float
    delivered_bytes: int
    arrived_bytes: int
    segments_sent: int
    segments_retransmitted: int
    bytes_retransmitted: int
    timeouts: int
    timeouts_spurious: int
    timeouts_acknowledgments_lost: int
    fast_retransmits: int
    recoveries_taken_back: int
    tail_probes: int
    loss_events_of_radio: int
    loss_events_of_radio_judged_right: int
    loss_events_of_congestion: int
    loss_events_of_congestion_judged_right: int
    loss_events_judged: int
    loss_events_judged_radio: int
    loss_events_below_mean_rtt: int
    loss_events_of_one_segment: int
    loss_events_of_two_segments: int
    loss_events_of_three_segments: int
    segments_dropped_queue: int
    segments_lost_link: int
    segments_marked: int
    duplicate_segments_received: int
    srtt_ms: float | None
    rto_ms: float
    sender_min_rtt_ms: float | None
    cwnd_bytes: int
    min_rtt_ms: float | None
    rtt_p50_ms: float | None
    rtt_p95_ms: float | None
    rtt_p99_ms: float | None
    delay_p50_ms: float | None
    delay_p95_ms: float | None
    delay_p99_ms: float | None
    delivery_p50_ms: float | None
    delivery_p95_ms: float | None
    delivery_p99_ms: float | None
    datagrams_sent: int
    datagrams_received: int
    datagrams_lost: int
    pings_answered: int
    ping_answers_lost: int
    jitter_ms: float | None
    packets_on_air: int
    attempts_on_air: int
    transfers_completed: int
    transfer_mean_s: float | None
    proxy_segments_sent: int
    proxy_segments_retransmitted: int
    proxy_timeouts: int
    started_s: float
    completed_s: float | None
    # end


LatencyKind = Literal["rtt_ms", "delay_ms", "delivery_ms"]
"""Latencies of a run that are stored as quantiles."""


class LatencySummary(TypedDict):
    """Latency over all flows of a run, as quantiles at `percent`."""

    # generated: latency
    percent: list[float]
    rtt_ms: list[float]
    delay_ms: list[float]
    delivery_ms: list[float]
    # end


class UnderLoadSummary(TypedDict):
    """Results of probes under load; None and 0 without probes."""

    # generated: under_load
    ping_p50_ms: float | None
    ping_p95_ms: float | None
    ping_p99_ms: float | None
    ping_lost: float | None
    exchanges: int
    exchanges_unfinished: int
    exchange_p50_ms: float | None
    exchange_p95_ms: float | None
    exchange_p99_ms: float | None
    rpm_foreign: float | None
    rpm_own: float | None
    rpm: float | None
    call_late: float | None
    short_flows: int
    short_flows_unfinished: int
    short_flow_mean_s: float | None
    short_flow_p95_s: float | None
    pages: int
    pages_unfinished: int
    page_mean_s: float | None
    page_p95_s: float | None
    added_bps: float
    # end


class RunSummary(TypedDict):
    """One run: the totals, and `flows` with one entry per flow."""

    # generated: run
    scenario: str
    description: str
    seed: int
    duration_s: float
    engine_version: str
    digest: str
    remedies: list[str]
    goodput_bps: float
    fairness: float | None
    events_processed: int
    latency: LatencySummary
    under_load: UnderLoadSummary
    flows: list[FlowSummary]
    # end


def parse_summary(text: str) -> RunSummary:
    """The core's JSON text as a typed dictionary."""
    import msgspec

    return cast(RunSummary, msgspec.json.decode(text))


def has_latency(summary: RunSummary) -> bool:
    """Whether packet latency was measured, apart from the sender's RTT samples.

    A run stored by an earlier engine has the sender's samples under some of the same names.
    """
    return "latency" in cast(dict[str, object], summary)


def never_opened(summary: RunSummary, flow: FlowSummary) -> bool:
    """Whether a TCP flow that started never completed its handshake, so that it only has zeros."""
    started = flow["started_s"] < summary["duration_s"]
    return started and not flow["opened"] and flow["datagrams_sent"] == 0


def total(summary: RunSummary, field: Count) -> int:
    """The sum of a count `field` over the flows of a run."""
    return sum(flow[field] for flow in summary["flows"])


def retransmitted_share(summary: RunSummary) -> float:
    """The share of all segments sent that were retransmissions, 0 to 1; 0 without segments."""
    sent = total(summary, "segments_sent")
    return total(summary, "segments_retransmitted") / sent if sent else 0.0
