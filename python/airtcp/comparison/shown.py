"""A comparison in words, as a figure and as a report."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from airtcp.core.shown import InNotebook, figure, view

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Shown(InNotebook):
    """The views of a comparison."""

    @property
    def verdict(self) -> list[str]:
        """The comparison's verdict in plain sentences, the best remedy first."""
        sentences: list[str] = view(self, "verdict")
        return sentences

    @property
    def deployment(self) -> list[str]:
        """Deployment of the best remedy on a real system; empty if no remedy raises the goodput."""
        lines: list[str] = view(self, "deployment")
        return lines

    def plot(self) -> "Figure":
        """Each remedy's goodput as paired difference to the baseline, with intervals."""
        return figure(self)

    def report(
        self,
        directory: str | os.PathLike[str],
        command: str | None = None,
        *,
        png: bool = False,
        width: float | None = None,
    ) -> Path:
        """Writes index.html, comparison.csv and the figures; returns the path of index.html.

        Args:
            directory: created if absent.
            command: the command line of this comparison, for the provenance.
            png: whether to write every figure as PNG, too.
            width: the width in inches of a PDF and of source for LaTeX to write of every figure,
                with its table as LaTeX.

        Raises:
            OSError: the directory cannot be written.
        """
        page: Path = view(self, "report", Path(directory), command, png=png, width=width)
        return page

    def __repr__(self) -> str:
        """The first sentence, and the table of goodputs."""
        text: str = view(self, "text")
        return text
