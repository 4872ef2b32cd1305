"""The remedy that shortens latency most without costing goodput, with both shown."""

from collections.abc import Mapping, Sequence

from airtcp.comparison.ranking import Candidate, State
from airtcp.comparison.ranking.harm import LARGE_HARM_PERCENT
from airtcp.comparison.statistics import PairedDifference

LATENCY = "rtt-p95"
"""The latency metric to trade goodput against."""
MUCH_PERCENT = 10.0
"""A change of latency below this is not worth a sentence."""


def calmest(
    candidates: Sequence[Candidate], latency: Mapping[str, PairedDifference]
) -> Candidate | None:
    """The remedy of the lowest latency among those shown to keep nine tenths of the goodput.

    Args:
        candidates: the remedies that the asker can deploy, by goodput.
        latency: the paired difference of `LATENCY` of each.
    """
    kept = [one for one in candidates if _calms(one, latency) and _keeps_goodput(one)]
    return min(kept, key=lambda one: latency[one.remedy].mean, default=None)


def may_be_calmest(
    candidates: Sequence[Candidate], latency: Mapping[str, PairedDifference]
) -> tuple[Candidate, ...]:
    """Remedies that shorten latency more, but with undecided goodput."""
    first = calmest(candidates, latency)
    most = 0.0 if first is None else latency[first.remedy].mean
    return tuple(
        one
        for one in candidates
        if one.state is State.UNDECIDED
        and one.most > -LARGE_HARM_PERCENT
        and _calms(one, latency)
        and latency[one.remedy].mean < most
    )


def is_shown(by: PairedDifference) -> bool:
    """Whether an interval excludes zero."""
    interval = by.interval_percent or by.interval
    if interval is None:
        return by.is_exact and by.mean != 0
    return interval[0] > 0 or interval[1] < 0


def changes_much(by: PairedDifference) -> bool:
    """Whether a latency change is shown and large enough for a sentence."""
    percent = by.mean_percent
    return is_shown(by) and percent is not None and abs(percent) >= MUCH_PERCENT


def _calms(one: Candidate, latency: Mapping[str, PairedDifference]) -> bool:
    by = latency.get(one.remedy)
    return by is not None and by.mean < 0 and changes_much(by) and not one.floods


def _keeps_goodput(one: Candidate) -> bool:
    low, _ = one.interval or (one.gain, one.gain)
    return one.state is not State.UNDECIDED and low > -LARGE_HARM_PERCENT
