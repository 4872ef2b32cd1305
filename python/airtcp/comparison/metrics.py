"""Metrics of a comparison: the measurements of a run, each with its unit and better direction."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import fmean
from typing import cast

from airtcp._core import ScenarioError
from airtcp.core.quantities import format_bit_rate, format_count, format_percent
from airtcp.core.summary import FlowSummary, RunSummary, has_latency, retransmitted_share, total


@dataclass(frozen=True)
class Metric:
    """A measurement of a run."""

    name: str
    """Name for `airtcp compare --metric`."""
    label: str
    """Column heading."""
    is_better_higher: bool
    of: Callable[[RunSummary], float | None]
    """The measurement; None if the run lacks it, such as completion times of endless flows."""
    show: Callable[[float], str]
    """A value with its unit."""
    under_load: tuple[str, ...] = ()
    """Probes needed under load, any one of them: `flows.under_load`."""
    is_of_others: bool = False
    """Whether it is measured on an unchanged competing flow (`study/competing.py`)."""
    may_cost_goodput: bool = True
    """Whether it can be improved by sending less: then a remedy that costs a tenth of the goodput
    does not help.
    """

    column: str = ""
    """Heading of its column in the table that `airtcp compare` prints; no column if empty."""

    function: object = None
    """The user's function it was made from, to distinguish functions with the same name."""

    @property
    def phrase(self) -> str:
        """In a sentence: "raises goodput", "lowers the median round-trip time"."""
        return self.label if self.label.startswith(_WITHOUT_ARTICLE) else f"the {self.label}"


_WITHOUT_ARTICLE = ("goodput", "timeouts", "spurious", "power", "fairness", "responsiveness")


