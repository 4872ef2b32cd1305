"""Walks commands one after the other, and keeps how each ended and how long it took."""

import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

LATE = "this machine did not keep up"
"""Real packets on a busy machine: they were carried, but the measurement is invalid."""
Run = Callable[[str], subprocess.CompletedProcess[str]]
"""Runs a line of a shell in the place of a trial."""


@dataclass(frozen=True)
class Step:
    """A command that ended well, or late."""

    command: str
    seconds: float
    is_late: bool = False

    def __str__(self) -> str:
        if self.is_late:
            return f"   late  {self.command}: {LATE}"
        return f"{self.seconds:5.1f} s  {self.command}"


class FailedError(Exception):
    """A command that failed, with its output."""


def walk(
    commands: Iterable[str], run: Run, told: Callable[[Step], None] = lambda step: None
) -> list[Step]:
    """Runs commands in order.

    Raises:
        FailedError: one ended with another status than 0; the later ones did not run.
    """
    steps = []
    for command in commands:
        begun = time.monotonic()
        done = run(command)
        seconds = time.monotonic() - begun
        is_late = LATE in done.stderr
        if done.returncode != 0 and not is_late:
            output = f"{done.stdout}{done.stderr}".strip()
            raise FailedError(f"{command}: status {done.returncode}\n{output}")
        steps.append(Step(command, seconds, is_late))
        told(steps[-1])
    return steps
