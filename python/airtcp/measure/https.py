"""A server of draft-ietf-ippm-responsiveness-09: its URLs, loads and probes, over HTTP/2 or 1.1.

The draft asks for HTTP/2, with requests multiplexed with the load. A server without it (ALPN), or
without TLS, is measured over HTTP/1.1: there the TCP stack's round-trip estimate replaces them, as
the draft allows ("Measuring Responsiveness"): a sender's smoothed round trip, or a receiver's
estimate. Only Linux provides them.
"""

import contextlib
import http.client
import json
import socket
import ssl
import struct
import threading
from dataclasses import dataclass
from typing import TypeGuard
from urllib.parse import SplitResult, urlsplit

from airtcp.measure import http2
from airtcp.measure.bounds import Budget, now
from airtcp.measure.load import Load, Way
from airtcp.measure.probes import INTERVAL_S, Samples
from airtcp.measure.wire import WireError, Writes

WELL_KNOWN = "/.well-known/nq"
_PATIENCE_S = 5.0
_MAX_CONFIGURATION = 64 * 1024
# Names in the draft since its version 02, and earlier names.
_NAMES = {
    "small": ("small_download_url", "small_https_download_url"),
    "large": ("large_download_url", "large_https_download_url"),
    "upload": ("upload_url", "https_upload_url"),
}
_UPLOAD_BYTES = 1 << 40
_OWN_PROBE_S = 0.1
_TURNS = 4
_PROBE_BYTES = 5000
"""Bytes of a new connection with its request, including TLS (the draft's estimate)."""
# struct tcp_info of linux/tcp.h: eight bytes, then numbers of 32 bits.
_TCP_INFO_RTT, _TCP_INFO_RCV_RTT = 8 + 4 * 15, 8 + 4 * 21
_HEADERS = {"Accept-Encoding": "identity", "User-Agent": "airtcp-measure"}


@dataclass(frozen=True)
class Endpoint:
    """Target of requests: the address of the test endpoint, with the names of the URL."""

    url: SplitResult
    address: tuple[str, int]

    @property
    def is_tls(self) -> bool:
        """Whether the scheme is https."""
        return self.url.scheme == "https"

    @property
    def target(self) -> str:
        """The request's path and query."""
        return (self.url.path or "/") + (f"?{self.url.query}" if self.url.query else "")

    def connect(self, context: ssl.SSLContext) -> tuple[socket.socket, float, float | None]:
        """Returns a connection, the end of its TCP handshake, and a TLS round trip in ms.

        Raises:
            OSError: it cannot be reached, or its certificate is not trusted.
        """
        plain = socket.create_connection(self.address, timeout=_PATIENCE_S)
        try:
            opened = now()
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if not self.is_tls:
                return plain, opened, None
            secure = context.wrap_socket(plain, server_hostname=self.url.hostname)
            # Two round trips before TLS 1.3 (RFC 5246 §7.3, RFC 8446 §2).
            trips = 1 if secure.version() == "TLSv1.3" else 2
            return secure, opened, 1e3 * (now() - opened) / trips
        except BaseException:
            plain.close()
            raise

    def ask(self, connection: socket.socket, most: int) -> http2.Answer:
        """The answer to a request on a newly opened connection, of at most `most` bytes.

        Raises:
            OSError: the connection failed.
            WireError: not an HTTP answer, or too long.
        """
        if is_http2(connection):
            return http2.ask(connection, self.url, most, _PATIENCE_S)
        connection.sendall(self.head("GET", {"Connection": "close"}))
        return _answer(connection, most)

    def head(self, method: str, more: dict[str, str]) -> bytes:
        """The header of a request."""
        fields = {"Host": self.url.netloc, **_HEADERS, **more}
        lines = [f"{method} {self.target} HTTP/1.1", *(f"{n}: {v}" for n, v in fields.items())]
        return ("\r\n".join(lines) + "\r\n\r\n").encode()


@dataclass(frozen=True)
class Urls:
    """Content of the server's configuration."""

    small: Endpoint
    large: Endpoint
    upload: Endpoint


class Server:
    """A server, by the URL of its configuration."""

    def __init__(self, url: str) -> None:
        """Downloads the configuration.

        Args:
            url: `https://HOST`, or with the path of a configuration outside the well-known place.

        Raises:
            OSError: the server cannot be reached, or its certificate is not trusted.
            WireError: it has no such configuration.
        """
        self.context = ssl.create_default_context()
        self.context.set_alpn_protocols([http2.PROTOCOL, "http/1.1"])
        self.urls = _configuration(url, self.context)

    def probes(self, budget: Budget) -> "NewConnections":
        """Starts probing."""
        return NewConnections(self.urls.small, self.context, budget)

    def load(self, way: Way, budget: Budget, seconds: float) -> "Transfers":
        """A load in that direction, without any connection yet."""
        return Transfers(self, way, budget, seconds)

    def close(self) -> None:
        """Nothing remains open between connections."""


