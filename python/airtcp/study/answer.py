"""The answer of a search for who asks: the best that they can deploy, and what is elsewhere."""

from airtcp.quantities import format_percent
from airtcp.ranking import Candidate, State
from airtcp.study.compare import ComparedRuns
from airtcp.study.context import why_nothing_helps
from airtcp.study.difference_words import amount, basis, remedy_sentence
from airtcp.study.metrics import METRICS, Metric
from airtcp.study.statistics import Outcome
from airtcp.study.trade import instead_sentence

_MOST_NAMED = 3


def answer(comparison: ComparedRuns) -> list[str]:
    """The headline, and what qualifies it."""
    ranking = comparison.ranking
    if ranking.best is not None:
        lines = [_headline(comparison, ranking.best)]
        if ranking.larger_with_harm is not None:
            lines.append(_larger(comparison, ranking.larger_with_harm))
    elif ranking.nothing_helps:
        lines = [_nothing(comparison, instead_sentence(comparison))]
    else:
        lines = [_nothing_yet(comparison)]
        if instead := instead_sentence(comparison):
            lines.append(instead)
    larger = tuple(one for one in ranking.undecided if one.interval is not None)
    if ranking.best is not None and larger:
        lines.append(f"Undecided: {_named(comparison, larger)}.")
    if ranking.reach.is_of_many:
        lines.append(
            f"The flows of {ranking.reach.machines} machines are added up, all changed alike: one "
            "that changes alone may gain less, or lose (flows.unchanged tells)."
        )
    if ranking.reach.assumes_sender:
        lines.append(
            "The link does not tell which end is yours: yours is taken for the sender. Say "
            "--can receiver if it receives."
        )
    return lines


def other_places(comparison: ComparedRuns) -> list[str]:
    """A line for each place that the asker cannot change and that has a remedy."""
    metric = METRICS[comparison.metric]
    lines = []
    for other in comparison.ranking.elsewhere:
        difference = comparison.decisive[other.best.remedy]
        size = amount(difference, sign=True, metric=metric)
        lines.append(f"{other.place}: {other.best.remedy} {size}{_harm(other.best)}.")
    return lines


def tally(comparison: ComparedRuns) -> str:
    """All remedies in numbers."""
    candidates = list(comparison.candidates.values())
    helpful = sum(one.helps for one in candidates)
    undecided = sum(one.state is State.UNDECIDED for one in candidates)
    excluded = sum(one.state is State.EXCLUDED for one in candidates)
    harmful = len(candidates) - helpful - undecided - excluded
    return (
        f"Of {len(candidates)} remedies that have a place on this link {helpful} "
        f"{'helps' if helpful == 1 else 'help'}, {harmful} {'does' if harmful == 1 else 'do'} "
        f"harm, {excluded} {'changes' if excluded == 1 else 'change'} less than "
        f"{_percent(comparison.smallest)}, and {undecided} {'is' if undecided == 1 else 'are'} "
        "undecided; the intervals hold for all of them at once."
    )


def _headline(comparison: ComparedRuns, best: Candidate) -> str:
    metric = METRICS[comparison.metric]
    sentence = remedy_sentence(best.remedy, comparison.decisive[best.remedy], metric)
    sentence = sentence.removesuffix(".") + _harm(best)
    if best.floods:
        sentence += "; it floods the link with what the receiver has already"
    reach = comparison.ranking.reach
    place = "" if reach.is_all else f"At {reach.words} "
    return f"{place}{sentence}{_more(comparison, best)}."


def _more(comparison: ComparedRuns, best: Candidate) -> str:
    """The undecided remedy with a larger estimate than the best shown one, if any has."""
    undecided = [one for one in comparison.ranking.undecided if one.gain > best.gain]
    if not undecided:
        return ""
    first = max(undecided, key=lambda one: one.gain)
    size = amount(comparison.decisive[first.remedy], sign=True, metric=METRICS[comparison.metric])
    return f"; {first.remedy} may bring more ({size}, undecided)"


