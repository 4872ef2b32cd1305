"""The verdict of a comparison, in sentences that say neither more nor less than the numbers."""

from statistics import fmean

from airtcp.catalogue import BASELINE
from airtcp.quantities import decimals_for, format_count, format_percent
from airtcp.study.compare import ComparedRuns
from airtcp.study.context import why_nothing_helps
from airtcp.study.metrics import METRICS, Metric, needless_share
from airtcp.study.statistics import Outcome, PairedDifference


def verdict(comparison: ComparedRuns) -> list[str]:
    """The best remedy first, then the others in order, then what the baseline suffered from."""
    metric = METRICS[comparison.metric]
    sentences = [_flood_note(comparison, name, metric) for name in comparison.shown]
    timeouts = _timeouts_sentence(comparison)
    if comparison.is_search:
        sentences = _of_search(comparison, sentences)
    elif _nothing_helps(comparison) and not metric.is_of_others:
        sentences.insert(0, f"Nothing here helps: {why_nothing_helps(comparison)}.")
    if timeouts:
        sentences.insert(1, timeouts)
    if harm := harm_sentence(comparison):
        sentences.insert(1, harm)
    note = interval_note(comparison)
    return [*sentences, note] if note else sentences


def _of_search(comparison: ComparedRuns, sentences: list[str]) -> list[str]:
    """The sentences of a search: what helps, and what became of the rest."""
    helpful = [name for name in comparison.ranked if comparison.is_better(name)]
    tried = len(comparison.remedies) - 1
    if not helpful:
        if any(by.outcome is Outcome.NO_INTERVAL for by in comparison.decisive.values()):
            return sentences[:1]
        if METRICS[comparison.metric].is_of_others:
            return sentences
        why = why_nothing_helps(comparison)
        return [f"Nothing helps here, of {tried} remedies that have a place on this link: {why}."]
    outcomes = [by.outcome for by in comparison.decisive.values()]
    harmful = sum(outcome in _DIFFERENT for outcome in outcomes) - len(helpful)
    rest = (
        f"Of {tried} remedies that have a place on this link {len(helpful)} "
        f"{'helps' if len(helpful) == 1 else 'help'}, {harmful} "
        f"{'does' if harmful == 1 else 'do'} harm, and {tried - len(helpful) - harmful} make no "
        "difference that can be shown; the intervals hold for all of them at once."
    )
    return [sentences[0], rest, *sentences[1:]]


_DIFFERENT = {Outcome.HIGHER, Outcome.LOWER}


def _nothing_helps(comparison: ComparedRuns) -> bool:
    """Whether of several remedies, with seeds enough, none is shown to help."""
    outcomes = {by.outcome for by in comparison.decisive.values()}
    if len(comparison.decisive) < 2 or Outcome.NO_INTERVAL in outcomes:
        return False
    return not any(comparison.is_better(name) for name in comparison.decisive)


def _flood_note(comparison: ComparedRuns, name: str, metric: Metric) -> str:
    sentence = remedy_sentence(name, comparison.decisive[name], metric)
    if not comparison.floods(name):
        return sentence
    needless = 100 * fmean(map(needless_share, comparison.summaries[name]))
    return (
        f"{sentence.removesuffix('.')}; it floods the link: "
        f"{format_percent(needless, decimals=0)} of what it sends the receiver has already."
    )


def harm_sentence(comparison: ComparedRuns) -> str | None:
    """The best remedy's harm to an unchanged flow beside it, where that was measured."""
    best = comparison.best
    if best not in comparison.harm or comparison.metric == "harm":
        return None
    return beside_words(comparison.harm[best])


