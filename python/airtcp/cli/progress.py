"""Progress of long work: a bar on a terminal, a line a minute in a log."""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from airtcp.cli import console
from airtcp.cli.errors import say
from airtcp.pages.columns import printable

if TYPE_CHECKING:
    from rich.progress import Progress

_LINE_S = 60.0
"""Interval of the lines in a log."""
_QUIET_S = 1.0
"""Maximum duration of work without a bar: one that flashes by is useless."""


class Report(ABC):
    """Takes the finished share, 0 to 1, and a few words on it."""

    @abstractmethod
    def __call__(self, share: float, words: str = "") -> None:
        """Reports a step."""

    def clear(self) -> None:  # noqa: B027
        """Makes room on the terminal for a result; the next step shows the bar again."""


class LinesOfProgress(Report):
    """One line per minute, with an estimate: for logs, which have no bars.

    Args:
        title: the name of the work.
    """

    def __init__(self, title: str) -> None:
        self._title = title
        self._begun = self._last = time.monotonic()

    def __call__(self, share: float, words: str = "") -> None:
        """Reports a step, if a minute has passed since the last line."""
        now = time.monotonic()
        if now - self._last < _LINE_S:
            return
        self._last = now
        left_s = (now - self._begun) * (1 - share) / share if share > 0 else None
        estimate = "" if left_s is None else f", about {left_s / 60:.0f} min left"
        doing = f", {words}" if words else ""
        say(f"airtcp: {self._title}: {100 * share:.0f} %{doing}{estimate}")


class Bar(Report):
    """A bar on a terminal.

    Args:
        progress: draws it.
        title: the name of the work.
    """

    def __init__(self, progress: "Progress", title: str) -> None:
        self._progress = progress
        self._task = progress.add_task(title, total=1.0, words="")
        self._begun = time.monotonic()

    def __call__(self, share: float, words: str = "") -> None:
        """Moves the bar, which is shown once the work has taken a second."""
        self._progress.update(self._task, completed=share, words=words)
        if time.monotonic() - self._begun > _QUIET_S and not self._progress.live.is_started:
            self._progress.start()

    def clear(self) -> None:
        """Removes the bar until the next step."""
        if self._progress.live.is_started:
            self._progress.stop()


@contextmanager
def progress_bar(title: str) -> Iterator[Report]:
    """A bar with an estimate on standard error, for long work only; a line a minute in a log."""
    title = printable(title)
    if not console.err.is_terminal:
        yield LinesOfProgress(title)
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    bar = Bar(
        Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} % {task.fields[words]}"),
            TimeRemainingColumn(),
            console=console.err,
            transient=True,
        ),
        title,
    )
    try:
        yield bar
    finally:
        bar.clear()
