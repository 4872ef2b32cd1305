"""A paired difference in words: its size, its outcome, and a sentence."""

from airtcp.comparison.metrics import METRICS, Metric
from airtcp.comparison.ranking import State
from airtcp.comparison.ranking.harm import LARGE_HARM_PERCENT, harm_state
from airtcp.comparison.statistics import Outcome, PairedDifference
from airtcp.core.quantities import decimals_for, format_percent

_GOODPUT = METRICS["goodput"]


def remedy_sentence(name: str, difference: PairedDifference, metric: Metric = _GOODPUT) -> str:
    """One remedy's measurements against the baseline."""
    what, size = metric.phrase, amount(difference, metric=metric)
    match difference.outcome:
        case Outcome.IDENTICAL:
            return f"{name} leaves {what} as it is: the same in every run."
        case Outcome.NO_DIFFERENCE_SHOWN:
            size = amount(difference, sign=True, metric=metric)
            return f"{name}: undecided in {what} ({size}; {basis(difference)})."
        case Outcome.NO_INTERVAL:
            rests_on = _without_interval(difference)
            return f"{name} {_direction(difference)} {what} by {size} ({rests_on})."
        case Outcome.HIGHER | Outcome.LOWER:
            return f"{name} {_direction(difference)} {what} by {size} ({basis(difference)})."


def amount(difference: PairedDifference, *, sign: bool = False, metric: Metric = _GOODPUT) -> str:
    """The size of a difference: "13.1 % ± 1.9 %"; with `sign`, its direction too.

    In the metric's unit if the baseline's mean is 0, where per cent are undefined.
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


def harm_words(harm: PairedDifference, remedy: str = "it") -> str:
    """The share of a competing flow without the remedy, as a sentence.

    Args:
        harm: the paired difference of the metric `harm`.
        remedy: its name, or a pronoun.
    """
    size, rests_on = amount(harm, sign=True), _rests_on(harm)
    if harm.outcome is Outcome.IDENTICAL:
        return (
            f"A competing flow without {remedy} loses nothing: every run is the same (n={harm.n})."
        )
    match harm_state(harm.mean_percent, harm.interval_percent, is_exact=harm.is_exact):
        case State.UNDECIDED:
            return (
                f"Whether {remedy} harms a competing flow is undecided ({size} of its goodput; "
                f"{rests_on})."
            )
        case State.EXCLUDED:
            return (
                f"A competing flow without {remedy} loses less than {LARGE_HARM_PERCENT:g} % "
                f"({size} of its goodput; {rests_on})."
            )
        case State.SHOWN:
            more = "less" if harm.mean < 0 else "more"
            return (
                f"A competing flow without {remedy} gets {amount(harm)} {more} than when no flow "
                f"has it ({rests_on})."
            )


def _rests_on(harm: PairedDifference) -> str:
    return _without_interval(harm) if harm.half_width is None else basis(harm)


def _without_interval(difference: PairedDifference) -> str:
    return "one seed" if difference.n == 1 else f"the same on all {difference.n} seeds"


def outcome_words(difference: PairedDifference) -> str:
    """The outcome in the words of a table."""
    match difference.outcome:
        case Outcome.NO_INTERVAL:
            return _without_interval(difference)
        case outcome:
            return outcome.value


def state_words(state: State, seeds: int | None) -> str:
    """The state in the words of a table: "undecided (24 seeds)"."""
    if state is not State.UNDECIDED or seeds is None:
        return state.value
    return f"{state.value} ({seeds} seeds)"


def _direction(goodput: PairedDifference) -> str:
    return "raises" if goodput.mean > 0 else "lowers"


def basis(goodput: PairedDifference) -> str:
    """The basis of an interval."""
    return f"95 %, n={goodput.n}"