def beside_words(harm: PairedDifference, remedied: str = "it") -> str:
    """The share of an unchanged flow beside a flow with a remedy, in a sentence.

    Args:
        harm: the paired difference of the metric `harm`.
        remedied: the flow with the remedy, in words.
    """
    match harm.outcome:
        case Outcome.IDENTICAL:
            return (
                f"An unchanged flow beside {remedied} loses nothing: every run is the same "
                f"(n={harm.n})."
            )
        case Outcome.NO_DIFFERENCE_SHOWN:
            size = amount(harm, sign=True)
            return (
                f"An unchanged flow beside {remedied} is not shown to lose ({size} of goodput; "
                f"{_basis(harm)})."
            )
        case Outcome.NO_INTERVAL | Outcome.LOWER | Outcome.HIGHER:
            more = "less" if harm.mean < 0 else "more"
            basis = "no interval" if harm.half_width is None else _basis(harm)
            return (
                f"An unchanged flow beside {remedied} gets {amount(harm)} {more} than beside "
                f"another unchanged flow ({basis})."
            )


_GOODPUT = METRICS["goodput"]


def remedy_sentence(name: str, difference: PairedDifference, metric: Metric = _GOODPUT) -> str:
    """One remedy's measurements against the baseline's."""
    what, size = metric.label, amount(difference, metric=metric)
    match difference.outcome:
        case Outcome.IDENTICAL:
            return f"{name} changes nothing here: every run has the {what} of the baseline."
        case Outcome.NO_DIFFERENCE_SHOWN:
            size = amount(difference, sign=True, metric=metric)
            return f"{name}: no difference in {what} shown ({size}; {_basis(difference)})."
        case Outcome.NO_INTERVAL:
            basis = (
                "one run, no interval" if difference.n == 1 else f"no interval, n={difference.n}"
            )
            return f"{name} {_direction(difference)} {what} by {size} ({basis})."
        case Outcome.HIGHER | Outcome.LOWER:
            return f"{name} {_direction(difference)} {what} by {size} ({_basis(difference)})."


def amount(difference: PairedDifference, *, sign: bool = False, metric: Metric = _GOODPUT) -> str:
    """The size of a difference: "13.1 % ± 1.9 %"; with `sign`, which way it goes.

    In the metric's unit where the baseline's mean is 0 and per cent have no meaning.
    """
    percent, half = difference.mean_percent, difference.half_width_percent
    if percent is None:
        mean = difference.mean if sign else abs(difference.mean)
        text = f"{'+' if sign and mean > 0 else ''}{metric.show(mean)}"
        half_width = difference.half_width
        return text if half_width is None else f"{text} ± {metric.show(half_width)}"
    # Without an interval, three digits.
    decimals = decimals_for(half or abs(percent) / 10)
    text = format_percent(percent if sign else abs(percent), sign=sign, decimals=decimals)
    return text if half is None else f"{text} ± {format_percent(half, decimals=decimals)}"


def interval_note(comparison: ComparedRuns) -> str | None:
    """Why there are no intervals, where there are none."""
    if len(comparison.seeds) == 1:
        return "One seed gives no interval: use more seeds to see how sure a difference is."
    outcomes = {by.outcome for by in comparison.decisive.values()}
    if Outcome.NO_INTERVAL in outcomes:
        return (
            f"All {len(comparison.seeds)} seeds gave the same {METRICS[comparison.metric].label}: "
            "nothing in this scenario is drawn at random, so it counts as one run and has no "
            "interval."
        )
    return None


def _direction(goodput: PairedDifference) -> str:
    return "raises" if goodput.mean > 0 else "lowers"


def _basis(goodput: PairedDifference) -> str:
    return f"95 %, n={goodput.n}"


def _timeouts_sentence(comparison: ComparedRuns) -> str | None:
    """Spurious ones among the baseline's timeouts, over all seeds."""
    timeouts = int(sum(comparison.values(BASELINE, "timeouts")))
    spurious = int(sum(comparison.values(BASELINE, "timeouts_spurious")))
    if not timeouts:
        return "The baseline had no timeouts."
    return (
        f"{format_count(spurious)} of {format_count(timeouts)} "
        f"{'timeout' if timeouts == 1 else 'timeouts'} of the baseline "
        f"{'was' if 1 in (timeouts, spurious) else 'were'} spurious."
    )


def outcome_words(difference: PairedDifference) -> str:
    """The outcome in the words of a table."""
    match difference.outcome:
        case Outcome.NO_INTERVAL:
            return "one run, no interval" if difference.n == 1 else "no randomness, no interval"
        case outcome:
            return outcome.value
