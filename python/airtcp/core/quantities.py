"""Numbers with their units, for people."""

import re

_BIT_RATES = ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s"))
_BYTES = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))


def bit_rate_scale(largest_bps: float) -> tuple[float, str]:
    """The divisor and unit in which rates up to `largest_bps` read best."""
    return _scale(abs(largest_bps), _BIT_RATES)


def format_bit_rate(bps: float, *, sign: bool = False) -> str:
    """A rate in bit/s as text such as "7.53 Mbit/s"; with `sign` also with a plus."""
    divisor, unit = bit_rate_scale(bps)
    return f"{_signed(_significant(bps / divisor, sign=sign))} {unit}"


_RATE = re.compile(r"([\d.]+)\s*([kKmMgG]?)(?:bit/s|bits/s|bit|bps|b/s)?")


def format_part(bps: float, whole_bps: float) -> str:
    """A rate as a part of another: "4.07 of 20.0 Mbit/s"."""
    part, whole = format_bit_rate(bps), format_bit_rate(whole_bps)
    number, _, unit = part.partition(" ")
    return f"{number if whole.endswith(f' {unit}') else part} of {whole}"


def parse_bit_rate(text: str) -> float | None:
    """Bits a second of a text such as "20 Mbit/s", "20mbit" or "1.5 Gbps"; None for other text.

    Bytes a second ("2 MB/s"), with a capital B, are other text, and so is a number without a unit.
    """
    found = _RATE.fullmatch(text.strip())
    if found is None or text.strip().replace(".", "").isdigit():
        return None
    factor = {"k": 1e3, "m": 1e6, "g": 1e9}.get(found[2].lower(), 1.0)
    try:
        bps = factor * float(found[1])
    except ValueError:
        return None
    return bps if 0.0 < bps < float("inf") else None


_TIME = re.compile(r"([\d.]+)\s*(ms|s|min|h)?")


def parse_seconds(text: str) -> float | None:
    """Seconds of a text such as "60s", "5 min" or "90"; None for other text."""
    found = _TIME.fullmatch(text.strip())
    if found is None:
        return None
    factor = {"ms": 1e-3, "min": 60.0, "h": 3600.0}.get(found[2] or "s", 1.0)
    try:
        seconds = factor * float(found[1])
    except ValueError:
        return None
    return seconds if 0.0 < seconds < float("inf") else None


def format_bytes(count: float) -> str:
    """A number of bytes as text such as "94.1 MB" (decimal units)."""
    divisor, unit = _scale(abs(count), _BYTES)
    return f"{_significant(count / divisor)} {unit}"


def format_percent(percent: float, *, sign: bool = False, decimals: int = 1) -> str:
    """A percentage as text such as "13.1 %"; never "-0.0 %"."""
    return _signed(f"{percent:{'+' if sign else ''}z.{decimals}f} %")


def decimals_for(uncertainty: float) -> int:
    """Number of decimals of a number known to within `uncertainty`: "13.1 ± 1.9"."""
    return next((d for d, least in enumerate((9.95, 0.095, 0.0095)) if uncertainty >= least), 3)


def format_count(count: float) -> str:
    """A count, or a mean of counts, with at most one decimal: "41", "41.5", "12 345"."""
    rounded = round(count, 1)
    text = f"{rounded:,.0f}" if rounded == int(rounded) else f"{rounded:,.1f}"
    return text.replace(",", "\N{NARROW NO-BREAK SPACE}")


def _signed(text: str) -> str:
    """The text with a minus sign as wide as the plus."""
    return text.replace("-", "\N{MINUS SIGN}")


def _scale(magnitude: float, table: tuple[tuple[float, str], ...]) -> tuple[float, str]:
    # 999.6 would print as "1000": the next unit is better.
    return next((row for row in table if magnitude >= 0.9995 * row[0]), table[-1])


def _significant(value: float, *, sign: bool = False) -> str:
    """Three significant digits, never in exponent form."""
    magnitude = abs(value)
    decimals = 0 if magnitude >= 99.95 or magnitude == 0 else 1 if magnitude >= 9.995 else 2
    return f"{value:{'+' if sign else ''}z.{decimals}f}"
