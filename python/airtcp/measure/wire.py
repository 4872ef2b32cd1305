"""The protocol between a measurement and its peer.

A TCP connection begins with one line that states its purpose:

```text
airtcp-measure 1 session                  -> 32 hexadecimal digits, the token of its datagrams
airtcp-measure 1 exchange                 then 150 bytes there, 150 back, as often as wanted
airtcp-measure 1 download SECONDS BYTES   frames from the peer, for at most so long and so many
airtcp-measure 1 upload SECONDS BYTES     frames to the peer
```

A *frame* is 4 KiB, and its first byte shows whether it answers a probe. In a download the client
asks by one byte, and the next frame that the peer writes answers; in an upload a frame asks, and
one byte from the peer answers: either is a request multiplexed with the load
(draft-ietf-ippm-responsiveness, self probes). Datagrams begin with the session's token and come
back unchanged, never larger than they were.
"""

import fcntl
import socket
import sys
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
"""Size of an echo request: token, number, and padding."""

MAX_S = 120.0
"""Maximum duration of a transfer that a peer grants."""
MAX_BYTES = 20_000_000_000
"""Maximum number of bytes that a peer grants."""
MAX_LINE = 100


class WireError(Exception):
    """The other end violates the protocol."""


def greeting(*words: object) -> bytes:
    """The first line of a connection."""
    return " ".join([NAME, VERSION, *map(str, words)]).encode() + b"\n"


def read_line(connection: socket.socket) -> list[str]:
    """The words of a line, without the protocol's name and version.

    Raises:
        WireError: not a line of the protocol, or of another version.
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
    """Reads exactly `count` bytes.

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
    """Size of a load's writes: a few milliseconds at its rate.

    Unsent data in the socket (TCP_NOTSENT_LOWAT) is bounded alike: a local backlog is not the
    link's, and an answer would wait for it. The bound grows while the socket runs out of data,
    since BBR does not leave its startup while its samples are limited by the application
    (`bbr_check_full_bw_reached` in Linux' net/ipv4/tcp_bbr.c): it would overflow the queue.
    """

    MAX = 64
    """Maximum number of frames per write."""

    def __init__(self, connection: socket.socket) -> None:
        """Starts with one frame, until the rate is known."""
        self._connection = connection
        self.frames = 1
        self._backlog_s = _BACKLOG_S
        self._since, self._bytes = time.monotonic(), 0
        self._ran_out_at = -_CALM_S
        self._bound()

    def wrote(self, count: int) -> None:
        """Counts the bytes of a write; updates the rate ten times a second."""
        self._bytes += count
        at = time.monotonic()
        if (left := unsent(self._connection)) is not None and left <= count:
            # Nothing was left of earlier writes.
            self._ran_out_at = at
        passed = at - self._since
        if passed < _RATE_S:
            return
        if self._ran_out_at >= self._since:
            self._backlog_s = min(2 * self._backlog_s, _MAX_BACKLOG_S)
        elif at - self._ran_out_at > _CALM_S:
            self._backlog_s = max(self._backlog_s / 2, _BACKLOG_S)
        fitting = round(self._bytes / passed * self._backlog_s / FRAME_BYTES)
        self.frames = max(1, min(fitting, self.MAX))
        self._since, self._bytes = at, 0
        self._bound()

    def _bound(self) -> None:
        # Linux and macOS have it; without it the backlog is the socket's buffer.
        option = getattr(socket, "TCP_NOTSENT_LOWAT", None)
        if option is not None:
            bound = max(_MIN_BACKLOG, self.frames * FRAME_BYTES)
            self._connection.setsockopt(socket.IPPROTO_TCP, option, bound)


def unsent(connection: socket.socket) -> int | None:
    """Bytes in a socket that were never sent (SIOCOUTQNSD).

    None once it is closed, and on systems other than Linux.
    """
    if sys.platform != "linux":
        return None
    try:
        return int.from_bytes(fcntl.ioctl(connection, _SIOCOUTQNSD, bytes(4)), sys.byteorder)
    except (OSError, ValueError):
        return None


_RATE_S = 0.1
_BACKLOG_S = 0.003
_MAX_BACKLOG_S = 0.024
_CALM_S = 1.0
"""Time without running out of data after which the backlog shrinks again."""
_MIN_BACKLOG = 2 * FRAME_BYTES
_SIOCOUTQNSD = 0x894B
"""linux/sockios.h"""


class Frames:
    """Counts frames in a stream of bytes, and probes among them."""

    def __init__(self) -> None:
        """Starts at the beginning of a stream."""
        self._within = 0

    def probes(self, data: memoryview) -> int:
        """Number of probe frames that begin in the next bytes of the stream."""
        found = 0
        place = -self._within % FRAME_BYTES
        while place < len(data):
            found += data[place] == PROBE[0]
            place += FRAME_BYTES
        self._within = (self._within + len(data)) % FRAME_BYTES
        return found
