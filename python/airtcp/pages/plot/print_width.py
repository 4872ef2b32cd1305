"""The width of a figure in print: a column, a page, or a length."""

import re

WIDTHS = {"column": 3.5, "page": 7.16}
"""Widths in inches by name: a column and a page of IEEE's transactions."""
NARROWEST, WIDEST = 2.0, 20.0
_PER_INCH = {"in": 1.0, "cm": 2.54, "mm": 25.4, "pt": 72.27}
_LENGTH = re.compile(r"([0-9.]+)\s*(in|cm|mm|pt)")


def inches(text: str) -> float:
    """The width that a text names: one of `WIDTHS`, or a length such as "85 mm".

    Raises:
        ValueError: it is no width, or not between 2 and 20 inches.
    """
    expected = f"expected {' or '.join(WIDTHS)}, or a length such as 85mm, from 2 to 20 in"
    if text in WIDTHS:
        return WIDTHS[text]
    found = _LENGTH.fullmatch(text.strip())
    try:
        width = float(found[1]) / _PER_INCH[found[2]] if found else 0.0
    except ValueError:
        width = 0.0
    if not NARROWEST <= width <= WIDEST:
        raise ValueError(expected)
    return width
