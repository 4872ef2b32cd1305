"""Tables as CSV, byte for byte as Polars writes them, without it.

Numbers are the shortest that read back the same; no value is an empty field, and an empty text is
in quotes, as is one with a comma, a quote or a line break.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from airtcp._core import Table

Column = tuple[str, str, Sequence[Any]]
"""Its name, its type as the core names it, and its values, with None for no value."""

_QUOTED = re.compile(r'[",\r\n]')


def columns_of(table: Table) -> list[Column]:
    """The columns of a table, as the core hands them to `pickle`."""
    _, (columns,) = table.__reduce__()
    found: list[Column] = columns
    return found


def csv_of(columns: Iterable[Column]) -> str:
    """Columns as CSV, with their names in the first row."""
    every = list(columns)
    texts = [
        ["" if value is None else write(value) for value in values]
        for write, values in ((_WRITERS.get(kind, str), values) for _, kind, values in every)
    ]
    rows = [",".join(_text(name) for name, _, _ in every), *map(",".join, zip(*texts, strict=True))]
    return "\n".join(rows) + "\n"


def _text(text: str) -> str:
    if text and not _QUOTED.search(text):
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def _real(value: float) -> str:
    text = repr(value)
    # Most have no exponent, and are no "inf" or "nan".
    if "e" not in text and "n" not in text:
        return text
    if not math.isfinite(value):
        return text.replace("nan", "NaN")
    digits, _, power = text.partition("e")
    exponent = int(power)
    if exponent == -5:
        sign = "-" if digits.startswith("-") else ""
        return f"{sign}0.0000{digits.lstrip('-').replace('.', '')}"
    return f"{digits}e{exponent:+d}"


def _truth(value: object) -> str:
    return "true" if value else "false"


_WRITERS: dict[str, Callable[[Any], str]] = {
    "bool": _truth,
    "category": _text,
    "float64": _real,
    "string": _text,
}
"""By type; whole numbers are as Python writes them."""
