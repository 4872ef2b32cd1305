"""Ctrl-C during many runs: how many are finished, and whether the same command goes on."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from airtcp.cli.errors import say
from airtcp.cli.progress import Report


class CountedRuns:
    """Numbers of finished runs and of all runs, kept while progress is reported."""

    finished = 0
    cells = 0

    def reported(self, report: Report) -> Callable[[int, int], None]:
        """The callback for progress in runs, which passes it on to a bar."""

        def progress(finished: int, cells: int) -> None:
            self.finished, self.cells = finished, cells
            report(finished / cells, f"{finished} of {cells} runs")

        return progress


@contextmanager
def resumable(folder: Path | None) -> Iterator[CountedRuns]:
    """On Ctrl-C inside, says how many runs are finished, and kept in the folder of --out."""
    runs = CountedRuns()
    try:
        yield runs
    except KeyboardInterrupt:
        count = f"{runs.finished} of {runs.cells} runs are finished"
        if folder is None:
            say(f"{count}, and lost: with --out DIR they are kept for the next time")
        else:
            cells = folder / "cells"
            say(f"{count} and kept in {cells}: the same command goes on from there")
        raise
