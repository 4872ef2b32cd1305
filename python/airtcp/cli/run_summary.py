"""The summary of a run, as lines at a terminal or as JSON."""

from collections.abc import Callable

from airtcp.columns import numbers
from airtcp.quantities import format_bit_rate, format_bytes, format_count, format_percent
from airtcp.runs import Run
from airtcp.summary import FlowSummary, RunSummary, never_opened, retransmitted_share, total

_MOST_FLOWS_SHOWN = 4


def json_object(finished: Run, probes: list[str]) -> dict[str, object]:
    """The summary; with probes also their columns, as lists of equal length."""
    summary: dict[str, object] = {**finished.summary}
    if probes:
        summary["samples"] = finished.samples.to_dict(as_series=False)
    return summary


def print_summary(summary: RunSummary) -> None:
    """Prints a column a flow, and a line for all."""
    remedies = " + ".join(summary["remedies"]) or "as written"
    print(f"{summary['scenario']}, {remedies}, seed {summary['seed']}, {summary['duration_s']:g} s")
    flows = summary["flows"]
    shown = flows[:_MOST_FLOWS_SHOWN]
    head = ["", *(f"flow {flow['flow']}" if len(flows) > 1 else "" for flow in shown)]
    rows = _ROWS if all(flow["datagrams_sent"] == 0 for flow in flows) else _ROWS | _DATAGRAM_ROWS
    rows = rows | _MARK_ROWS if total(summary, "segments_marked") else rows
    print(numbers(head, [[name, *map(show, shown)] for name, show in rows.items()]))
    if len(flows) > 1:
        hidden = f" (the first {len(shown)} shown)" if len(flows) > len(shown) else ""
        print(
            f"{len(flows)} flows{hidden}: {format_bit_rate(summary['goodput_bps'])} in all, "
            f"{format_percent(100 * retransmitted_share(summary))} retransmitted, "
            f"{format_count(total(summary, 'timeouts'))} timeouts"
        )
    for flow in flows:
        if never_opened(summary, flow):
            print(
                f"flow {flow['flow']} never got past its handshake: no SYN, or no answer to one, "
                "crossed the link"
            )
    print(f"digest {summary['digest']}")


_ROWS: dict[str, Callable[[FlowSummary], str]] = {
    "goodput": lambda flow: format_bit_rate(flow["goodput_bps"]),
    "delivered": lambda flow: format_bytes(flow["delivered_bytes"]),
    "segments sent": lambda flow: format_count(flow["segments_sent"]),
    "retransmitted": lambda flow: format_count(flow["segments_retransmitted"]),
    "fast retransmits": lambda flow: format_count(flow["fast_retransmits"]),
    "timeouts": lambda flow: format_count(flow["timeouts"]),
    "of these spurious": lambda flow: format_count(flow["timeouts_spurious"]),
    "SRTT at the end": lambda flow: _milliseconds(flow["srtt_ms"]),
    "RTO at the end": lambda flow: _milliseconds(flow["rto_ms"]),
}

_MARK_ROWS: dict[str, Callable[[FlowSummary], str]] = {
    "marked by queues": lambda flow: format_count(flow["segments_marked"]),
}

_DATAGRAM_ROWS: dict[str, Callable[[FlowSummary], str]] = {
    "datagrams sent": lambda flow: format_count(flow["datagrams_sent"]),
    "lost": lambda flow: format_count(flow["datagrams_lost"]),
    "pings answered": lambda flow: format_count(flow["pings_answered"]),
    "one-way delay p50": lambda flow: _milliseconds(flow["delay_p50_ms"]),
    "one-way delay p95": lambda flow: _milliseconds(flow["delay_p95_ms"]),
    "one-way delay p99": lambda flow: _milliseconds(flow["delay_p99_ms"]),
    "round trip p50": lambda flow: _milliseconds(flow["rtt_p50_ms"]),
    "round trip p95": lambda flow: _milliseconds(flow["rtt_p95_ms"]),
    "round trip p99": lambda flow: _milliseconds(flow["rtt_p99_ms"]),
    "jitter": lambda flow: _milliseconds(flow["jitter_ms"]),
}


def _milliseconds(value: float | None) -> str:
    return "none" if value is None else f"{value:.1f} ms"
