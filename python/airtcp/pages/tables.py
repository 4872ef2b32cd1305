"""The tables of the report: headings, and cells as text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from airtcp.comparison.compared import Comparison
from airtcp.comparison.metrics import METRICS, Metric
from airtcp.comparison.statistics import Outcome, PairedDifference
from airtcp.comparison.words import amount, outcome_words, state_words
from airtcp.core.catalogue import BASELINE
from airtcp.core.quantities import format_bit_rate, format_bytes, format_count, format_percent

if TYPE_CHECKING:
    from airtcp.pages.plot.timeline import Timeline


@dataclass(frozen=True)
class Table:
    """A table on a page; the first `names` columns are words, the others numbers."""

    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    names: int = 1


def markdown(table: Table) -> str:
    """A table in Markdown, with the name of the baseline in italics."""
    rule = "|---" * table.names + "|---:" * (len(table.columns) - table.names) + "|"
    head, *rows = (f"| {' | '.join(row)} |" for row in (table.columns, *table.rows))
    text = "\n".join([head, rule, *rows]) + "\n"
    return text.replace(f"\n| {BASELINE} |", f"\n| *{BASELINE}* |")


def goodput_table(comparison: Comparison) -> Table:
    """Each remedy's goodput, its paired difference, and its uncertainty."""
    rows = []
    for row in _rows(comparison):
        remedy = row["remedy"]
        mean = format_bit_rate(row["goodput_bps"])
        if remedy == BASELINE:
            rows.append((remedy, "", str(row["n"]), mean, "", "", ""))
            continue
        goodput = comparison.differences[remedy]["goodput_bps"]
        percent = goodput.mean_percent
        interval = goodput.interval
        interval_percent = goodput.interval_percent
        rows.append(
            (
                comparison.row_name(remedy),
                _known(comparison, remedy),
                str(goodput.n),
                mean,
                format_bit_rate(goodput.mean, sign=True),
                "" if percent is None else format_percent(percent, sign=True),
                "none"
                if interval is None
                else _interval(*interval, lambda value: format_bit_rate(value, sign=True))
                if interval_percent is None
                else _interval(*interval_percent, lambda value: format_percent(value, sign=True)),
            )
        )
    return Table(
        ("remedy", "state", "n", "goodput", "difference", "in per cent", "95 % interval"), rows, 2
    )


def _known(comparison: Comparison, remedy: str) -> str:
    """The state of the goodput, if goodput decides."""
    if comparison.metric != "goodput":
        return outcome_words(comparison.differences[remedy]["goodput_bps"])
    one = comparison.candidates[remedy]
    return state_words(one.state, one.seeds_to_decide)


def deciding_table(comparison: Comparison) -> Table:
    """Each remedy by the metric that decides the comparison, with its goodput beside a delay."""
    metric = METRICS[comparison.metric]
    if metric.name == "goodput":
        return goodput_table(comparison)
    rows = []
    for remedy in (BASELINE, *comparison.shown):
        runs = comparison.summaries[remedy]
        known = [value for value in map(metric.of, runs) if value is not None]
        mean = metric.show(fmean(known)) if known else "none"
        goodput = format_bit_rate(fmean(float(run["goodput_bps"]) for run in runs))
        if remedy == BASELINE:
            rows.append((remedy, "", str(len(runs)), mean, "", goodput))
            continue
        change, one = comparison.decisive[remedy], comparison.candidates[remedy]
        rows.append(
            (
                comparison.row_name(remedy),
                state_words(one.state, one.seeds_to_decide),
                str(change.n),
                mean,
                _change_of(change, metric),
                goodput,
            )
        )
    return Table(("remedy", "state", "n", metric.label, "change, 95 %", "goodput"), rows, 2)


def cost_table(comparison: Comparison) -> Table:
    """Other changes: retransmissions and timeouts per run, with paired differences."""
    rows = []
    for row in _rows(comparison):
        remedy = row["remedy"]
        cells = [remedy]
        for metric, show, show_change in _COSTS:
            cells.append(show(row[metric]))
            cells.append(
                ""
                if remedy == BASELINE
                else _change(comparison.differences[remedy][metric], show_change)
            )
        rows.append(tuple(cells))
    return Table(
        (
            "remedy",
            "retransmitted",
            "change, points",
            "timeouts a run",
            "change",
            "spurious",
            "change",
        ),
        rows,
    )


