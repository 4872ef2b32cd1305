"""The summary of a run, as lines at a terminal or as JSON."""

from collections.abc import Callable
from typing import cast

from airtcp.comparison.control_counters import zero_sentence
from airtcp.core.quantities import format_bit_rate, format_bytes, format_count, format_percent
from airtcp.core.runs import ControlReport, Run
from airtcp.core.summary import (
    FlowSummary,
    RunSummary,
    UnderLoadSummary,
    never_opened,
    retransmitted_share,
    total,
)
from airtcp.pages.columns import numbers, printable

_MAX_FLOWS_SHOWN = 4
_MAX_MESSAGES = 20
"""Printed lines of a control's messages, for each flow."""


def json_object(finished: Run, probes: list[str]) -> dict[str, object]:
    """The summary; with probes, also their columns as lists of equal length."""
    summary: dict[str, object] = {**finished.summary}
    if finished.controls:
        summary["controls"] = finished.controls
    if probes:
        columns = finished.columns("samples")
        summary["samples"] = {name: values for name, _, values in columns}
    return summary


def print_run(finished: Run) -> None:
    """Prints the summary of a run, and the counters of its controls in BPF."""
    print_summary(finished.summary)
    _print_controls(finished.controls)


def _print_controls(controls: list[ControlReport]) -> None:
    """Prints the counters of congestion controls in BPF that are not zero, and their messages."""
    for control in controls:
        counted = [f"{name} {value}" for name, value in control["counters"].items() if value]
        if counted:
            print(f"flow {control['flow']}: {', '.join(counted)}")
        for message in control["messages"][:_MAX_MESSAGES]:
            print(f"flow {control['flow']} at {message['time_s']:g} s: {message['text']}")
        if (more := len(control["messages"]) - _MAX_MESSAGES) > 0:
            print(f"flow {control['flow']}: {format_count(more)} lines more, all in --json")
        name = f"flow {control['flow']}: the control"
        if sentence := zero_sentence(name, [{"controls": [control]}]):
            print(sentence)


def print_summary(summary: RunSummary) -> None:
    """Prints one column per flow, and a line for all."""
    remedies = printable(" + ".join(summary["remedies"])) or "as written"
    name = printable(summary["scenario"])
    print(f"{name}, {remedies}, seed {summary['seed']}, {summary['duration_s']:g} s")
    flows = summary["flows"]
    shown = flows[:_MAX_FLOWS_SHOWN]
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
    for line in probe_lines(summary):
        print(line)
    for flow in flows:
        if never_opened(summary, flow):
            print(
                f"flow {flow['flow']} never got past its handshake: no SYN, or no answer to one, "
                "crossed the link"
            )
    print(f"digest {summary['digest']}")


def probe_lines(summary: RunSummary) -> list[str]:
    """Results of probes under load, one line each; empty without probes."""
    under_load = summary["under_load"]
    lines = []
    if under_load["ping_p50_ms"] is not None:
        lines.append(
            f"ping: {_three(under_load, 'ping')}, {_percent(under_load['ping_lost'])} lost"
        )
    if under_load["exchanges"]:
        lines.append(
            f"new connection with one exchange: {_three(under_load, 'exchange')}"
            f"{_unfinished(under_load['exchanges_unfinished'], under_load['exchanges'])}"
        )
    if under_load["rpm"] is not None:
        lines.append(
            f"responsiveness: {under_load['rpm']:.0f} round trips a minute "
            f"({under_load['rpm_foreign']:.0f} of other connections, "
            f"{under_load['rpm_own']:.0f} of its own)"
        )
    if under_load["call_late"] is not None:
        lines.append(f"call: {_percent(under_load['call_late'])} of its packets late or lost")
    if under_load["short_flow_mean_s"] is not None:
        lines.append(
            f"download of 30 kB: mean {under_load['short_flow_mean_s']:.3g} s, "
            f"p95 {under_load['short_flow_p95_s']:.3g} s"
            f"{_unfinished(under_load['short_flows_unfinished'], under_load['short_flows'])}"
        )
    if under_load["page_mean_s"] is not None:
        lines.append(
            f"page: mean {under_load['page_mean_s']:.3g} s, p95 {under_load['page_p95_s']:.3g} s"
            f"{_unfinished(under_load['pages_unfinished'], under_load['pages'])}"
        )
    if lines:
        added = format_bit_rate(under_load["added_bps"])
        lines = [f"under load, of which the probes are {added}:", *(f"  {line}" for line in lines)]
    return lines


def _three(under_load: UnderLoadSummary, name: str) -> str:
    values = cast(dict[str, float | None], under_load)
    return ", ".join(
        f"{words} {_milliseconds(values[f'{name}_{key}_ms'])}"
        for words, key in (("median", "p50"), ("p95", "p95"), ("p99", "p99"))
    )


def _percent(share: float | None) -> str:
    return "none" if share is None else format_percent(100 * share)


def _unfinished(number: int, of: int) -> str:
    return f" ({number} of {of} unfinished)" if number else ""


_ROWS: dict[str, Callable[[FlowSummary], str]] = {
    "goodput": lambda flow: format_bit_rate(flow["goodput_bps"]),
    "delivered": lambda flow: format_bytes(flow["delivered_bytes"]),
    "segments sent": lambda flow: format_count(flow["segments_sent"]),
    "retransmitted": lambda flow: format_count(flow["segments_retransmitted"]),
    "fast retransmits": lambda flow: format_count(flow["fast_retransmits"]),
    "timeouts": lambda flow: format_count(flow["timeouts"]),
    "of these spurious": lambda flow: format_count(flow["timeouts_spurious"]),
    "SRTT at the end": lambda flow: _milliseconds(flow["srtt_ms"]),
    "RTO at the end": lambda flow: _milliseconds(
        None if flow["datagrams_sent"] else flow["rto_ms"]
    ),
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
