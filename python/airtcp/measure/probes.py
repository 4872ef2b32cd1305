"""Echo requests and new connections under load."""

import contextlib
import math
import socket
import threading
from dataclasses import dataclass, field

from airtcp.measure.bounds import Budget, now
from airtcp.measure.load import Load, Way
from airtcp.measure.wire import (
    DATAGRAM_BYTES,
    EXCHANGE_BYTES,
    TOKEN_BYTES,
    WireError,
    greeting,
    read_exactly,
)

INTERVAL_S = 0.1
_PATIENCE_S = 5.0
_GRACE_S = 1.0
"""Time in which the last pings may be answered, or the longest round trip of the phase."""
_HEADERS = 40
"""Bytes of IPv4 and TCP in a segment without options."""


@dataclass
class Samples:
    """Samples of the probes: start time of each, in seconds, and its times in milliseconds."""

    pings: list[tuple[float, float]] = field(default_factory=list)
    pings_sent: list[float] = field(default_factory=list)
    """Time of each ping, answered or not."""
    handshakes: list[tuple[float, float]] = field(default_factory=list)
    tls: list[tuple[float, float]] = field(default_factory=list)
    """Round trip of the TLS handshake, if there is one."""
    exchanges: list[tuple[float, float]] = field(default_factory=list)
    """Duration of a request and its answer, after the handshake."""
    failed: int = 0
    """Connections that were not opened, or not answered, within five seconds."""
    opening_since: float | None = None
    """Start of the connection that is not open yet."""
    asking_since: float | None = None
    """Time of the request that is not answered yet."""

    def give_up(self, begun: float, at: float) -> None:
        """Counts a connection as failed: not opened, or not answered.

        Its duration so far is a lower bound: without it the slowest would not count.
        """
        self.failed += 1
        unanswered = self.handshakes if self.opening_since else self.exchanges
        since = self.opening_since or self.asking_since or begun
        unanswered.append((since, 1e3 * (at - since)))


class Session:
    """A session with the peer: its token is in every datagram."""

    def __init__(self, address: tuple[str, int]) -> None:
        """Opens the session.

        Raises:
            OSError: the peer cannot be reached.
            WireError: the server is not a peer.
        """
        self._connection = socket.create_connection(address, timeout=_PATIENCE_S)
        try:
            self._connection.sendall(greeting("session"))
            digits = read_exactly(self._connection, 2 * TOKEN_BYTES)
            self.token = bytes.fromhex(digits.decode(errors="replace"))
        except (OSError, WireError, ValueError) as error:
            self._connection.close()
            if isinstance(error, OSError) and not isinstance(error, TimeoutError):
                raise
            raise WireError("what listens there is no `airtcp serve --measure`") from error
        self.address = address

    def probes(self, budget: Budget) -> "Probes":
        """Starts probing."""
        return Probes(self, budget)

    def load(self, way: Way, budget: Budget, seconds: float) -> Load:
        """A load in that direction, without any connection yet."""
        return Load(self.address, way, budget, seconds)

    def close(self) -> None:
        """Ends the session."""
        self._connection.close()


class Probes:
    """Probes that run until ended."""

    def __init__(self, session: Session, budget: Budget) -> None:
        """Starts immediately."""
        self._session, self._budget = session, budget
        self.is_ending, self._all_sent = threading.Event(), threading.Event()
        self.samples = Samples()
        family = socket.AF_INET6 if ":" in session.address[0] else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        self._socket.settimeout(INTERVAL_S)
        self._sent: dict[int, float] = {}
        works = (self._send_pings, self._exchange, self._receive_pings)
        self._threads = [threading.Thread(target=work, daemon=True) for work in works]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Ends them, and waits for unfinished ones.

        The last pings get the time for an answer: one that was just sent is not lost.
        """
        self.is_ending.set()
        *senders, receiver = self._threads
        for thread in senders:
            thread.join(_PATIENCE_S + 1)
        self._all_sent.set()
        receiver.join(_PATIENCE_S + 1)
        self._socket.close()

    def _goes_on(self, wait: float = 0.0) -> bool:
        return not self.is_ending.wait(wait) and not self._budget.stopped.is_set()

    def _send_pings(self) -> None:
        number, padding = 0, bytes(DATAGRAM_BYTES - TOKEN_BYTES - 8)
        next_at = now()
        while self._goes_on(max(0.0, next_at - now())):
            next_at += INTERVAL_S
            left = self._sent[number] = now()
            packet = self._session.token + number.to_bytes(8, "big") + padding
            # A full local queue is a lost ping like any other.
            with contextlib.suppress(OSError):
                self._socket.sendto(packet, self._session.address)
            self.samples.pings_sent.append(left)
            self._budget.spend(DATAGRAM_BYTES + 28)
            number += 1

    def _receive_pings(self) -> None:
        while not self._all_sent.is_set() or self._is_answer_due():
            try:
                data = self._socket.recv(2048)
            except OSError:
                # No answer, or a port that is closed for a moment.
                continue
            arrived = now()
            number = int.from_bytes(data[TOKEN_BYTES : TOKEN_BYTES + 8], "big")
            begun = self._sent.pop(number, None)
            if data[:TOKEN_BYTES] == self._session.token and begun is not None:
                self.samples.pings.append((begun, 1e3 * (arrived - begun)))

    def _is_answer_due(self) -> bool:
        longest_ms = max((took for _, took in self.samples.pings), default=0.0)
        patience_s = min(max(_GRACE_S, longest_ms / 1e3), _PATIENCE_S)
        return now() - max(self._sent.values(), default=-math.inf) < patience_s

    def _exchange(self) -> None:
        # Sequential: with a long round trip, fewer are started.
        next_at = now()
        while self._goes_on(max(0.0, next_at - now())):
            next_at = max(next_at + INTERVAL_S, now())
            self._exchange_once()

    def _exchange_once(self) -> None:
        samples = self.samples
        begun = samples.opening_since = now()
        try:
            with socket.create_connection(self._session.address, timeout=_PATIENCE_S) as one:
                opened = samples.asking_since = now()
                samples.handshakes.append((begun, 1e3 * (opened - begun)))
                samples.opening_since = None
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                one.sendall(greeting("exchange") + bytes(EXCHANGE_BYTES))
                read_exactly(one, EXCHANGE_BYTES)
                samples.exchanges.append((opened, 1e3 * (now() - opened)))
            self._budget.spend(2 * EXCHANGE_BYTES + 8 * _HEADERS)
        except (OSError, WireError):
            if self._goes_on():
                samples.give_up(begun, now())
        finally:
            samples.opening_since = samples.asking_since = None
