"""The ends and ticks of scales, and the places of values on them."""

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from airtcp.pages.plot.marks import Places, Scale

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_LOG_STEPS = (1.0, 2.0, 5.0)
_TICKS_AN_INCH = {"x": 2.0, "y": 4.2}
_MAX_TICKS = 9


def ends(values: Iterable[float], margin: float = 0.0) -> tuple[float, float]:
    """The smallest and the largest of some values, moved apart by a share of their distance."""
    known = [value for value in values if math.isfinite(value)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        apart = 0.05 * abs(low) or 0.05
        low, high = low - apart, high + apart
    return low - margin * (high - low), high + margin * (high - low)


def linear(
    low: float, high: float, inches: float, axis: str, label: str = "", *, is_falling: bool = False
) -> Scale:
    """A linear scale over a length in inches of the "x" or "y" axis, with round ticks."""
    most = max(2.0, min(float(_MAX_TICKS), inches * _TICKS_AN_INCH[axis]))
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(one * power for one in _STEPS if one * power >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    if not math.isclose(step, round(step, decimals)):
        decimals += 1
    ticks = tuple(
        (place * step, number(place * step, decimals)) for place in range(first, last + 1)
    )
    begin, end = (high, low) if is_falling else (low, high)
    return Scale(begin, end, ticks, label)


def logarithmic(low: float, high: float, label: str = "", *, is_falling: bool = False) -> Scale:
    """A logarithmic scale with ticks at 1, 2 and 5 times powers of ten, in plain numbers."""
    powers = range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)
    places = [step * 10.0**power for power in powers for step in _LOG_STEPS]
    within = [place for place in places if low * (1 - 1e-9) <= place <= high * (1 + 1e-9)]
    ticks = tuple((place, f"{place:g}") for place in within)
    begin, end = (high, low) if is_falling else (low, high)
    return Scale(begin, end, ticks, label, is_log=True)


def shares(scale: Scale, places: Places) -> NDArray[np.float64]:
    """Shares of the scale's length at which places are: 0 at its first end, 1 at its last."""
    values = np.asarray(places, dtype=np.float64)
    first, last = scale.first, scale.last
    if scale.is_log:
        # Far outside rather than at infinity, where no line leads.
        values = np.log10(np.maximum(values, 1e-300))
        first, last = math.log10(first), math.log10(last)
    found: NDArray[np.float64] = (values - first) / (last - first)
    return found


def number(value: float, decimals: int) -> str:
    """A tick's text, with a minus sign in place of a hyphen."""
    text = f"{value:.{decimals}f}"
    if float(text) == 0.0:
        text = text.lstrip("-")
    return text.replace("-", "\u2212")


def rows(names: Iterable[str]) -> Scale:
    """A vertical scale of rows, the first on top, with a name each and no grid."""
    ticks = tuple((float(row), name) for row, name in enumerate(names))
    return Scale(len(ticks) - 0.5, -0.5, ticks, has_grid=False, has_tick_marks=False)
