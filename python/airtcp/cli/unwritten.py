"""Output that cannot be written: the answer is printed first, then the error."""

from collections.abc import Callable
from typing import Generic, TypeVar

_Written = TypeVar("_Written")


class AnswerFirst(Generic[_Written]):
    """Writes the output of --out, and defers an error until the answer is printed."""

    def __init__(self) -> None:
        self._error: OSError | None = None

    def attempt(self, write: Callable[[], _Written]) -> _Written | None:
        """The result of `write`; None if the disk refused it."""
        try:
            return write()
        except OSError as error:
            self._error = self._error or error
            return None

    def keep(self, error: OSError | None) -> None:
        """Defers an error of earlier writing."""
        self._error = self._error or error

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
