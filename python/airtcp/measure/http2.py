"""HTTP/2 for a server of draft-ietf-ippm-responsiveness: requests multiplexed with the load.

The package `h2` handles frames and windows; this module handles the sockets. All work of a
connection happens in one thread.
"""

import select
import ssl
from collections import deque
from dataclasses import dataclass
from urllib.parse import SplitResult

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    Event,
    ResponseReceived,
    StreamEnded,
    StreamReset,
)
from h2.exceptions import ProtocolError
from h2.settings import SettingCodes, Settings

from airtcp.measure.bounds import now
from airtcp.measure.wire import FRAME_BYTES, Writes

PROTOCOL = "h2"
"""ALPN name (RFC 9113 §3.2)."""
_WINDOW = 2**31 - 1
"""The maximum (RFC 9113 §6.9.1): the link should limit a download, not this end."""
_FIRST_WINDOW = 65_535
_OWN_PROBE_S = 0.1
_LOOK_S = 0.2
_USER_AGENT = ("user-agent", "airtcp-measure")


class Http2Error(ConnectionResetError):
    """The server has reset a stream or the connection, or sent invalid frames."""


@dataclass(frozen=True)
class Answer:
    """A server's answer."""

    status: int
    body: bytes


class Connection:
    """A connection to a server that has chosen HTTP/2."""

    def __init__(self, connection: ssl.SSLSocket) -> None:
        """Sends the connection preface.

        Raises:
            OSError: the connection failed.
        """
        self._socket = connection
        self._state = H2Connection(H2Configuration(client_side=True, header_encoding="utf-8"))
        wanted = {SettingCodes.ENABLE_PUSH: 0, SettingCodes.INITIAL_WINDOW_SIZE: _WINDOW}
        self._state.local_settings = Settings(client=True, initial_values=wanted)
        self._state.initiate_connection()
        self._state.increment_flow_control_window(_WINDOW - _FIRST_WINDOW)
        self._unsent = b""

    @property
    def has_unsent(self) -> bool:
        """Whether data waits for room in the socket."""
        self._unsent += self._state.data_to_send()
        return bool(self._unsent)

    def send(self) -> None:
        """Writes pending data to the socket.

        Raises:
            OSError: the connection failed.
        """
        while self.has_unsent:
            try:
                count = self._socket.send(self._unsent)
            except (TimeoutError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
                return
            self._unsent = self._unsent[count:]

    def request(self, method: str, url: SplitResult, more: tuple[tuple[str, str], ...] = ()) -> int:
        """Sends a request; returns its stream number. A stream with a body stays open (POST)."""
        target = (url.path or "/") + (f"?{url.query}" if url.query else "")
        fields = [
            (":method", method),
            (":scheme", url.scheme),
            (":authority", url.netloc),
            (":path", target),
            _USER_AGENT,
            *more,
        ]
        stream = self._state.get_next_available_stream_id()
        self._state.send_headers(stream, fields, end_stream=method == "GET")
        return stream

    def room(self, stream: int) -> int:
        """Bytes of a body that flow control permits now."""
        window = self._state.local_flow_control_window(stream)
        return min(window, self._state.max_outbound_frame_size)

    def body(self, stream: int, data: bytes) -> None:
        """Sends a part of a body."""
        self._state.send_data(stream, data)

    def wait(self, seconds: float, for_room: bool) -> bool:
        """Waits for data to read, or for room to write; returns whether there is data to read.

        Raises:
            OSError: the connection failed.
        """
        if self._socket.pending():
            return True
        writing = [self._socket] if for_room or self.has_unsent else []
        readable, _, _ = select.select([self._socket], writing, [], seconds)
        return bool(readable)

    def events(self) -> list[Event]:
        """Received events.

        Raises:
            Http2Error: the server ended the connection, or one of its streams.
            OSError: the connection failed.
        """
        try:
            data = self._socket.recv(256 * 1024)
        except (TimeoutError, ssl.SSLWantReadError):
            return []
        if not data:
            raise Http2Error("the server closed the connection")
        try:
            found = self._state.receive_data(data)
            for event in found:
                if isinstance(event, DataReceived):
                    self._state.acknowledge_received_data(
                        event.flow_controlled_length, event.stream_id
                    )
        except ProtocolError as error:
            raise Http2Error(f"no HTTP/2 ({error})") from error
        for event in found:
            if isinstance(event, StreamReset | ConnectionTerminated):
                raise Http2Error(f"the server ended it with error {event.error_code}")
        return found


def status_of(event: ResponseReceived) -> int:
    """The status of a response; 0 without one."""
    fields = {str(name): str(value) for name, value in event.headers or ()}
    text = fields.get(":status", "")
    return int(text) if text.isascii() and text.isdecimal() else 0


def ask(connection: ssl.SSLSocket, url: SplitResult, most: int, patience_s: float) -> Answer:
    """One request with a bounded answer, on a connection that has just been opened.

    Args:
        connection: just opened.
        url: the requested URL.
        most: maximum number of bytes of the answer.
        patience_s: maximum duration.

    Raises:
        OSError: the connection failed, or the answer is longer.
    """
    http2 = Connection(connection)
    stream = http2.request("GET", url)
    status, body = 0, b""
    until = now() + patience_s
    while now() < until:
        http2.send()
        for event in http2.events() if http2.wait(until - now(), for_room=False) else ():
            if isinstance(event, ResponseReceived) and event.stream_id == stream:
                status = status_of(event)
            elif isinstance(event, DataReceived) and event.stream_id == stream:
                body += event.data or b""
                if len(body) > most:
                    raise Http2Error(f"an answer of more than {most} bytes")
            elif isinstance(event, StreamEnded) and event.stream_id == stream:
                return Answer(status, body)
    raise TimeoutError("timed out")


class Transfer:
    """The load of one connection, with requests of the small object multiplexed ("self probes")."""

    def __init__(
        self, connection: ssl.SSLSocket, url: SplitResult, small: SplitResult, is_upload: bool
    ) -> None:
        """Requests the load.

        Args:
            connection: just opened.
            url: URL of the large object, or the target of uploads.
            small: URL of the small object, on the same server.
            is_upload: whether the load is an upload.
        """
        self._http2 = Connection(connection)
        self._writes = Writes(connection) if is_upload else None
        self._url, self._small = url, small
        self._stream = self._begin()
        self._probe = 0
        self._next_probe = now() + _OWN_PROBE_S
        self.asked = deque[float]()
        """Start times of unanswered requests."""

    def _begin(self) -> int:
        if self._writes is None:
            return self._http2.request("GET", self._url)
        kind = (("content-type", "application/octet-stream"),)
        return self._http2.request("POST", self._url, kind)

    def step(self) -> tuple[int, list[tuple[float, float]]]:
        """Sends and receives pending data; returns the load's bytes, and answered requests.

        An answered request is a start time and its duration in milliseconds.

        Raises:
            OSError: the connection failed, or the server does not grant the load.
        """
        if not self.asked and now() >= self._next_probe:
            self._next_probe = now() + _OWN_PROBE_S
            self._probe = self._http2.request("GET", self._small)
            self.asked.append(now())
        count, room = 0, 0
        if self._writes is not None:
            room = self._http2.room(self._stream)
            if room > 0 and not self._http2.has_unsent:
                count = min(room, self._writes.frames * FRAME_BYTES)
                self._http2.body(self._stream, bytes(count))
        self._http2.send()
        if self._writes is not None and count:
            self._writes.wrote(count)
        answered: list[tuple[float, float]] = []
        patience = max(0.0, min(_LOOK_S, self._next_probe - now())) or _LOOK_S
        if self._http2.wait(patience, for_room=room > 0):
            for event in self._http2.events():
                count += self._take(event, answered)
        return count, answered

    def _take(self, event: Event, answered: list[tuple[float, float]]) -> int:
        """Handles an event; returns the bytes of a download."""
        if isinstance(event, ResponseReceived) and event.stream_id == self._stream:
            if status_of(event) != 200:
                where = self._url.geturl()
                raise Http2Error(f"{where}: status {status_of(event)}, expected 200")
        elif isinstance(event, DataReceived) and event.stream_id == self._stream:
            return len(event.data or b"")
        elif isinstance(event, StreamEnded):
            if event.stream_id == self._probe and self.asked:
                begun = self.asked.popleft()
                answered.append((begun, 1e3 * (now() - begun)))
            elif event.stream_id == self._stream:
                # The whole object has arrived: request it once more.
                self._stream = self._begin()
        return 0
