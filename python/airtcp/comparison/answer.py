"""The answer of a search to the asker: the best deployable remedy, and remedies elsewhere."""

from collections.abc import Sequence

from airtcp.comparison.compared import MAX_NAMED, Comparison
from airtcp.comparison.context import why_nothing_helps, with_sender
from airtcp.comparison.horizon import horizon_clause
from airtcp.comparison.metrics import METRICS, Metric
from airtcp.comparison.ranking import Candidate, State
from airtcp.comparison.statistics import Outcome
from airtcp.comparison.trade import goodput_clause, instead_sentence
from airtcp.comparison.words import amount, basis, remedy_sentence
from airtcp.core.quantities import format_percent


def answer(comparison: Comparison) -> list[str]:
    """The headline and its qualifications."""
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
            f"Goodput is the sum over {ranking.reach.machines} machines, all changed alike: one "
            "that changes alone may gain less, or lose (flows.unchanged tries it)."
        )
    if ranking.reach.assumes_sender:
        lines.append(
            "The link does not show which end is yours; it is taken to be the sender "
            "(--can receiver if it receives)."
        )
    return lines


def other_places(comparison: Comparison) -> list[str]:
    """One line per place that the asker cannot change and that has a remedy."""
    metric = METRICS[comparison.metric]
    lines = []
    for other in comparison.ranking.elsewhere:
        difference = comparison.decisive[other.best.remedy]
        size = amount(difference, sign=True, metric=metric)
        lines.append(f"{other.place}: {other.best.remedy} {size}{_harm(comparison, other.best)}.")
    return lines


def tally(comparison: Comparison) -> str:
    """Counts of remedies by outcome."""
    candidates = list(comparison.candidates.values())
    helpful = sum(one.helps for one in candidates)
    undecided = sum(one.is_open for one in candidates)
    excluded = sum(one.state is State.EXCLUDED for one in candidates)
    harmful = len(candidates) - helpful - undecided - excluded
    of = f"{len(candidates)} remedies that apply to this link"
    if comparison.chosen_from:
        of = f"{len(candidates)} best of {comparison.chosen_from} settings"
    return (
        f"Of the {of}, {helpful} "
        f"{'helps' if helpful == 1 else 'help'}, {harmful} {'hurts' if harmful == 1 else 'hurt'}, "
        f"{excluded} {'changes' if excluded == 1 else 'change'} less than "
        f"{_percent(comparison.smallest)}, and {undecided} {'is' if undecided == 1 else 'are'} "
        "undecided; all intervals hold jointly."
    )


def _headline(comparison: Comparison, best: Candidate) -> str:
    metric = METRICS[comparison.metric]
    sentence = remedy_sentence(best.remedy, comparison.decisive[best.remedy], metric)
    sentence = with_sender(comparison, sentence.removesuffix("."))
    if goodput := goodput_clause(comparison, best.remedy):
        sentence += f", with {goodput}"
    sentence += horizon_clause(comparison) + _harm(comparison, best)
    if best.floods:
        sentence += "; it floods the link with segments that the receiver has already"
    reach = comparison.ranking.reach
    place = "" if reach.is_all else f"At {reach.words} "
    return f"{place}{sentence}{_more(comparison, best)}."


def _more(comparison: Comparison, best: Candidate) -> str:
    """The undecided remedy with a larger estimate than the best shown one, if any."""
    undecided = [one for one in comparison.ranking.undecided if one.gain > best.gain]
    if not undecided:
        return ""
    first = max(undecided, key=lambda one: one.gain)
    size = amount(comparison.decisive[first.remedy], sign=True, metric=METRICS[comparison.metric])
    return f"; {first.remedy} may bring more ({size}, undecided)"


def _larger(comparison: Comparison, larger: Candidate) -> str:
    size = amount(comparison.decisive[larger.remedy], sign=True, metric=METRICS[comparison.metric])
    return f"{larger.remedy} would bring {size}{_harm(comparison, larger)}."


def _harm(comparison: Comparison, one: Candidate) -> str:
    """A remedy's effect on a competing flow, if large or undecided."""
    if one.harm is None:
        return ""
    if one.harms_others_much:
        return f", but takes {_percent(-one.harm)} of the goodput of a competing flow without it"
    if one.is_harm_open:
        size = amount(comparison.harm[one.remedy], sign=True)
        return f"; whether it harms a competing flow is undecided ({size} of its goodput)"
    return ""


