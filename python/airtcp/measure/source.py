"""What fills a link and probes it: one file a source, and all are measured alike."""

from collections.abc import Sequence
from typing import Protocol

from airtcp.measure.bounds import Budget
from airtcp.measure.load import Way
from airtcp.measure.probes import Samples


class RunningProbes(Protocol):
    """Probes that run until they are ended."""

    @property
    def samples(self) -> Samples:
        """What they found so far."""

    def end(self) -> None:
        """Ends them, and waits for those that are under way."""


class RunningLoad(Protocol):
    """Connections that fill the link one way until they are ended."""

    @property
    def connections(self) -> int:
        """Their number."""

    @property
    def delivered(self) -> int:
        """Bytes received here, or acknowledged by the other end."""

    @property
    def round_trips(self) -> Sequence[tuple[float, float]]:
        """Of the load's own: when each began, in seconds, and how many milliseconds it took."""

    @property
    def waiting(self) -> Sequence[float]:
        """When those began that are not over."""

    @property
    def error(self) -> OSError | None:
        """Why a connection failed, if one did."""

    def add(self) -> None:
        """Opens one more connection.

        Raises:
            OSError: the other end cannot be reached.
        """

    def end(self) -> None:
        """Closes all, and waits for them."""


class Source(Protocol):
    """The other end of a measurement."""

    def probes(self, budget: Budget) -> RunningProbes:
        """Begins to probe."""

    def load(self, way: Way, budget: Budget, seconds: float) -> RunningLoad:
        """A load of that way, without any connection yet, each of which lasts so long at most."""

    def close(self) -> None:
        """Ends it."""
