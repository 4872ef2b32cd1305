"""Connections that fill the link in one direction, with probes inside them."""

import contextlib
import fcntl
import socket
import sys
import termios
import threading
from collections import deque
from enum import StrEnum

from airtcp.measure.bounds import Budget, now
from airtcp.measure.wire import (
    FRAME_BYTES,
    PROBE,
    Frames,
    Writes,
    greeting,
)

_OWN_PROBE_S = 0.1
_LOOK_S = 0.2
_PATIENCE_S = 5.0


def unacknowledged(connection: socket.socket) -> int:
    """Unacknowledged bytes in a socket (SIOCOUTQ); 0 if unavailable."""
    try:
        return int.from_bytes(fcntl.ioctl(connection, termios.TIOCOUTQ, bytes(4)), sys.byteorder)
    except (OSError, ValueError):
        return 0


class Way(StrEnum):
    """Direction of the load, seen from here."""

    DOWN = "down"
    UP = "up"


class Load:
    """Connections in one direction."""

    def __init__(self, address: tuple[str, int], way: Way, budget: Budget, seconds: float) -> None:
        """Opens nothing yet.

        Args:
            address: address of the peer.
            way: direction of the load.
            budget: budget of all connections.
            seconds: maximum duration of a connection.
        """
        self._address, self._way, self._budget, self._seconds = address, way, budget, seconds
        self._ended = threading.Event()
        self._threads: list[threading.Thread] = []
        self._sockets: list[socket.socket] = []
        self._open_count = 0
        self.bytes = 0
        """Bytes received here so far, or handed to the kernel."""
        self.round_trips: list[tuple[float, float]] = []
        """Probes inside the load: start time, and milliseconds."""
        self._asked: list[deque[float]] = []
        self.error: OSError | None = None

    @property
    def connections(self) -> int:
        """Number of connections that have been opened."""
        return self._open_count

    @property
    def delivered(self) -> int:
        """Bytes received here, or acknowledged by the peer."""
        if self._way is Way.DOWN:
            return self.bytes
        return self.bytes - sum(map(unacknowledged, self._sockets))

    @property
    def waiting(self) -> list[float]:
        """Start times of unanswered probes inside the load."""
        return [begun for asked in self._asked for begun in list(asked)]

    def add(self) -> None:
        """Opens another connection, in the background: on a full link it takes seconds.

        One that cannot be opened within the patience is an error only as long as no other is open:
        the link's queue may drop the first packets of any.
        """
        thread = threading.Thread(target=self._guarded, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _open(self) -> socket.socket:
        """A connection that carries the load; closed if it fails."""
        connection = socket.create_connection(self._address, timeout=_PATIENCE_S)
        self._sockets.append(connection)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        name = "download" if self._way is Way.DOWN else "upload"
        connection.sendall(greeting(name, f"{self._seconds + 5:.0f}", self._budget.left))
        return connection

    def end(self) -> None:
        """Closes all, and waits for them."""
        self._ended.set()
        for connection in self._sockets:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(_PATIENCE_S + 1)
        for connection in self._sockets:
            connection.close()

    @property
    def _goes_on(self) -> bool:
        return not self._ended.is_set() and not self._budget.stopped.is_set()

    def _guarded(self) -> None:
        try:
            connection = self._open()
            connection.settimeout(_LOOK_S)
            self._open_count += 1
            (self._receive if self._way is Way.DOWN else self._send)(connection)
        except TimeoutError as error:
            if self._goes_on and not self._open_count:
                self.error = error
        except OSError as error:
            if self._goes_on:
                self.error = error

    def _receive(self, connection: socket.socket) -> None:
        frames, buffer = Frames(), bytearray(256 * 1024)
        view, asked = memoryview(buffer), deque[float]()
        self._asked.append(asked)
        next_probe = now()
        while self._goes_on:
            if now() >= next_probe and not asked:
                next_probe = now() + _OWN_PROBE_S
                asked.append(now())
                connection.sendall(PROBE)
            try:
                count = connection.recv_into(buffer)
            except TimeoutError:
                continue
            if count == 0:
                return
            self.bytes += count
            self._budget.spend(count)
            for _ in range(frames.probes(view[:count])):
                self._answered(asked)

    def _send(self, connection: socket.socket) -> None:
        writes = Writes(connection)
        asked = deque[float]()
        self._asked.append(asked)
        reader = threading.Thread(target=self._answers, args=(connection, asked))
        reader.daemon = True
        reader.start()
        probe = memoryview(PROBE + bytes(FRAME_BYTES - 1))
        bulk = memoryview(bytes(FRAME_BYTES * Writes.MAX))
        frame, place, next_probe = probe[:0], 0, now()
        while self._goes_on:
            if place == len(frame):
                place, frame = 0, bulk[: writes.frames * FRAME_BYTES]
                if now() >= next_probe and not asked:
                    next_probe = now() + _OWN_PROBE_S
                    asked.append(now())
                    frame = probe
            try:
                count = connection.send(frame[place:])
            except TimeoutError:
                continue
            place += count
            writes.wrote(count)
            self.bytes += count
            self._budget.spend(count)

    def _answers(self, connection: socket.socket, asked: deque[float]) -> None:
        while self._goes_on:
            try:
                answers = connection.recv(64)
            except TimeoutError:
                continue
            except OSError:
                return
            if not answers:
                return
            for _ in answers:
                self._answered(asked)

    def _answered(self, asked: deque[float]) -> None:
        if asked:
            begun = asked.popleft()
            self.round_trips.append((begun, 1e3 * (now() - begun)))