class NewConnections:
    """Connections with one request of the small object each ("foreign probes").

    Several alternate: if a full queue drops the first packet of one, which is retransmitted after a
    second, the others go on.
    """

    def __init__(self, small: Endpoint, context: ssl.SSLContext, budget: Budget) -> None:
        """Starts immediately."""
        self._small, self._context, self._budget = small, context, budget
        self._ended = threading.Event()
        self._samples = [Samples() for _ in range(_TURNS)]
        works = enumerate(self._samples)
        self._threads = [
            threading.Thread(target=self._run, args=work, daemon=True) for work in works
        ]
        for thread in self._threads:
            thread.start()

    @property
    def samples(self) -> Samples:
        """Combined samples of all threads; of unfinished ones the earliest start."""
        found = self._samples
        opening = [one.opening_since for one in found if one.opening_since is not None]
        asking = [one.asking_since for one in found if one.asking_since is not None]
        return Samples(
            handshakes=sorted(sample for one in found for sample in one.handshakes),
            tls=sorted(sample for one in found for sample in one.tls),
            exchanges=sorted(sample for one in found for sample in one.exchanges),
            failed=sum(one.failed for one in found),
            opening_since=min(opening, default=None),
            asking_since=min(asking, default=None),
        )

    def end(self) -> None:
        """Ends them, and waits for unfinished ones."""
        self._ended.set()
        for thread in self._threads:
            thread.join(2 * _PATIENCE_S)

    def _goes_on(self, wait: float = 0.0) -> bool:
        return not self._ended.wait(wait) and not self._budget.stopped.is_set()

    def _run(self, place: int, samples: Samples) -> None:
        # With a long round trip, fewer are started.
        next_at = now() + place * INTERVAL_S
        while self._goes_on(max(0.0, next_at - now())):
            next_at = max(next_at + _TURNS * INTERVAL_S, now())
            self._once(samples)

    def _once(self, samples: Samples) -> None:
        begun = samples.opening_since = now()
        try:
            connection, opened, tls_ms = self._small.connect(self._context)
            with connection:
                samples.handshakes.append((begun, 1e3 * (opened - begun)))
                samples.opening_since = None
                if tls_ms is not None:
                    samples.tls.append((opened, tls_ms))
                asked = samples.asking_since = now()
                if self._small.ask(connection, 1024).status != http.client.OK:
                    raise OSError("the small object is not there")
                samples.exchanges.append((asked, 1e3 * (now() - asked)))
            self._budget.spend(_PROBE_BYTES)
        except (OSError, WireError):
            if self._goes_on():
                samples.give_up(begun, now())
        finally:
            samples.opening_since = samples.asking_since = None


class Transfers(Load):
    """Connections that download the large object, or upload data that the server discards."""

    def __init__(self, server: Server, way: Way, budget: Budget, seconds: float) -> None:
        """Opens nothing yet."""
        self._endpoint = server.urls.large if way is Way.DOWN else server.urls.upload
        self._small = server.urls.small
        self._context = server.context
        super().__init__(self._endpoint.address, way, budget, seconds)

    def _open(self) -> socket.socket:
        connection, _, _ = self._endpoint.connect(self._context)
        self._sockets.append(connection)
        if is_http2(connection):
            return connection
        if self._way is Way.DOWN:
            connection.sendall(self._endpoint.head("GET", {}))
        else:
            kind = {"Content-Type": "application/octet-stream"}
            length = {"Content-Length": str(_UPLOAD_BYTES)}
            connection.sendall(self._endpoint.head("POST", {**kind, **length}))
        return connection

    def _multiplex(self, connection: ssl.SSLSocket) -> None:
        is_upload = self._way is Way.UP
        one = http2.Transfer(connection, self._endpoint.url, self._small.url, is_upload)
        self._asked.append(one.asked)
        while self._goes_on:
            count, answered = one.step()
            self.bytes += count
            self._budget.spend(count)
            self.round_trips += answered

    def _receive(self, connection: socket.socket) -> None:
        if is_http2(connection):
            self._multiplex(connection)
            return
        buffer = bytearray(256 * 1024)
        count, next_probe, begin = 0, now() + _OWN_PROBE_S, b""
        while self._goes_on:
            try:
                count = connection.recv_into(buffer)
            except TimeoutError:
                continue
            if count == 0:
                # A complete object is requested once more, in a new connection by the caller of
                # `add`.
                raise ConnectionResetError(f"{self._endpoint.url.geturl()}: it ended")
            if len(begin) < 12:
                begin += buffer[: min(count, 12)]
                _check_status(begin, self._endpoint)
            self.bytes += count
            self._budget.spend(count)
            next_probe = self._look(connection, _TCP_INFO_RCV_RTT, next_probe)

    def _send(self, connection: socket.socket) -> None:
        if is_http2(connection):
            self._multiplex(connection)
            return
        writes = Writes(connection)
        bulk = memoryview(bytes(Writes.MAX * 4096))
        next_probe = now() + _OWN_PROBE_S
        while self._goes_on:
            try:
                count = connection.send(bulk[: writes.frames * 4096])
            except TimeoutError:
                continue
            writes.wrote(count)
            self.bytes += count
            self._budget.spend(count)
            next_probe = self._look(connection, _TCP_INFO_RTT, next_probe)

    def _look(self, connection: socket.socket, place: int, at: float) -> float:
        """Samples the round trip when due; returns the time of the next sample."""
        if now() < at:
            return at
        micros = round_trip_us(connection, place)
        if micros:
            self.round_trips.append((now() - micros / 1e6, micros / 1e3))
        return now() + _OWN_PROBE_S


