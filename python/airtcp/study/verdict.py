"""What a comparison shows, in sentences that say neither more nor less than the numbers."""

from airtcp.catalogue import BASELINE
from airtcp.quantities import decimals_for, format_bit_rate, format_count, format_percent
from airtcp.study.compare import ComparedRuns
from airtcp.study.statistics import Outcome, PairedDifference


def verdict(comparison: ComparedRuns) -> list[str]:
    """The best remedy first, then the others in order, then what the baseline suffered from."""
    goodput = {name: by["goodput_bps"] for name, by in comparison.differences.items()}
    first = comparison.best
    names = [first, *(name for name in goodput if name != first)]
    sentences = [remedy_sentence(name, goodput[name]) for name in names]
    timeouts = _timeouts_sentence(comparison)
    if timeouts:
        sentences.insert(1, timeouts)
    note = interval_note(comparison)
    return [*sentences, note] if note else sentences


def remedy_sentence(name: str, goodput: PairedDifference) -> str:
    """One remedy's goodput against the baseline's."""
    match goodput.outcome:
        case Outcome.IDENTICAL:
            return f"{name} changes nothing here: every run has the goodput of the baseline."
        case Outcome.NO_DIFFERENCE_SHOWN:
            size = amount(goodput, sign=True)
            return f"{name}: no difference in goodput shown ({size}; {_basis(goodput)})."
        case Outcome.NO_INTERVAL:
            basis = "one run, no interval" if goodput.n == 1 else f"no interval, n={goodput.n}"
            return f"{name} {_direction(goodput)} goodput by {amount(goodput)} ({basis})."
        case Outcome.HIGHER | Outcome.LOWER:
            return f"{name} {_direction(goodput)} goodput by {amount(goodput)} ({_basis(goodput)})."


def amount(difference: PairedDifference, *, sign: bool = False) -> str:
    """The size of a difference in goodput: "13.1 % ± 1.9 %"; with `sign`, which way it goes.

    In bit/s where the baseline delivered nothing and per cent have no meaning.
    """
    percent, half = difference.mean_percent, difference.half_width_percent
    if percent is None:
        mean = difference.mean if sign else abs(difference.mean)
        text = format_bit_rate(mean, sign=sign)
        half_width = difference.half_width
        return text if half_width is None else f"{text} ± {format_bit_rate(half_width)}"
    # Without an interval, three digits.
    decimals = decimals_for(half or abs(percent) / 10)
    text = format_percent(percent if sign else abs(percent), sign=sign, decimals=decimals)
    return text if half is None else f"{text} ± {format_percent(half, decimals=decimals)}"


def interval_note(comparison: ComparedRuns) -> str | None:
    """Why there are no intervals, where there are none."""
    if len(comparison.seeds) == 1:
        return "One seed gives no interval: use more seeds to see how sure a difference is."
    outcomes = {by["goodput_bps"].outcome for by in comparison.differences.values()}
    if Outcome.NO_INTERVAL in outcomes:
        return (
            f"All {len(comparison.seeds)} seeds gave the same goodput: nothing in this scenario is "
            "drawn at random, so it counts as one run and has no interval."
        )
    return None


def _direction(goodput: PairedDifference) -> str:
    return "raises" if goodput.mean > 0 else "lowers"


def _basis(goodput: PairedDifference) -> str:
    return f"95 %, n={goodput.n}"


def _timeouts_sentence(comparison: ComparedRuns) -> str | None:
    """How many of the baseline's timeouts, over all seeds, were spurious."""
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
