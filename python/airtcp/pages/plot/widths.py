"""The widths of texts in DejaVu Sans, from the advance widths of its characters.

Asking matplotlib would load it, which takes longer than drawing a report's figures.
"""

from collections.abc import Iterable
from functools import cache
from unicodedata import east_asian_width

_POINTS_AN_INCH = 72.0
_EM = 2048
"""Units of the font in its size."""
_FIRST = " "
# fmt: off
_ADVANCES = (
    651, 821, 942, 1716, 1303, 1946, 1597, 563, 799, 799, 1024, 1716, 651, 739, 651, 690,
    1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 690, 690, 1716, 1716, 1716, 1087,
    2048, 1401, 1405, 1430, 1577, 1294, 1178, 1587, 1540, 604, 604, 1343, 1141, 1767, 1532, 1612,
    1235, 1612, 1423, 1300, 1251, 1499, 1401, 2025, 1403, 1251, 1403, 799, 690, 799, 1716, 1024,
    1024, 1255, 1300, 1126, 1300, 1260, 721, 1300, 1298, 569, 569, 1186, 569, 1995, 1298, 1253,
    1300, 1300, 842, 1067, 803, 1298, 1212, 1675, 1212, 1212, 1075, 1303, 690, 1303, 1716,
)
# fmt: on
"""Advance widths of the printable characters of ASCII, in their order."""
_OTHERS = {"…": 2048, "\u2212": 1716, "±": 1716, "\u00d7": 1716, "µ": 1303, "\u2013": 1024}
_UNKNOWN, _UNKNOWN_WIDE = 1303, 2048


@cache
def text_inches(text: str, points: float = 9.0) -> float:
    """The width of the widest line of a text, in inches."""
    widest = max(sum(map(_advance, line)) for line in text.split("\n"))
    return widest * points / _EM / _POINTS_AN_INCH


def widest_inches(texts: Iterable[str], points: float = 9.0) -> float:
    """The width of the widest of some texts, in inches; 0 without any."""
    return max((text_inches(text, points) for text in texts), default=0.0)


@cache
def _advance(character: str) -> int:
    place = ord(character) - ord(_FIRST)
    if 0 <= place < len(_ADVANCES):
        return _ADVANCES[place]
    wide = east_asian_width(character) in "WF"
    return _OTHERS.get(character, _UNKNOWN_WIDE if wide else _UNKNOWN)
