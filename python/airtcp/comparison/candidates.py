"""Builds the ranking's candidates from a comparison."""

from airtcp.comparison.metrics import Metric
from airtcp.comparison.ranking import Candidate, State
from airtcp.comparison.ranking.harm import LARGE_HARM_PERCENT, harm_state
from airtcp.comparison.seeds_needed import seeds_needed
from airtcp.comparison.state_of import state_of
from airtcp.comparison.statistics import PairedDifference


def candidate(
    name: str,
    metric: Metric,
    by: PairedDifference,
    goodput: PairedDifference,
    harm: PairedDifference | None,
    smallest: float,
    *,
    floods: bool,
) -> Candidate:
    """Builds a candidate.

    Args:
        name: the remedy.
        metric: the metric that decides.
        by: its paired difference.
        goodput: the paired difference of the remedy's goodput.
        harm: the paired difference in goodput of an unchanged competing flow, where measured.
        smallest: the smallest effect worth having, in per cent.
        floods: whether it fills the link with data that the receiver already has.
    """
    mean, interval = by.mean_percent, by.interval_percent
    if mean is None:
        mean, interval = by.mean, by.interval
    if not metric.is_better_higher:
        mean, interval = -mean, interval and (-interval[1], -interval[0])
    known = state_of(by, smallest)
    return Candidate(
        name,
        mean,
        interval,
        known,
        floods=floods,
        harm=None if harm is None else harm.mean_percent,
        harm_state=None
        if harm is None
        else harm_state(harm.mean_percent, harm.interval_percent, is_exact=harm.is_exact),
        seeds_to_decide=seeds_needed(by, smallest) if known is State.UNDECIDED else None,
        cost=goodput.mean_percent or 0.0,
        cost_state=cost_state(goodput) if metric.may_cost_goodput else State.EXCLUDED,
    )


def cost_state(goodput: PairedDifference) -> State:
    """Whether a remedy is shown to cost a tenth of its goodput, or that is excluded."""
    percent, interval = goodput.mean_percent, goodput.interval_percent
    if percent is None:
        return State.EXCLUDED
    if interval is None:
        if not goodput.is_exact:
            return State.UNDECIDED
        interval = (percent, percent)
    low, high = interval
    if low > -LARGE_HARM_PERCENT:
        return State.EXCLUDED
    # A loss that is shown counts by its size: more seeds would only narrow it.
    return State.SHOWN if high < 0 and percent <= -LARGE_HARM_PERCENT else State.UNDECIDED
