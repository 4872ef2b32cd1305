"""A fault of the link, in a sentence, with advice for the link itself."""

from dataclasses import dataclass

from airtcp.diagnosis.period import Period


@dataclass(frozen=True)
class Finding:
    """One fault of the link."""

    kind: str
    sentence: str
    severity: float
    """Approximate share of the time that it costs: the order of the findings."""
    advice: str = ""
    """Advice for the link itself, before a remedy of TCP."""
    period: Period | None = None


def span_words(seconds: float) -> str:
    """A duration in colloquial form: "300 ms", "4.3 s", "95 s", "3 minutes"."""
    if seconds < 0.995:
        return f"{1e3 * seconds:.0f} ms"
    if seconds < 90:
        return f"{seconds:.1f} s".replace(".0 s", " s")
    # At two minutes, rounding to whole minutes would be off by a quarter.
    if seconds < 179.5:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.1f} hours"
