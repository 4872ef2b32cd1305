"""The verdict of a comparison, in sentences that claim exactly as much as the numbers."""

from statistics import fmean

from airtcp.comparison.answer import answer, other_places, tally
from airtcp.comparison.compared import Comparison
from airtcp.comparison.context import why_nothing_helps, with_sender
from airtcp.comparison.control_counters import zero_sentence
from airtcp.comparison.horizon import horizon_clause
from airtcp.comparison.metrics import METRICS, Metric, needless_share
from airtcp.comparison.ranking import State
from airtcp.comparison.statistics import Outcome, PairedDifference
from airtcp.comparison.trade import goodput_clause, trade_sentence
from airtcp.comparison.words import harm_words, remedy_sentence
from airtcp.core.catalogue import BASELINE
from airtcp.core.quantities import format_count, format_percent
from airtcp.core.summary import never_opened

MAX_SAME = 3
"""Maximum number of remedies named for the lack of an interval."""


def verdict(comparison: Comparison) -> list[str]:
    """The best remedy first, then the others in order, then the baseline's impairments."""
    if all(_unopened_runs(comparison, name) == len(comparison.seeds) for name in comparison.states):
        return ["No connection opened in any run: no SYN, or no answer to one, crossed the link."]
    metric = METRICS[comparison.metric]
    sentences = [
        _sentence(comparison, name, metric, is_first=name == comparison.shown[0])
        for name in comparison.shown
    ]
    first, *others = sentences
    if comparison.is_search and not _says_nothing(comparison):
        first, *others = answer(comparison)
        others += other_places(comparison)
    elif comparison.is_search and not metric.is_of_others:
        others = []
    elif _nothing_helps(comparison) and not metric.is_of_others:
        nothing = with_sender(comparison, "Nothing here helps")
        first, others = f"{nothing}: {why_nothing_helps(comparison)}.", sentences
    traded = trade_sentence(comparison)
    harm = None if is_harm_said(comparison) else harm_sentence(comparison)
    lines = [first, traded, harm, *others, _unopened(comparison), _timeouts_sentence(comparison)]
    if comparison.is_search and not _says_nothing(comparison):
        lines.append(tally(comparison))
    if comparison.stopped:
        lines.append(f"Not everything is decided: {comparison.stopped}.")
    return [line for line in (*lines, *_zeros(comparison), interval_note(comparison)) if line]


def _zeros(comparison: Comparison) -> list[str | None]:
    """User-written controls that set a window or threshold of no segment."""
    names = {BASELINE: "The scenario's control"}
    return [
        zero_sentence(names.get(name, name), runs) for name, runs in comparison.summaries.items()
    ]


def is_harm_said(comparison: Comparison) -> bool:
    """Whether the headline already mentions the best remedy's harm to others."""
    best = comparison.ranking.best
    if not comparison.is_search or best is None:
        return False
    return best.harms_others_much or best.is_harm_open


def _says_nothing(comparison: Comparison) -> bool:
    """Whether a search has no answer: it ran one seed, or measured the harm to others."""
    if METRICS[comparison.metric].is_of_others:
        return True
    return all(by.outcome is Outcome.NO_INTERVAL and by.n == 1 for by in _differing(comparison))


def _differing(comparison: Comparison) -> list[PairedDifference]:
    return [by for by in comparison.decisive.values() if by.outcome is not Outcome.IDENTICAL]


def _nothing_helps(comparison: Comparison) -> bool:
    """Whether of several remedies, with enough seeds, all are excluded or harmful."""
    if len(comparison.decisive) < 2:
        return False
    return not any(
        one.helps or one.state is State.UNDECIDED for one in comparison.candidates.values()
    )


def _sentence(comparison: Comparison, name: str, metric: Metric, *, is_first: bool = False) -> str:
    """A remedy's effect, and its harm to others; the best one's harm has a separate line."""
    effect = remedy_sentence(name, comparison.decisive[name], metric).removesuffix(".")
    if comparison.is_as_written(name):
        effect = f"{name} changes nothing here: every run is the same, packet by packet"
    if is_first:
        effect = with_sender(comparison, effect)
    if goodput := goodput_clause(comparison, name):
        effect += f", with {goodput}"
    if is_first and name == comparison.winner:
        effect += horizon_clause(comparison)
    notes = [effect]
    if comparison.floods(name):
        needless = 100 * fmean(map(needless_share, comparison.summaries[name]))
        share = format_percent(needless, decimals=0)
        notes.append(f"it floods the link: the receiver has {share} of its segments already")
    harm = comparison.harm.get(name)
    is_harmful = name in comparison.candidates and comparison.candidates[name].harms_others_much
    if harm and is_harmful and name != comparison.best and not metric.is_of_others:
        notes.append(harm_words(harm).removesuffix(".").replace("A", "a", 1))
    return "; ".join(notes) + "."


def harm_sentence(comparison: Comparison) -> str | None:
    """The best remedy's harm to an unchanged competing flow, where measured."""
    best = comparison.winner if comparison.is_search else comparison.best
    if best not in comparison.harm or comparison.metric == "harm":
        return None
    return harm_words(comparison.harm[best])


def interval_note(comparison: Comparison) -> str | None:
    """Why there are no intervals, if so."""
    if len(comparison.seeds) == 1:
        return "One seed gives no interval: use more seeds to see how sure a difference is."
    same = [
        comparison.row_name(name)
        for name in comparison.shown
        if name in comparison.decisive and comparison.decisive[name].outcome is Outcome.NO_INTERVAL
    ]
    if not same:
        return None
    named = ", ".join(same[:MAX_SAME]) + (
        f" and {len(same) - MAX_SAME} more" * (len(same) > MAX_SAME)
    )
    return (
        f"All {len(comparison.seeds)} seeds give {named} the same difference in "
        f"{METRICS[comparison.metric].label}: that counts as one run, without an interval."
    )


def _unopened_runs(comparison: Comparison, name: str) -> int:
    """Runs in which no TCP flow completed its handshake."""
    return sum(
        all(never_opened(run, flow) for flow in run["flows"]) for run in comparison.summaries[name]
    )


def _unopened(comparison: Comparison) -> str | None:
    """The baseline's runs with zero goodput because no connection was ever established."""
    unopened = _unopened_runs(comparison, BASELINE)
    if not unopened:
        return None
    runs = len(comparison.seeds)
    return f"In {unopened} of {runs} runs of the baseline no connection got past its handshake."


def _timeouts_sentence(comparison: Comparison) -> str | None:
    """The share of spurious timeouts of the baseline, over all seeds."""
    timeouts = int(sum(comparison.values(BASELINE, "timeouts")))
    spurious = int(sum(comparison.values(BASELINE, "timeouts_spurious")))
    if not timeouts:
        return "The baseline had no timeouts."
    return (
        f"{format_count(spurious)} of {format_count(timeouts)} "
        f"{'timeout' if timeouts == 1 else 'timeouts'} of the baseline "
        f"{'was' if 1 in (timeouts, spurious) else 'were'} spurious."
    )
