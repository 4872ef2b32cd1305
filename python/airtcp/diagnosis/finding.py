"""A thing that is wrong, in a sentence, with what to try on the link itself."""

from dataclasses import dataclass

from airtcp.diagnosis.period import Period


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong."""

    kind: str
    sentence: str
    severity: float
    """Share of the time that it costs, roughly: the order in which findings are told."""
    advice: str = ""
    """What to try on the link itself, before a remedy of TCP."""
    period: Period | None = None


def span_words(seconds: float) -> str:
    """A length of time as people say it: "300 ms", "4.3 s", "95 s", "3 minutes"."""
    if seconds < 0.995:
        return f"{1e3 * seconds:.0f} ms"
    if seconds < 90:
        return f"{seconds:.1f} s".replace(".0 s", " s")
    # Of two minutes, the nearest whole one would be off by a quarter.
    if seconds < 179.5:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.1f} hours"
