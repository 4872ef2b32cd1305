"""Tables of figures, on the terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Table:
    """Rows of text under a heading."""

    title: str
    columns: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)

    def markdown(self) -> str:
        """As in docs/measurements/performance.md."""
        lines = [f"### {self.title}", "", "| " + " | ".join(self.columns) + " |"]
        lines.append("|---" * len(self.columns) + "|")
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        return "\n".join(lines)

    def show(self) -> None:
        """On the terminal, with Rich if it is there."""
        try:
            from rich.console import Console
            from rich.table import Table as RichTable
        except ImportError:
            widths = [max(map(len, cells)) for cells in zip(self.columns, *self.rows, strict=True)]
            print(f"\n{self.title}")
            for row in [self.columns, *self.rows]:
                print("  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)))
            return
        table = RichTable(title=self.title)
        for column in self.columns:
            table.add_column(column, justify="right")
        for row in self.rows:
            table.add_row(*row)
        Console().print(table)


def verdict(value: float, target: float, *, at_least: bool) -> str:
    """A figure compared with its target."""
    held = value >= target if at_least else value <= target
    sign = "at least" if at_least else "at most"
    return f"{sign} {target:g}: {'held' if held else 'MISSED'}"
