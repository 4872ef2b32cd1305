"""Durations in words."""


def seconds_words(seconds: float) -> str:
    """A duration: "2.3 s" or "40 ms"."""
    return f"{seconds:.1f} s" if seconds >= 1.0 else f"{1e3 * seconds:.0f} ms"