def _larger(comparison: ComparedRuns, larger: Candidate) -> str:
    size = amount(comparison.decisive[larger.remedy], sign=True, metric=METRICS[comparison.metric])
    return f"{larger.remedy} would bring {size}{_harm(larger)}."


def _harm(one: Candidate) -> str:
    if not one.harms_others_much or one.harm is None:
        return ""
    return f", but takes {_percent(-one.harm)} of its goodput from an unchanged flow beside it"


def _nothing(comparison: ComparedRuns, instead: str | None) -> str:
    """That nothing helps, and what shortens latency all the same."""
    helps = "raises goodput" if instead else "helps"
    but = f", but {instead.removesuffix('.')}" if instead else ""
    ranking = comparison.ranking
    number = len(comparison.remedies) - 1 if ranking.reach.is_all else len(ranking.deployable)
    tried = f"{number} {'remedy' if number == 1 else 'remedies'} tried"
    if ranking.reach.is_all:
        return f"Nothing {helps} here ({tried}): {why_nothing_helps(comparison)}{but}."
    nothing = f"Nothing at {ranking.reach.words} {helps} here ({tried})"
    if ranking.elsewhere:
        # What the link suffers from is no reason where another place can mend it.
        best = max((other.best for other in ranking.elsewhere), key=lambda one: one.gain)
        other = next(one for one in ranking.elsewhere if one.best is best)
        size = amount(comparison.decisive[best.remedy], sign=True, metric=_metric(comparison))
        return f"{nothing}; {_within(other.place)}, {best.remedy} does: {size}{_harm(best)}{but}."
    return f"{nothing}: {why_nothing_helps(comparison)}{but}."


def _within(place: str) -> str:
    """A place as it stands within a sentence."""
    return place[0].lower() + place[1:] if place.startswith("At ") else "though no Linux has it"


def _metric(comparison: ComparedRuns) -> Metric:
    return METRICS[comparison.metric]


def _nothing_yet(comparison: ComparedRuns) -> str:
    reach = comparison.ranking.reach
    where = "" if reach.is_all else f" at {reach.words}"
    number = len(comparison.seeds)
    worth = _percent(comparison.smallest)
    return (
        f"Undecided after {number} {'seed' if number == 1 else 'seeds'}: no remedy{where} is shown "
        f"to bring {worth}, and not ruled out {_is_or_are(comparison)}."
    )


def _is_or_are(comparison: ComparedRuns) -> str:
    open_ones = comparison.ranking.undecided
    rows = {comparison.alike[one.remedy] for one in open_ones}
    return f"{'is' if len(rows) == 1 else 'are'} {_named(comparison, open_ones)}"


def _named(comparison: ComparedRuns, candidates: tuple[Candidate, ...]) -> str:
    """Undecided remedies with their effects so far, and the seeds that would decide them."""
    metric = METRICS[comparison.metric]
    shown: dict[tuple[str, ...], str] = {}
    for one in candidates:
        difference = comparison.decisive[one.remedy]
        if difference.outcome is Outcome.IDENTICAL:
            text = f"{comparison.row_name(one.remedy)} (the same on {difference.n} seeds so far)"
            shown.setdefault(comparison.alike[one.remedy], text)
            continue
        seeds = f"; about {one.seeds_to_decide} seeds would decide" if one.seeds_to_decide else ""
        text = (
            f"{comparison.row_name(one.remedy)} ({amount(difference, sign=True, metric=metric)}, "
            f"{basis(difference)}{seeds})"
        )
        shown.setdefault(comparison.alike[one.remedy], text)
    parts = list(shown.values())
    more = f" and {len(parts) - _MOST_NAMED} more" if len(parts) > _MOST_NAMED else ""
    return ", ".join(parts[:_MOST_NAMED]) + more


def _percent(value: float) -> str:
    return format_percent(value, decimals=0 if value == round(value) or value >= 10 else 1)
