"""What a remedy trades: goodput for latency, or latency for goodput."""

from statistics import fmean

from airtcp.catalogue import BASELINE
from airtcp.ranking import State
from airtcp.study.compare import ComparedRuns
from airtcp.study.difference_words import amount
from airtcp.study.metrics import METRICS
from airtcp.study.statistics import Outcome, PairedDifference

LATENCY = "rtt-p95"
_MUCH_PERCENT = 10.0
"""A change of latency below this is not worth a sentence."""
_GOODPUT = "goodput"


def trade_sentence(comparison: ComparedRuns) -> str | None:
    """The other one of goodput and latency under the remedy that is recommended."""
    name = comparison.winner
    if name is None:
        return None
    if comparison.metric.startswith("rtt"):
        by = comparison.compared(_GOODPUT).get(name)
        percent = None if by is None else by.mean_percent
        if by is None or percent is None or not _is_shown(by) or abs(percent) < comparison.smallest:
            return None
        return f"{_goes(by)} goodput by {amount(by)}."
    by = comparison.compared(LATENCY).get(name)
    if comparison.metric != _GOODPUT or by is None or not _changes_much(by):
        return None
    return f"{_goes(by)} {_from_to(comparison, name, by)}."


def instead_sentence(comparison: ComparedRuns) -> str | None:
    """Where nothing raises goodput: the remedy within reach that shortens latency most.

    One that is shown to cost goodput is none of them.
    """
    if comparison.metric != _GOODPUT:
        return None
    latency = comparison.compared(LATENCY)
    lowering = [
        one
        for one in comparison.ranking.deployable
        if one.remedy in latency
        and _changes_much(latency[one.remedy])
        and latency[one.remedy].mean < 0
        and not (one.state is State.SHOWN and one.gain < 0)
        and not one.floods
    ]
    if not lowering:
        return None
    best = min(lowering, key=lambda one: latency[one.remedy].mean)
    by = latency[best.remedy]
    goodput = comparison.decisive[best.remedy]
    same = (
        "the same goodput"
        if goodput.outcome is Outcome.IDENTICAL
        else f"goodput {amount(goodput, sign=True)}"
    )
    return f"{best.remedy} lowers {_from_to(comparison, best.remedy, by)}, with {same}."


def _goes(by: PairedDifference) -> str:
    return "It raises" if by.mean > 0 else "It lowers"


def _from_to(comparison: ComparedRuns, name: str, by: PairedDifference) -> str:
    metric = METRICS[LATENCY]

    def mean(remedy: str) -> str:
        values = [metric.of(run) for run in comparison.summaries[remedy]]
        return metric.show(fmean(value for value in values if value is not None))

    return f"the {metric.label} from {mean(BASELINE)} to {mean(name)} ({amount(by, sign=True)})"


def _is_shown(by: PairedDifference) -> bool:
    interval = by.interval_percent
    if interval is None:
        return by.is_exact and by.mean != 0
    return interval[0] > 0 or interval[1] < 0


def _changes_much(by: PairedDifference) -> bool:
    percent = by.mean_percent
    return _is_shown(by) and percent is not None and abs(percent) >= _MUCH_PERCENT
