"""Interface of loads and probes: one implementation per kind of server."""

from collections.abc import Sequence
from typing import Protocol

from airtcp.measure.bounds import Budget
from airtcp.measure.load import Way
from airtcp.measure.probes import Samples


class RunningProbes(Protocol):
    """Probes that run until ended."""

    @property
    def samples(self) -> Samples:
        """Samples so far."""

    def end(self) -> None:
        """Ends them, and waits for unfinished ones."""


class RunningLoad(Protocol):
    """Connections that fill the link in one direction until ended."""

    @property
    def connections(self) -> int:
        """Number of connections that have been opened."""

    @property
    def delivered(self) -> int:
        """Bytes received here, or acknowledged by the other end."""

    @property
    def round_trips(self) -> Sequence[tuple[float, float]]:
        """Requests inside the load: start of each, in seconds, and its duration in milliseconds."""

    @property
    def waiting(self) -> Sequence[float]:
        """Start times of unfinished requests."""

    @property
    def error(self) -> OSError | None:
        """Why a connection failed, if any did."""

    def add(self) -> None:
        """Opens another connection, in the background: `error` names a failure."""

    def end(self) -> None:
        """Closes all, and waits for them."""


class Source(Protocol):
    """The other end of a measurement."""

    def probes(self, budget: Budget) -> RunningProbes:
        """Starts probing."""

    def load(self, way: Way, budget: Budget, seconds: float) -> RunningLoad:
        """A load without any connection yet; each connection will last at most `seconds`."""

    def close(self) -> None:
        """Ends the source."""