def _mean(values: Iterable[float | None]) -> float | None:
    """The mean over the flows that have a value."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _latency(field: str) -> Callable[[RunSummary], float | None]:
    def measure(summary: RunSummary) -> float | None:
        if not has_latency(summary):
            return None
        flows = (cast(dict[str, float | None], flow) for flow in summary["flows"])
        return _mean(flow[field] for flow in flows)

    return measure


def _rtt_increase(summary: RunSummary) -> float | None:
    if not has_latency(summary):
        return None
    return _mean(
        None if median is None or least is None else median - least
        for median, least in ((flow["rtt_p50_ms"], flow["min_rtt_ms"]) for flow in summary["flows"])
    )


def _completion(flow: FlowSummary) -> float | None:
    if flow["completed_s"] is not None:
        return flow["completed_s"] - flow["started_s"]
    return flow["transfer_mean_s"]


def needless_share(summary: RunSummary) -> float:
    """The share of all segments sent that brought the receiver nothing new, 0 to 1."""
    sent = total(summary, "segments_sent")
    needless = sum(flow["duplicate_segments_received"] for flow in summary["flows"])
    return needless / sent if sent else 0.0


def _milliseconds(value: float) -> str:
    return f"{value:.1f} ms"


def _seconds(value: float) -> str:
    return f"{value:.3g} s"


def _share(value: float) -> str:
    return format_percent(100 * value)


def _index(value: float) -> str:
    return f"{value:.3f}"


def _of_latency(name: str, label: str, field: str | None = None, column: str = "") -> Metric:
    field = field or f"{name.replace('-', '_')}_ms"
    return Metric(name, label, False, _latency(field), _milliseconds, column=column)


def _under_load(
    name: str,
    label: str,
    field: str,
    companion: str,
    show: Callable[[float], str],
    *,
    is_better_higher: bool = False,
    column: str = "",
) -> Metric:
    def measure(summary: RunSummary) -> float | None:
        # Runs of earlier engines have no probes under load.
        return cast(dict[str, float | None], summary.get("under_load", {})).get(field)

    return Metric(
        name, label, is_better_higher, measure, show, under_load=(companion,), column=column
    )


def _power(summary: RunSummary) -> float | None:
    """Goodput over delay, in Mbit/s per millisecond of the round trips used for responsiveness.

    Kleinrock, "Power and deterministic rules of thumb", ICC 1979.
    """
    rpm = cast(dict[str, float | None], summary.get("under_load", {})).get("rpm")
    return None if rpm is None else summary["goodput_bps"] / 1e6 * rpm / _MILLISECONDS_PER_MINUTE


_MILLISECONDS_PER_MINUTE = 60_000.0


def _round_trips(value: float) -> str:
    return f"{value:.0f} RPM"


def _megabits_per_millisecond(value: float) -> str:
    return f"{value:.3g} Mbit/s per ms"


METRICS = {
    metric.name: metric
    for metric in (
        Metric(
            "goodput",
            "goodput",
            True,
            lambda run: run["goodput_bps"],
            format_bit_rate,
            may_cost_goodput=False,
        ),
        Metric("retransmitted", "share retransmitted", False, retransmitted_share, _share),
        Metric("needless", "share sent needlessly", False, needless_share, _share),
        Metric("timeouts", "timeouts", False, lambda run: total(run, "timeouts"), format_count),
        Metric(
            "spurious",
            "spurious timeouts",
            False,
            lambda run: total(run, "timeouts_spurious"),
            format_count,
        ),
        _of_latency("rtt-p50", "median round-trip time", column="RTT p50"),
        _of_latency("rtt-p95", "95th percentile of the RTT", column="p95"),
        _of_latency("rtt-p99", "99th percentile of the RTT"),
        Metric("rtt-increase", "rise of the RTT under load", False, _rtt_increase, _milliseconds),
        _of_latency("delay-p50", "median one-way delay"),
        _of_latency("delay-p95", "95th percentile of the one-way delay"),
        _of_latency("delay-p99", "99th percentile of the one-way delay"),
        _of_latency("delivery-p50", "median time to delivery"),
        _of_latency("delivery-p95", "95th percentile of the time to delivery"),
        _of_latency("delivery-p99", "99th percentile of the time to delivery"),
        _of_latency("sender-srtt", "smoothed RTT that the sender believes at the end", "srtt_ms"),
        Metric(
            "completion",
            "completion time",
            False,
            lambda run: _mean(_completion(flow) for flow in run["flows"]),
            _seconds,
            may_cost_goodput=False,
        ),
        *(
            _under_load(
                f"ping-p{share}",
                f"{words} of a ping under load",
                f"ping_p{share}_ms",
                "ping",
                _milliseconds,
                column=column,
            )
            for share, words, column in (
                (50, "median round trip", ""),
                (95, "95th percentile of the round trip", "ping p95"),
                (99, "99th percentile of the round trip", ""),
            )
        ),
        *(
            _under_load(
                f"exchange-p{share}",
                f"{words} of a new connection's exchange under load",
                f"exchange_p{share}_ms",
                "exchange",
                _milliseconds,
                column=column,
            )
            for share, words, column in (
                (50, "median time", ""),
                (95, "95th percentile of the time", "exchange p95"),
                (99, "99th percentile of the time", ""),
            )
        ),
        *(
            _under_load(
                name, label, field, "exchange", _round_trips, is_better_higher=True, column=column
            )
            for name, label, field, column in (
                ("rpm", "responsiveness", "rpm", "responsiveness"),
                ("rpm-foreign", "responsiveness of other connections", "rpm_foreign", ""),
                ("rpm-own", "responsiveness of its own connections", "rpm_own", ""),
            )
        ),
        _under_load(
            "call",
            "share of a call that is late or lost",
            "call_late",
            "call",
            _share,
            column="call late",
        ),
        _under_load(
            "short-flow",
            "time of a short download under load",
            "short_flow_mean_s",
            "short-flow",
            _seconds,
            column="30 kB",
        ),
        _under_load(
            "page", "time to load a page under load", "page_mean_s", "page", _seconds, column="page"
        ),
        Metric(
            "power",
            "power",
            True,
            _power,
            _megabits_per_millisecond,
            under_load=("exchange",),
            may_cost_goodput=False,
        ),
        Metric("fairness", "fairness (Jain)", True, lambda run: run["fairness"], _index),
        Metric(
            "harm",
            "goodput of a competing flow",
            True,
            lambda run: run["flows"][-1]["goodput_bps"],
            format_bit_rate,
            is_of_others=True,
            may_cost_goodput=False,
        ),
    )
}
"""Every metric by name; the first is the default of a comparison."""


def metric_named(name: str) -> Metric:
    """The metric of that name.

    Raises:
        ScenarioError: unknown metric.
    """
    if name not in METRICS:
        raise ScenarioError(f'metric "{name}": expected one of {", ".join(METRICS)}')
    return METRICS[name]
