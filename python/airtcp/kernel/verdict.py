"""The verdict of a verification, in sentences."""

from airtcp.comparison.statistics import Outcome, PairedDifference
from airtcp.comparison.words import amount
from airtcp.core.catalogue import BASELINE
from airtcp.core.quantities import decimals_for, format_bit_rate, format_percent
from airtcp.kernel.agreement import MARGIN_PERCENT, Agreement, Answer
from airtcp.kernel.verify import Verification


def verdict(runs: Verification) -> list[str]:
    """Each remedy in the order given, then how well the simulated baseline agrees."""
    sentences = [agreement_sentence(name, agreement) for name, agreement in runs.agreements.items()]
    return [*sentences, _baseline_sentence(runs)]


def agreement_sentence(name: str, agreement: Agreement) -> str:
    """One remedy's effect on the kernel against its simulated effect."""
    effects = (
        f"{name}: on this kernel {_effect(agreement.real)}, simulated "
        f"{_effect(agreement.simulated)}"
    )
    distance, interval = agreement.distance_percent, agreement.interval_percent
    if distance is None:
        return f"{effects}: a run delivered nothing, so the two cannot be compared."
    if interval is None:
        return f"{effects}: one run has no interval; more --seeds say whether they agree."
    low, high = (format_percent(end, sign=True, decimals=_decimals(interval)) for end in interval)
    apart = f"the kernel's gain is {low} to {high} from the simulated one"
    match agreement.answer:
        case Answer.AGREE:
            return f"{effects}: they agree within {MARGIN_PERCENT:g} % ({apart}; 95 %)."
        case Answer.DIFFER:
            return f"{effects}: they differ ({apart}; 95 %)."
        case Answer.UNDECIDED:
            seeds = agreement.seeds_to_decide
            more = f"; about {seeds} seeds would" if seeds else ""
            return (
                f"{effects}: not enough runs to say whether they agree within "
                f"{MARGIN_PERCENT:g} % ({apart}; 95 %{more})."
            )


def _decimals(interval: tuple[float, float]) -> int:
    return decimals_for((interval[1] - interval[0]) / 2 or 1.0)


def _effect(difference: PairedDifference) -> str:
    if difference.outcome is Outcome.IDENTICAL:
        return "nothing changes"
    return amount(difference, sign=True)


def _baseline_sentence(runs: Verification) -> str:
    real = runs.goodput(BASELINE)
    simulated = runs.simulated.values(BASELINE, "goodput_bps")
    mean, expected = sum(real) / len(real), sum(simulated) / len(simulated)
    ratio = "" if not expected else f", {mean / expected:.3f} of it"
    return (
        f"The baseline on kernel {runs.kernel}: {format_bit_rate(mean)}, simulated "
        f"{format_bit_rate(expected)}{ratio}."
    )