def _nothing(comparison: Comparison, instead: str | None) -> str:
    """Reports that nothing helps, with a remedy that still shortens latency, if any."""
    helps = "raises goodput" if instead else "helps"
    metric = _metric(comparison)
    if metric.name != "goodput":
        helps = f"{'raises' if metric.is_better_higher else 'lowers'} {metric.phrase}"
    but = f", but {instead.removesuffix('.')}" if instead else ""
    ranking = comparison.ranking
    number = len(comparison.remedies) - 1 if ranking.reach.is_all else len(ranking.deployable)
    tried = f"{number} {'remedy' if number == 1 else 'remedies'} tried"
    if comparison.chosen_from:
        tried = f"{comparison.chosen_from} settings tried"
    if ranking.reach.is_all:
        nothing = with_sender(comparison, f"Nothing {helps} here ({tried})")
        return f"{nothing}: {why_nothing_helps(comparison)}{but}."
    nothing = with_sender(comparison, f"Nothing at {ranking.reach.words} {helps} here ({tried})")
    if ranking.elsewhere:
        # The link's impairment is no reason if another place can mend it.
        best = max((other.best for other in ranking.elsewhere), key=lambda one: one.gain)
        other = next(one for one in ranking.elsewhere if one.best is best)
        size = amount(comparison.decisive[best.remedy], sign=True, metric=_metric(comparison))
        does = f"{best.remedy} does: {size}{_harm(comparison, best)}"
        return f"{nothing}; {_within(other.place)}, {does}{but}."
    return f"{nothing}: {why_nothing_helps(comparison)}{but}."


def _within(place: str) -> str:
    """A place as worded within a sentence."""
    return place[0].lower() + place[1:] if place.startswith("At ") else "though no Linux has it"


def _metric(comparison: Comparison) -> Metric:
    return METRICS[comparison.metric]


def _nothing_yet(comparison: Comparison) -> str:
    reach = comparison.ranking.reach
    where = "" if reach.is_all else f" at {reach.words}"
    number = len(comparison.seeds)
    after = f"Undecided after {number} {'seed' if number == 1 else 'seeds'}"
    return (
        f"{with_sender(comparison, after)}: no remedy{where} is shown to {_enough(comparison)}; "
        f"{_named(comparison, comparison.ranking.undecided)} may."
    )


def _enough(comparison: Comparison) -> str:
    """The smallest effect worth having; the metric is named unless it is goodput."""
    size, metric = _percent(comparison.smallest), _metric(comparison)
    if metric.name == "goodput":
        return f"bring {size}"
    return f"{'raise' if metric.is_better_higher else 'lower'} {metric.phrase} by {size}"


def _named(comparison: Comparison, candidates: Sequence[Candidate]) -> str:
    """Undecided remedies with their estimates so far, and the seeds needed to decide them."""
    rows = comparison.one_a_row(candidates)
    parts = [_so_far(comparison, one) for one in rows[:MAX_NAMED]]
    if len(rows) > MAX_NAMED:
        return f"{', '.join(parts)} and {len(rows) - MAX_NAMED} more"
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _so_far(comparison: Comparison, one: Candidate) -> str:
    difference = comparison.decisive[one.remedy]
    name = comparison.row_name(one.remedy)
    if difference.outcome is Outcome.IDENTICAL:
        seeds = f"{difference.n} seed{'s' if difference.n > 1 else ''}"
        return f"{name} (no difference on {seeds} so far)"
    size = amount(difference, sign=True, metric=METRICS[comparison.metric])
    clauses = [f"{size}, {basis(difference)}"]
    if one.gain < 0 and one.interval is not None and difference.mean_percent is not None:
        clauses.append(f"more than a gain of {_percent(one.interval[1])} is excluded")
    if one.seeds_to_decide:
        clauses.append(f"about {one.seeds_to_decide} seeds would decide")
    if one.is_cost_open and (goodput := goodput_clause(comparison, one.remedy)):
        clauses.append(goodput)
    return f"{name} ({'; '.join(clauses)})"


def _percent(value: float) -> str:
    return format_percent(value, decimals=0 if value == round(value) or value >= 10 else 1)
