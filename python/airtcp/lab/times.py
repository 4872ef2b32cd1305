"""Times as the core writes them."""

import re

_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_TIME = re.compile(r"([0-9]+(?:\.[0-9]+)?) (ns|us|ms|s|min|h)")


def seconds_of(text: str) -> float | None:
    """The seconds of a text such as "15 ms"; None if it is not a time."""
    found = _TIME.fullmatch(text)
    return float(found[1]) * _UNITS[found[2]] if found else None
