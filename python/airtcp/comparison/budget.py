"""The processor time that a comparison may take."""

import time
from collections.abc import Callable
from math import inf

from airtcp._core import AirtcpError, RunError


class OutOfBudgetError(AirtcpError):
    """Runs were ended because their processor-time budget was used up."""


class FirstSeedError(RunError):
    """Not even one seed of every remedy fits into the budget."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"{reason}: allow more, name fewer remedies (--remedy), or shorten the runs "
            '(--set "duration=10 s")'
        )
        self.reason = reason
        """What takes how much more, without options that not every command has."""


class Budget:
    """Bounded processor time of this process, counted from construction."""

    def __init__(
        self, most_cpu_s: float = inf, clock: Callable[[], float] = time.process_time
    ) -> None:
        self.most_cpu_s = most_cpu_s
        """The bound, in seconds."""
        self._clock = clock
        self._begun = clock()

    @property
    def spent_s(self) -> float:
        """Processor time spent, in seconds, of all threads."""
        return self._clock() - self._begun

    @property
    def left_s(self) -> float:
        """Processor time left, in seconds."""
        return self.most_cpu_s - self.spent_s

    def check(self) -> None:
        """Ends runs that exceed the bound; meant as the callback after each finished run.

        Raises:
            OutOfBudgetError: the bound is exceeded.
        """
        if self.left_s < 0:
            raise OutOfBudgetError(self.words)

    @property
    def words(self) -> str:
        """The bound in words."""
        return f"{self.most_cpu_s:g} s of processor time (--max-cpu)"
