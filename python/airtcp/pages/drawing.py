"""Draws many figures: a share in this process, the others in worker processes.

A worker is a separate program, which reads its figures from standard input. It imports nothing from
the caller, so that a script without a main guard works too.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from airtcp.core.files import write_whole
from airtcp.pages.plot.latex import latex_of
from airtcp.pages.plot.plotted import Plotted
from airtcp.pages.plot.svg import Drawing, png_of, svg_file, svg_of_drawing

FEWEST_EACH = 8
"""Minimum number of figures per process: loading matplotlib takes as long as some figures."""


@dataclass(frozen=True)
class Sheet:
    """A figure to draw into files of this name."""

    name: str
    drawing: Drawing
    is_file: bool = True
    """Whether it is also written as a file; otherwise it is only in the page."""


@dataclass(frozen=True)
class Share:
    """The figures drawn by one process, and their folder."""

    directory: Path
    sheets: tuple[Sheet, ...]
    png: bool
    width: float | None = None
    """Width in inches of the PDFs and their source for LaTeX; None for neither."""

    def drawn(self) -> list[str]:
        """Draws and writes every figure; returns the `<svg>` elements.

        Raises:
            OSError: a file cannot be written.
        """
        return [
            draw(self.directory, sheet, png=self.png, width=self.width) for sheet in self.sheets
        ]


def draw(directory: Path, sheet: Sheet, *, png: bool = False, width: float | None = None) -> str:
    """Draws a figure and writes its files; returns its `<svg>` element.

    Raises:
        OSError: a file cannot be written.
    """
    svg = svg_of_drawing(sheet.drawing, sheet.name)
    if not sheet.is_file:
        return svg
    write_whole(directory / f"{sheet.name}.svg", svg_file(svg))
    if png:
        write_whole(directory / f"{sheet.name}.png", png_of(sheet.drawing.figure()))
    if width is not None:
        # Loads matplotlib's writer of PDFs, as long as some figures take to draw.
        from airtcp.pages.plot.printed import for_width, printed

        content = printed(for_width(sheet.drawing, width), "pdf", width)
        write_whole(directory / f"{sheet.name}.pdf", content)
        source = latex_of(sheet.drawing, width)
        # Its table has the name without.
        write_whole(directory / f"{sheet.name}-figure.tex", source.encode())
    return svg


def draw_all(
    directory: Path,
    sheets: Sequence[Sheet],
    *,
    png: bool = False,
    width: float | None = None,
    processes: int | None = None,
) -> list[str]:
    """Draws figures and writes their files; returns their `<svg>` elements in the same order.

    Args:
        directory: the folder of the files.
        sheets: the figures.
        png: whether to write each as PNG, too.
        width: the width in inches of a PDF and of source for LaTeX to write of each, too.
        processes: number of processes; the default is one per available processor, and a single one
            for fewer than eight figures by matplotlib.

    Raises:
        OSError: a file cannot be written.
    """
    if processes is None:
        # Marks are written in less time than a process takes to start.
        slow = sum(
            png or width is not None or not isinstance(one.drawing, Plotted) for one in sheets
        )
        processes = min(os.cpu_count() or 1, slow // FEWEST_EACH)
    processes = max(1, min(processes, len(sheets)))
    # Dealt round-robin: neighbours are of one kind and take equally long.
    shares = [
        Share(directory, tuple(sheets[first::processes]), png, width) for first in range(processes)
    ]
    workers = [_Worker(share) for share in shares[1:]]
    parts = [shares[0].drawn(), *(worker.result() for worker in workers)]
    return [parts[place % processes][place // processes] for place in range(len(sheets))]


_PROGRAM = f"from {__name__} import serve; serve()"


class _Worker:
    """A process that draws a share; a thread writes its input and reads its output."""

    def __init__(self, share: Share) -> None:
        self._share = share
        self._answer = b""
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            input=pickle.dumps(self._share),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode == 0:
            self._answer = done.stdout

    def result(self) -> list[str]:
        """The elements. If a worker failed or was killed, this process draws its share."""
        self._thread.join()
        if not self._answer:
            return self._share.drawn()
        answer = pickle.loads(self._answer)
        if isinstance(answer, OSError):
            raise answer
        drawn: list[str] = answer
        return drawn


def serve() -> None:
    """Draws the share on standard input; writes the elements, or the error, to standard output."""
    share: Share = pickle.load(sys.stdin.buffer)
    answer: list[str] | OSError
    try:
        answer = share.drawn()
    except OSError as error:
        answer = error
    sys.stdout.buffer.write(pickle.dumps(answer))
