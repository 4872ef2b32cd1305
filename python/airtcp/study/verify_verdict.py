"""The verdict of a verification, in sentences."""

from airtcp.catalogue import BASELINE
from airtcp.quantities import decimals_for, format_bit_rate, format_percent
from airtcp.study.statistics import Outcome, PairedDifference
from airtcp.study.verdict import amount
from airtcp.study.verify import Agreement, VerifiedRuns


def verdict(runs: VerifiedRuns) -> list[str]:
    """Each remedy in the order given, then how near the simulated baseline is to the kernel's."""
    sentences = [agreement_sentence(name, agreement) for name, agreement in runs.agreements.items()]
    return [*sentences, _baseline_sentence(runs)]


def agreement_sentence(name: str, agreement: Agreement) -> str:
    """One remedy on the kernel beside its simulation."""
    effects = (
        f"{name}: on this kernel {_effect(agreement.real)}, simulated "
        f"{_effect(agreement.simulated)}"
    )
    distance = agreement.distance_percent
    if distance is None:
        return f"{effects}: a baseline delivered nothing, so the two cannot be compared."
    if agreement.real.half_width is None and agreement.real.outcome is not Outcome.IDENTICAL:
        return f"{effects}: one run has no interval; more --seeds say whether they agree."
    if agreement.agrees:
        return f"{effects}: they agree."
    half = agreement.half_width_percent
    decimals = decimals_for(half or abs(distance) / 10)
    size = format_percent(abs(distance), decimals=decimals).removesuffix(" %")
    side = "more" if distance > 0 else "less"
    return (
        f"{effects}: they differ, the kernel gains {size} points {side} than simulated "
        f"(± {format_percent(half, decimals=decimals).removesuffix(' %')})."
    )


def _effect(difference: PairedDifference) -> str:
    if difference.outcome is Outcome.IDENTICAL:
        return "nothing changes"
    return amount(difference, sign=True)


def _baseline_sentence(runs: VerifiedRuns) -> str:
    real = runs.goodput(BASELINE)
    simulated = runs.simulated.values(BASELINE, "goodput_bps")
    mean, expected = sum(real) / len(real), sum(simulated) / len(simulated)
    ratio = "" if not expected else f", {mean / expected:.3f} of it"
    return (
        f"The baseline on kernel {runs.kernel}: {format_bit_rate(mean)}, simulated "
        f"{format_bit_rate(expected)}{ratio}."
    )
