"""Quantities as text with a unit and as numbers in the base unit: bit/s, seconds, bytes."""

import re
from enum import StrEnum


class Kind(StrEnum):
    """The kind of a value, which determines the unit."""

    RATE = "rate"
    TIME = "time"
    BYTES = "bytes"
    SHARE = "share"
    COUNT = "count"
    NUMBER = "number"


UNITS: dict[Kind, dict[str, float]] = {
    Kind.RATE: {
        "bit/s": 1.0,
        "bps": 1.0,
        "kbit/s": 1e3,
        "kbps": 1e3,
        "Mbit/s": 1e6,
        "Mbps": 1e6,
        "Gbit/s": 1e9,
        "Gbps": 1e9,
    },
    Kind.TIME: {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0},
    Kind.BYTES: {
        "B": 1.0,
        "kB": 1e3,
        "MB": 1e6,
        "GB": 1e9,
        "KiB": 1024.0,
        "MiB": 1024.0**2,
        "GiB": 1024.0**3,
    },
}

_QUANTITY = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z/]+)\s*")


def parse_quantity(text: str) -> tuple[Kind, float] | None:
    """The kind and value of a text such as "15 ms"; None if it is not a quantity."""
    found = _QUANTITY.fullmatch(text)
    if not found:
        return None
    number, unit = found.groups()
    for kind, units in UNITS.items():
        if unit in units:
            return kind, float(number) * units[unit]
    return None


def parse_range(text: str) -> tuple[float, float] | None:
    """The ends of a range of the schema such as "1 us to 1 min"; None if it is not a range."""
    low, separator, high = text.partition(" to ")
    if not separator:
        return None
    ends = parse_quantity(low), parse_quantity(high)
    if ends[0] is None or ends[1] is None:
        return None
    return ends[0][1], ends[1][1]
