"""Text in columns, the last one wrapped to the terminal; stacked on a narrow terminal."""

import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from textwrap import fill

from airtcp.core.bpf import with_program_names

_GAP = 2
_NARROWEST_TEXT = 30
"""Minimum width of a last column; a narrower one is put below the others instead."""


_CONTROL = re.compile(r"[^\n\t\x20-\x7e\xa0-\U0010ffff]")


def printable(text: str) -> str:
    """Escapes control characters for a terminal, as in Python's `repr`, and names BPF programs.

    Names and descriptions of a stranger's file may hold escape sequences.
    """
    named = with_program_names(text)
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), named)


def width() -> int:
    """The columns of the terminal; 120 if standard output is a file or a pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 120


def columns(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as text.

    Args:
        head: the columns' names.
        rows: the cells, one per name in each row.
    """
    table = [[printable(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(row[index]) for row in table) for index in range(len(head) - 1)]
    indent = sum(widths) + _GAP * len(widths)
    is_narrow = width() - indent < _NARROWEST_TEXT
    return "\n".join(
        _stacked(row) if is_narrow else _side_by_side(row, widths, indent) for row in table
    )


def numbers(head: Sequence[str], rows: Iterable[Sequence[str]], names: int = 1) -> str:
    """A table of numbers as text: right-aligned, or one paragraph per row if that is too wide.

    Args:
        head: the columns' names; empty ones are not shown.
        rows: the cells, one per name in each row.
        names: number of columns, from the left, that are names rather than numbers.
    """
    table = [[printable(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(row[index]) for row in table) for index in range(len(head))]
    if sum(widths) + _GAP * (len(widths) - 1) > width():
        return "\n".join(_paragraph(table[0], row, names) for row in table[1:])
    lines = [
        (" " * _GAP)
        .join(
            cell.ljust(wide) if index < names else cell.rjust(wide)
            for index, (cell, wide) in enumerate(zip(row, widths, strict=True))
        )
        .rstrip()
        for row in (table if any(head) else table[1:])
    ]
    return "\n".join(lines)


def _paragraph(head: Sequence[str], row: Sequence[str], names: int) -> str:
    title = ", ".join(row[:names])
    parts = [
        f"{name} {cell}".strip()
        for name, cell in zip(head[names:], row[names:], strict=True)
        if cell
    ]
    return "\n".join([title, *(_filled(f"    {part}", 6) for part in parts)])


def _side_by_side(row: Sequence[str], widths: Sequence[int], indent: int) -> str:
    cells = (cell.ljust(width + _GAP) for cell, width in zip(row[:-1], widths, strict=True))
    return _filled("".join(cells) + row[-1], indent)


def _stacked(row: Sequence[str]) -> str:
    return f"{' '.join(cell for cell in row[:-1] if cell)}\n{_filled('    ' + row[-1], 4)}"


def _filled(text: str, indent: int) -> str:
    # drop_whitespace would also remove the gap of an empty cell at a line's end.
    return fill(
        text,
        max(width(), indent + _NARROWEST_TEXT // 2),
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