def is_http2(connection: socket.socket) -> TypeGuard[ssl.SSLSocket]:
    """Whether the server has chosen HTTP/2 on this connection."""
    if not isinstance(connection, ssl.SSLSocket):
        return False
    return connection.selected_alpn_protocol() == http2.PROTOCOL


def round_trip_us(connection: socket.socket, place: int) -> int | None:
    """A field of the kernel's `struct tcp_info`; None if unavailable."""
    option = getattr(socket, "TCP_INFO", None)
    if option is None:
        return None
    with contextlib.suppress(OSError):
        known = connection.getsockopt(socket.IPPROTO_TCP, option, place + 4)
        if len(known) == place + 4:
            return int(struct.unpack_from("=I", known, place)[0])
    return None


def _check_status(begin: bytes, endpoint: Endpoint) -> None:
    if len(begin) >= 12 and begin[:5] == b"HTTP/" and begin[8:12] != b" 200":
        status = begin[9:12].decode(errors="replace")
        raise ConnectionResetError(f"{endpoint.url.geturl()}: status {status}, expected 200")


def _answer(connection: socket.socket, most: int) -> http2.Answer:
    """An answer of at most `most` bytes.

    Raises:
        OSError: the connection failed.
        WireError: not an HTTP answer, or too long.
    """
    answer = http.client.HTTPResponse(connection)
    try:
        answer.begin()
        body = answer.read(most + 1)
    except http.client.HTTPException as error:
        raise WireError(f"no answer of HTTP ({error})") from error
    finally:
        answer.close()
    if len(body) > most:
        raise WireError(f"an answer of more than {most} bytes")
    return http2.Answer(answer.status, body)


def _configuration(url: str, context: ssl.SSLContext) -> Urls:
    asked = _endpoint(url, None)
    if asked.url.path in ("", "/"):
        asked = _endpoint(asked.url._replace(path=WELL_KNOWN, query="").geturl(), None)
    where = asked.url.geturl()
    connection, _, _ = asked.connect(context)
    with connection:
        answer = asked.ask(connection, _MAX_CONFIGURATION)
    remedy = "give the URL of a server of draft-ietf-ippm-responsiveness, such as https://HOST"
    if answer.status != http.client.OK:
        raise WireError(f"{where}: status {answer.status}, expected 200; {remedy}")
    try:
        read = json.loads(answer.body, object_pairs_hook=_once_each)
        if not isinstance(read, dict) or not isinstance(read.get("urls"), dict):
            raise ValueError("there are no urls in it")
        if read.get("version") != 1:
            raise ValueError(f"version {read.get('version')!r}, expected 1")
        texts = {key: _first(read["urls"], names) for key, names in _NAMES.items()}
        instead = read.get("test_endpoint")
        if instead is not None and not isinstance(instead, str):
            raise ValueError(f"test_endpoint {instead!r}, expected a host")
        ends = {key: _endpoint(text, instead) for key, text in texts.items()}
    except (ValueError, WireError) as error:
        raise WireError(f"{where}: {error}; {remedy}") from error
    if len({end.url.hostname for end in ends.values()}) > 1:
        raise WireError(f"{where}: its URLs have different hosts, which the draft does not allow")
    return Urls(**ends)


def _once_each(pairs: list[tuple[str, object]]) -> dict[str, object]:
    names = [name for name, _ in pairs]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"{min(twice)} stands there twice")
    return dict(pairs)


def _first(urls: dict[str, object], names: tuple[str, ...]) -> str:
    for name in names:
        value = urls.get(name)
        if isinstance(value, str):
            return value
    raise ValueError(f"there is no {names[0]}")


def _endpoint(url: str, instead: str | None) -> Endpoint:
    """The target of a URL's requests; the host `instead`, if given.

    Raises:
        WireError: neither http nor https.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise WireError(f"{url}: {error}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise WireError(f"{url}: expected a URL such as https://HOST")
    if any(ord(one) <= 32 or ord(one) == 127 for one in url):
        raise WireError(f"{url!r}: a URL has no blanks")
    known = 443 if parts.scheme == "https" else 80
    return Endpoint(parts, (instead or parts.hostname, port or known))
