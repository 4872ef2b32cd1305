"""The other end of a measurement: `airtcp serve --measure`.

It echoes, sends and receives, within its limits regardless of a client's request, and answers a
datagram only with the token of an open session: it cannot be made to send to others.
"""

import contextlib
import secrets
import select
import signal
import socket
import threading
import time
from collections.abc import Callable

from airtcp.measure.wire import (
    EXCHANGE_BYTES,
    FRAME_BYTES,
    MAX_BYTES,
    MAX_S,
    PROBE,
    TOKEN_BYTES,
    Frames,
    WireError,
    Writes,
    read_exactly,
    read_line,
)

MAX_CONNECTIONS = 256
"""Maximum number of simultaneous connections; a further one is closed at once."""
_SILENCE_S = 10.0
"""Idle time after which a connection is closed."""
_LOOK_S = 0.2


class Peer:
    """A listening peer. `close` ends it and all its transfers."""

    def __init__(self, host: str, port: int) -> None:
        """Listens on TCP and UDP.

        Raises:
            OSError: the address cannot be used.
        """
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, port), family=family, backlog=128)
        self.port: int = self._listener.getsockname()[1]
        self._datagrams = socket.socket(family, socket.SOCK_DGRAM)
        try:
            self._datagrams.bind((host, self.port))
        except OSError:
            self._listener.close()
            self._datagrams.close()
            raise
        self._tokens: set[bytes] = set()
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._is_closed = threading.Event()

    def serve(self) -> None:
        """Serves until it is closed."""
        sockets = [self._listener, self._datagrams]
        while not self._is_closed.is_set():
            try:
                ready, _, _ = select.select(sockets, [], [], _LOOK_S)
                if self._datagrams in ready:
                    self._echo()
                if self._listener in ready:
                    self._accept()
            except (OSError, ValueError):
                if not self._is_closed.is_set():
                    raise

    def close(self) -> None:
        """Ends it and all connections."""
        self._is_closed.set()
        with self._lock:
            connections = list(self._open)
        for one in (self._listener, self._datagrams, *connections):
            with contextlib.suppress(OSError):
                one.close()

    def _echo(self) -> None:
        with contextlib.suppress(OSError):
            data, sender = self._datagrams.recvfrom(2048)
            if data[:TOKEN_BYTES] in self._tokens:
                self._datagrams.sendto(data, sender)

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return
        with self._lock:
            if len(self._open) >= MAX_CONNECTIONS:
                connection.close()
                return
            self._open.add(connection)
        threading.Thread(target=self._handle, args=(connection,), daemon=True).start()

    def _handle(self, connection: socket.socket) -> None:
        try:
            connection.settimeout(_SILENCE_S)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            match read_line(connection):
                case ["session"]:
                    self._session(connection)
                case ["exchange"]:
                    self._exchange(connection)
                case ["download", seconds, most]:
                    self._download(connection, *_bounds(seconds, most))
                case ["upload", seconds, most]:
                    self._upload(connection, *_bounds(seconds, most))
        except (OSError, ValueError, WireError):
            # A client that disconnects, or violates the protocol, must not affect the others.
            pass
        finally:
            with self._lock:
                self._open.discard(connection)
            connection.close()

    def _session(self, connection: socket.socket) -> None:
        token = secrets.token_bytes(TOKEN_BYTES)
        self._tokens.add(token)
        try:
            connection.sendall(token.hex().encode())
            connection.settimeout(MAX_S)
            # The session stays open until the client closes it.
            while connection.recv(64):
                pass
        finally:
            self._tokens.discard(token)

    def _exchange(self, connection: socket.socket) -> None:
        while True:
            read_exactly(connection, EXCHANGE_BYTES)
            connection.sendall(bytes(EXCHANGE_BYTES))

    def _download(self, connection: socket.socket, seconds: float, most: int) -> None:
        writes, rest = Writes(connection), bytes(FRAME_BYTES - 1)
        bulk = memoryview(bytes(FRAME_BYTES * Writes.MAX))
        until, sent, asked = time.monotonic() + seconds, 0, 0
        while time.monotonic() < until and sent < most and not self._is_closed.is_set():
            _, writable, _ = select.select([], [connection], [], _LOOK_S)
            if not writable:
                continue
            while select.select([connection], [], [], 0)[0]:
                probes = connection.recv(4096)
                if not probes:
                    return
                asked += len(probes)
            if asked:
                connection.sendall(PROBE + rest)
                asked -= 1
                count = FRAME_BYTES
            else:
                count = writes.frames * FRAME_BYTES
                connection.sendall(bulk[:count])
            writes.wrote(count)
            sent += count

    def _upload(self, connection: socket.socket, seconds: float, most: int) -> None:
        frames, buffer = Frames(), bytearray(256 * 1024)
        view = memoryview(buffer)
        until, received = time.monotonic() + seconds, 0
        while time.monotonic() < until and received < most:
            count = connection.recv_into(buffer)
            if count == 0:
                break
            received += count
            if probes := frames.probes(view[:count]):
                connection.sendall(PROBE * probes)


def _bounds(seconds: str, most: str) -> tuple[float, int]:
    """A client's requested bounds, limited to the peer's."""
    return min(float(seconds), MAX_S), min(int(most), MAX_BYTES)


def serve_until_stopped(peer: Peer, ready: Callable[[], object]) -> None:
    """Serves until Ctrl-C or SIGTERM: an orderly exit on either, so that nothing remains.

    `ready` is called as soon as either signal ends it so.
    """
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    ready()
    serving = threading.Thread(target=peer.serve, daemon=True)
    serving.start()
    while not ended.wait(0.2) and serving.is_alive():
        pass
    peer.close()
    serving.join(2.0)