def latency_table(comparison: Comparison) -> Table:
    """Latency of packets and transfers, fairness, and needless transmissions."""
    further = [name for name, one in METRICS.items() if one.column and name not in _LATENCIES]
    candidates = (*_LATENCIES, *further, "harm")
    differences = {name: comparison.compared(name) for name in candidates}
    # A metric that no run has, such as the completion time of endless flows, has no column.
    names = [
        name
        for name in candidates
        if any(
            METRICS[name].of(run) is not None for run in comparison.runs_for(name).get(BASELINE, [])
        )
    ]
    rows = []
    for remedy in (BASELINE, *comparison.shown):
        cells = [remedy]
        for name in names:
            metric = METRICS[name]
            values = map(metric.of, comparison.runs_for(name).get(remedy, []))
            known = [value for value in values if value is not None]
            change = differences[name].get(remedy)
            text = metric.show(fmean(known)) if known else "none"
            cells.append(text if change is None else f"{text}\n({_change_of(change, metric)})")
        rows.append(tuple(cells))
    return Table(("remedy", *(METRICS[name].label for name in names)), rows)


_LATENCIES = (
    *("rtt-p50", "rtt-p95", "rtt-p99", "rtt-increase", "delivery-p50", "delivery-p95"),
    *("ping-p50", "ping-p95", "ping-p99", "exchange-p50", "exchange-p95", "exchange-p99"),
    *("rpm", "rpm-foreign", "rpm-own", "call", "short-flow", "page"),
    *("completion", "fairness", "needless"),
)


def seeds_table(comparison: Comparison) -> Table:
    """The comparison figure's numbers: goodput of each seed under each remedy."""
    columns = {
        remedy: comparison.values(remedy, "goodput_bps") for remedy in (BASELINE, *comparison.shown)
    }
    rows = [
        (str(seed), *(format_bit_rate(values[index]) for values in columns.values()))
        for index, seed in enumerate(comparison.seeds)
    ]
    return Table(("seed", *columns), rows)


def timeline_rows(columns: "Sequence[Timeline]") -> Table:
    """The timeline figure's numbers in equal windows of time."""
    # Only pages have figures: output on a terminal needs no plots.
    from airtcp.pages.plot.timeline import timeline_table

    lanes = columns[0].events
    rows = [
        (
            row.run,
            f"{row.from_s:g} to {row.to_s:g} s",
            _or_none(row.cwnd_mean_bytes, format_bytes),
            _or_none(row.srtt_median_ms, _milliseconds),
            _or_none(row.rto_max_ms, _milliseconds),
            format_bit_rate(row.goodput_bps),
            *(str(row.events[lane]) for lane in lanes),
        )
        for row in timeline_table(columns)
    ]
    heads = ("run", "time", "cwnd, mean", "SRTT, median", "RTO, largest", "goodput")
    return Table((*heads, *(f"{lane.replace('-', ' ')}s" for lane in lanes)), rows, 2)


def _rows(comparison: Comparison) -> list[dict[str, Any]]:
    """The rows worth showing: the baseline, then the remedies, best first."""
    by = {row["remedy"]: row for row in comparison.rows.records()}
    return [by[remedy] for remedy in (BASELINE, *comparison.shown)]


def _share(value: float) -> str:
    return format_percent(100 * value)


def _points(value: float) -> str:
    return f"{100 * value:.1f}"


_COSTS: tuple[tuple[str, Callable[[float], str], Callable[[float], str]], ...] = (
    ("retransmitted_share", _share, _points),
    ("timeouts", format_count, format_count),
    ("timeouts_spurious", format_count, format_count),
)
"""The metric, the format of its value, and the format of its change."""


def _change(difference: PairedDifference, show: Callable[[float], str]) -> str:
    if difference.outcome is Outcome.IDENTICAL:
        return "none"
    sign = "+" if difference.mean >= 0 else "\N{MINUS SIGN}"
    text = f"{sign}{show(abs(difference.mean))}"
    half = difference.half_width
    return text if half is None else f"{text} ± {show(half)}"


def _change_of(difference: PairedDifference, metric: Metric) -> str:
    """The change in the unit of the value above it, or in per cent for an unchanged flow."""
    if difference.outcome is Outcome.IDENTICAL:
        return "none"
    if metric.is_of_others:
        return amount(difference, sign=True)
    return _change(difference, lambda value: metric.show(value).partition(" ")[0])


def _interval(low: float, high: float, show: Callable[[float], str]) -> str:
    return f"{show(low)} to {show(high)}"


def _or_none(value: float | None, show: Callable[[float], str]) -> str:
    return "none" if value is None else show(value)


def _milliseconds(value: float) -> str:
    return f"{value:.0f} ms"
