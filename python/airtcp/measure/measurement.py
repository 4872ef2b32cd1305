"""A whole measurement: idle, then loaded one way after the other."""

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from airtcp.measure.bounds import Budget
from airtcp.measure.load import Way
from airtcp.measure.phase import Phase, idle, loaded
from airtcp.measure.probes import Session
from airtcp.measure.source import Source

IDLE_SHARE = 0.2
"""Of the time for the idle link; the rest is shared by the ways."""


@dataclass(frozen=True)
class Measurement:
    """What was found."""

    idle: Phase
    loaded: tuple[Phase, ...]
    spent_bytes: int
    is_cut: bool
    """The bytes were spent before the time was over."""

    def of(self, way: Way) -> Phase | None:
        """The phase loaded that way, if it was."""
        return next((phase for phase in self.loaded if phase.way == way), None)


def measure(
    host: str,
    port: int,
    *,
    seconds: float,
    most_bytes: int,
    ways: Sequence[Way] = (Way.DOWN, Way.UP),
    progress: Callable[[float, str], object] = lambda share, words: None,
) -> Measurement:
    """Measures the link to a peer (`airtcp serve --measure`).

    Args:
        host: its name or address.
        port: its port.
        seconds: the longest that all of it takes.
        most_bytes: the most that it sends and receives.
        ways: which ways are loaded, one after the other.
        progress: called with the share that is done and a few words.

    Raises:
        OSError: the peer cannot be reached, or a connection failed.
        WireError: what listens there is no peer.
    """
    session = Session(_resolved(host, port))
    return measure_by(session, seconds, most_bytes, ways, progress)


def measure_by(
    source: Source,
    seconds: float,
    most_bytes: int,
    ways: Sequence[Way],
    progress: Callable[[float, str], object],
) -> Measurement:
    """The same by any source, which is closed at the end.

    Raises:
        OSError: a connection failed.
    """
    budget = Budget(most_bytes)
    try:
        idle_s = IDLE_SHARE * seconds
        each_s = (seconds - idle_s) / len(ways)
        first = idle(
            source, budget, idle_s, lambda share, words: progress(IDLE_SHARE * share, words)
        )
        phases: list[Phase] = []
        for number, way in enumerate(ways):
            if budget.stopped.is_set():
                break

            def tell(share: float, words: str, number: int = number) -> None:
                progress(IDLE_SHARE + (1 - IDLE_SHARE) * (number + share) / len(ways), words)

            # Each way may spend its part of what is left.
            part = Budget(budget.left // (len(ways) - number))
            try:
                phases.append(loaded(source, way, part, each_s, tell))
            finally:
                budget.spend(part.spent)
        is_cut = budget.is_spent or len(phases) < len(ways)
        return Measurement(first, tuple(phases), budget.spent, is_cut)
    finally:
        budget.stopped.set()
        source.close()


def _resolved(host: str, port: int) -> tuple[str, int]:
    """The address that connections and datagrams both go to."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    address = found[0][4]
    return str(address[0]), int(address[1])
