"""The trade-off of a remedy: goodput for latency, or latency for goodput; both sides shown."""

from statistics import fmean

from airtcp.comparison.calmest import LATENCY, changes_much, is_shown
from airtcp.comparison.compared import Comparison
from airtcp.comparison.metrics import METRICS
from airtcp.comparison.ranking import State
from airtcp.comparison.statistics import Outcome, PairedDifference
from airtcp.comparison.words import amount, basis
from airtcp.core.catalogue import BASELINE

_GOODPUT = "goodput"


def trade_sentence(comparison: Comparison) -> str | None:
    """The latency under the remedy recommended for its goodput."""
    name = comparison.winner
    by = None if name is None else comparison.compared(LATENCY).get(name)
    if name is None or by is None or comparison.metric != _GOODPUT or not changes_much(by):
        return None
    goes = "raises" if by.mean > 0 else "lowers"
    return f"It {goes} {_from_to(comparison, name, by)}."


def goodput_clause(comparison: Comparison, name: str) -> str | None:
    """The goodput under a remedy judged by another metric; None if it hardly changes."""
    if not METRICS[comparison.metric].may_cost_goodput:
        return None
    by = comparison.compared(_GOODPUT)[name]
    percent = by.mean_percent
    if percent is None or by.outcome is Outcome.IDENTICAL:
        return None
    size = amount(by, sign=True)
    if is_shown(by):
        return f"goodput {size}" if abs(percent) >= comparison.smallest else None
    is_open = comparison.candidates[name].cost_state is State.UNDECIDED
    if not is_open:
        return None
    return f"its goodput is undecided ({size}{'' if by.half_width is None else f'; {basis(by)}'})"


def instead_sentence(comparison: Comparison) -> str | None:
    """If nothing raises goodput: the deployable remedy that shortens latency most."""
    best = comparison.calmest
    if best is None:
        return None
    by = comparison.compared(LATENCY)[best.remedy]
    goodput = comparison.decisive[best.remedy]
    if goodput.outcome is Outcome.IDENTICAL:
        kept = "with the same goodput"
    elif best.state is State.SHOWN:
        kept = f"with goodput {amount(goodput, sign=True)}"
    else:
        kept = f"and changes goodput by less than {comparison.smallest:g} %"
    return f"{best.remedy} lowers {_from_to(comparison, best.remedy, by)}, {kept}."


def _from_to(comparison: Comparison, name: str, by: PairedDifference) -> str:
    metric = METRICS[LATENCY]

    def mean(remedy: str) -> str:
        values = [metric.of(run) for run in comparison.summaries[remedy]]
        return metric.show(fmean(value for value in values if value is not None))

    return f"{metric.phrase} from {mean(BASELINE)} to {mean(name)} ({amount(by, sign=True)})"
