"""Output that cannot be written: the answer is printed first, then the error."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from airtcp.cli.console import print_json
from airtcp.cli.errors import say

_Written = TypeVar("_Written")


class AnswerFirst:
    """Writes the output of --out, and defers an error until the answer is printed.

    Args:
        error: an error of earlier writing, if there was one.
    """

    def __init__(self, error: OSError | None = None) -> None:
        self._error = error

    def attempt(self, write: Callable[[], _Written]) -> _Written | None:
        """The result of `write`; None if the disk refused it."""
        try:
            return write()
        except OSError as error:
            self._error = self._error or error
            return None

    def give(
        self,
        folder: Path | None,
        report: Callable[[Path], Path],
        as_json: Callable[[Path | None], object] | None,
        print_text: Callable[[], object],
        note: str = "",
    ) -> None:
        """Writes the report and prints the answer: one JSON object, or text with a note.

        Args:
            folder: the folder of the report; None for no report.
            report: writes it; returns its page.
            as_json: the answer as an object, from the page; None for text.
            print_text: prints the answer.
            note: a message after the text.
        """
        page = self.attempt(partial(report, folder)) if folder else None
        if as_json:
            print_json(as_json(page))
            return
        print_text()
        if note:
            say(note)
        if page:
            say(f"report: {page}")

    @property
    def failed(self) -> bool:
        """Whether something could not be written."""
        return self._error is not None

    def finish(self) -> None:
        """Raises the deferred error; to be called after the answer is printed.

        Raises:
            OSError: something could not be written.
        """
        if self._error is not None:
            raise self._error
