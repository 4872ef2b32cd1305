"""What a measurement and its peer say to each other.

A TCP connection begins with one line that says what it is for:

```text
airtcp-measure 1 session                  -> 32 hexadecimal digits, the token of its datagrams
airtcp-measure 1 exchange                 then 150 bytes there, 150 back, as often as wanted
airtcp-measure 1 download SECONDS BYTES   frames from the peer, for at most so long and so many
airtcp-measure 1 upload SECONDS BYTES     frames to the peer
```

A *frame* is 4 KiB, and its first byte says whether it answers a probe. In a download the client
asks by one byte, and the next frame that the peer writes answers; in an upload a frame asks, and
one byte from the peer answers: either is a request multiplexed with the load
(draft-ietf-ippm-responsiveness, self probes). Datagrams begin with the session's token and come
back as they are, never larger than they were.
"""

import socket
import time

NAME = "airtcp-measure"
VERSION = "1"
PORT = 5252
"""The peer's default port, for TCP and UDP."""

FRAME_BYTES = 4 * 1024
BULK = b"\0"
PROBE = b"\1"
EXCHANGE_BYTES = 150
TOKEN_BYTES = 16
DATAGRAM_BYTES = 64
"""Of an echo request: token, number, and nothing."""

MAX_S = 120.0
"""The longest transfer that a peer grants."""
MAX_BYTES = 20_000_000_000
"""The most bytes that it grants."""
MAX_LINE = 100


class WireError(Exception):
    """The other end says something else than this protocol."""


def greeting(*words: object) -> bytes:
    """The first line of a connection."""
    return " ".join([NAME, VERSION, *map(str, words)]).encode() + b"\n"


def read_line(connection: socket.socket) -> list[str]:
    """The words of a line, without the protocol's name and version.

    Raises:
        WireError: it is none, or of another version.
        OSError: the connection failed.
    """
    line = b""
    while not line.endswith(b"\n"):
        byte = connection.recv(1)
        if not byte or len(line) > MAX_LINE:
            raise WireError("no line of this protocol")
        line += byte
    words = line.decode(errors="replace").split()
    if words[:1] != [NAME]:
        raise WireError("no line of this protocol")
    if words[1:2] != [VERSION]:
        raise WireError(f"version {' '.join(words[1:2])} of the protocol; this is {VERSION}")
    return words[2:]


def read_exactly(connection: socket.socket, count: int) -> bytes:
    """That many bytes.

    Raises:
        WireError: the other end closed before.
        OSError: the connection failed.
    """
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            raise WireError("the other end closed the connection")
        data += more
    return data


class Writes:
    """How much a load writes at once: some milliseconds of its own rate.

    What waits unsent in the socket (TCP_NOTSENT_LOWAT) is bounded alike: a backlog of one's own is
    not the link's, and an answer would wait behind it.
    """

    MAX = 64
    """Frames at once."""

    def __init__(self, connection: socket.socket) -> None:
        """One frame, until the rate is known."""
        self._connection = connection
        self.frames = 1
        self._since, self._bytes = time.monotonic(), 0
        self._bound()

    def wrote(self, count: int) -> None:
        """Counts bytes; looks at the rate ten times a second."""
        self._bytes += count
        passed = time.monotonic() - self._since
        if passed < _RATE_S:
            return
        fitting = round(self._bytes / passed * _BACKLOG_S / FRAME_BYTES)
        self.frames = max(1, min(fitting, self.MAX))
        self._since, self._bytes = time.monotonic(), 0
        self._bound()

    def _bound(self) -> None:
        # Linux and macOS have it; without it the backlog is the socket's buffer.
        option = getattr(socket, "TCP_NOTSENT_LOWAT", None)
        if option is not None:
            bound = max(_MIN_BACKLOG, self.frames * FRAME_BYTES)
            self._connection.setsockopt(socket.IPPROTO_TCP, option, bound)


_RATE_S = 0.1
_BACKLOG_S = 0.003
_MIN_BACKLOG = 2 * FRAME_BYTES


class Frames:
    """Counts frames in a stream of bytes, and those that are probes."""

    def __init__(self) -> None:
        """At the beginning of a stream."""
        self._within = 0

    def probes(self, data: memoryview) -> int:
        """How many frames of probes begin in the next bytes of the stream."""
        found = 0
        place = -self._within % FRAME_BYTES
        while place < len(data):
            found += data[place] == PROBE[0]
            place += FRAME_BYTES
        self._within = (self._within + len(data)) % FRAME_BYTES
        return found
