"""A whole measurement: idle, then loaded in each direction."""

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from airtcp.measure.bounds import Budget
from airtcp.measure.load import Way
from airtcp.measure.phase import Phase, idle, loaded
from airtcp.measure.probes import Session
from airtcp.measure.source import Source

IDLE_SHARE = 0.2
"""Share of the time for the idle link; the directions share the rest."""


@dataclass(frozen=True)
class Measurement:
    """Results of a measurement."""

    idle: Phase
    loaded: tuple[Phase, ...]
    spent_bytes: int
    is_cut: bool
    """Whether the bytes were spent before the time."""

    def of(self, way: Way) -> Phase | None:
        """The phase loaded in that direction, if any."""
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
        host: name or address of the peer.
        port: port of the peer.
        seconds: maximum duration of the whole measurement.
        most_bytes: maximum of bytes sent plus received.
        ways: directions to load, one after the other.
        progress: called with the finished share and a few words.

    Raises:
        OSError: the peer cannot be reached, or a connection failed.
        WireError: the server is not a peer.
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
    """Measures through any source, which is closed at the end.

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

            # Each direction may spend its share of the rest.
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
    """The address for both connections and datagrams."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    address = found[0][4]
    return str(address[0]), int(address[1])
