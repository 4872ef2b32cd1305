"""The server: routing of requests, and responses for results and errors."""

import json
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec

from airtcp._core import AirtcpError, ScenarioError
from airtcp.comparison.ranking import Asker
from airtcp.lab import reports
from airtcp.lab.answer import answer
from airtcp.lab.assets import assets
from airtcp.lab.cloud import cloud
from airtcp.lab.describe import link, overview
from airtcp.lab.drops import MAX_BYTES, Drops
from airtcp.lab.guard import MAX_REQUEST_BYTES, RefusedError, body_length, check_origin
from airtcp.lab.play import Send, play
from airtcp.lab.requests import Ask, Cloud, Explain, Link, OneSide, Play, read
from airtcp.lab.share import scenario_file
from airtcp.lab.sources import Sources

MAX_AT_ONCE = 4
"""Maximum number of simultaneous computations; further ones wait, then are refused."""

_PATIENCE_S = 10.0
_IDLE_S = 60.0
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:"
"""A report includes its style and needs no script."""


class Lab(ThreadingHTTPServer):
    """A server that listens only on the loopback address."""

    daemon_threads = True
    # A second server on the same port is an error rather than a surprise.
    allow_reuse_port = False

    def __init__(
        self, port: int, scenarios: Path, reported: Path, can: str = Asker.ALL.value
    ) -> None:
        """Listens on `port` of 127.0.0.1, 0 for any free one.

        `can` is the page's initial choice of what its user may change.

        Raises:
            OSError: the port is in use.
        """
        # Before the socket: if the port is in use, the constructor calls `server_close`.
        self.drops = Drops()
        super().__init__(("127.0.0.1", port), _Handler)
        self.sources = Sources(scenarios, self.drops)
        self.reports = reports.Reports(reported)
        self.assets = assets()
        self.can = can
        self._free = threading.BoundedSemaphore(MAX_AT_ONCE)

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self.server_address[1])

    @property
    def address(self) -> str:
        """The address to open in a browser."""
        return f"http://127.0.0.1:{self.port}/"

    @contextmanager
    def computation(self) -> Iterator[None]:
        """A slot for a computation.

        Raises:
            RefusedError: no slot became free in time.
        """
        if not self._free.acquire(timeout=_PATIENCE_S):
            raise RefusedError(
                HTTPStatus.SERVICE_UNAVAILABLE, "busy with other runs: close other pages of the lab"
            )
        try:
            yield
        finally:
            self._free.release()

    def server_close(self) -> None:
        """Stops listening and removes dropped files."""
        super().server_close()
        self.drops.close()

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that disconnects is no error; other errors are reported to the page."""


class _Handler(BaseHTTPRequestHandler):
    server: Lab
    protocol_version = "HTTP/1.1"
    server_version = "airtcp"
    sys_version = ""
    timeout = _IDLE_S
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Shows the page, a list, or a report."""
        with self._clear_errors():
            if self.headers.get("Content-Length") or self.headers.get("Transfer-Encoding"):
                self.close_connection = True  # a body would be parsed as the next request
            path = urlsplit(self.path).path
            self._check(is_navigation=path == "/" or path.startswith("/reports/"))
            if path in self.server.assets:
                body, kind = self.server.assets[path]
                self._answer(body, kind)
            elif path == "/api/links":
                self._answer_json(overview(self.server.sources, self.server.can))
            elif path == "/api/reports":
                self._answer_json(self.server.reports.all())
            elif path.startswith("/reports/"):
                self._report(unquote(path.removeprefix("/reports/"), errors="replace"))
            else:
                raise RefusedError(HTTPStatus.NOT_FOUND, f"{path[:80]}: there is no such page")

    def do_POST(self) -> None:
        """Computes something, or takes a file."""
        with self._clear_errors():
            self._check(is_navigation=False)
            url = urlsplit(self.path)
            respond = _ANSWERS.get(url.path)
            if respond is None:
                raise RefusedError(HTTPStatus.NOT_FOUND, f"{url.path[:80]}: there is no such page")
            is_drop = url.path == "/api/drop"
            length = body_length(self.headers, MAX_BYTES if is_drop else MAX_REQUEST_BYTES)
            body = self.rfile.read(length)
            if len(body) < length:
                raise RefusedError(HTTPStatus.BAD_REQUEST, "the request ended early")
            self.unread = False
            with self.server.computation():
                respond(self, body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Logs nothing: the terminal is the user's."""

    def _check(self, *, is_navigation: bool) -> None:
        self.unread = self.command == "POST"
        if len(self.headers.get_all("Host", [])) != 1:
            raise RefusedError(HTTPStatus.BAD_REQUEST, "expected one Host")
        check_origin(self.headers, self.server.port, is_navigation=is_navigation)

    def _report(self, path: str) -> None:
        file = self.server.reports.file(path)
        if file is None:
            raise RefusedError(HTTPStatus.NOT_FOUND, f"{path[:80]}: no report")
        self._answer(file.read_bytes(), reports.TYPES[file.suffix], policy=_REPORT_POLICY)

    def link(self, body: bytes) -> None:
        self._answer_json(link(self.server.sources, read(body, Link)))

    def play(self, body: bytes) -> None:
        request = read(body, Play)
        self._stream(lambda send: play(self.server.sources, request, send))

    def cloud(self, body: bytes) -> None:
        request = read(body, Cloud)
        self._stream(lambda send: cloud(self.server.sources, request, send))

    def answer(self, body: bytes) -> None:
        request = read(body, Ask)
        self._stream(lambda send: answer(self.server.sources, request, send))

    def explain(self, body: bytes) -> None:
        # Only this reads tables, for which it imports Polars.
        from airtcp.lab.explain import explain

        self._answer_json(explain(self.server.sources, read(body, Explain)))

    def scenario(self, body: bytes) -> None:
        name, content = scenario_file(self.server.sources, read(body, OneSide))
        self._answer_json({"name": name, "content": msgspec.Raw(msgspec.json.encode(content))})

    def drop(self, body: bytes) -> None:
        """Files one after the other; their names and lengths are in the query."""
        query = parse_qs(urlsplit(self.path).query)
        try:
            named = msgspec.json.decode(query["files"][0], type=list[tuple[str, int]])
        except (KeyError, msgspec.DecodeError):
            raise ScenarioError("drop: expected files=[[name, bytes], ...] in the query") from None
        files: dict[str, bytes] = {}
        at = 0
        for name, length in named:
            files[name] = body[at : at + max(0, length)]
            at += max(0, length)
        if at != len(body) or len(files) != len(named):
            raise ScenarioError("drop: the lengths and names of the files do not fit the body")
        self._answer_json({"id": self.server.drops.add(files).id})

    def _stream(self, work: Callable[[Send], None]) -> None:
        """Sends the messages of `work`, one line of JSON each, as they come."""
        begun = False
        chunked = self.request_version == "HTTP/1.1"

        def send(message: object) -> None:
            nonlocal begun
            if not begun:
                begun = True
                self._head(HTTPStatus.OK, "application/x-ndjson", chunked=chunked)
            line = msgspec.json.encode(message) + b"\n"
            self.wfile.write(b"%x\r\n%b\r\n" % (len(line), line) if chunked else line)

        try:
            work(send)
        except AirtcpError as error:
            if not begun:
                raise
            send({"kind": "error", "message": str(error)})
        if chunked:
            self.wfile.write(b"0\r\n\r\n")

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        """Answers an error with one sentence and its status."""
        try:
            yield
        except RefusedError as error:
            self._fail(error.status, str(error))
        except ScenarioError as error:
            self._fail(HTTPStatus.BAD_REQUEST, str(error))
        except AirtcpError as error:
            self._fail(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))
        except (TimeoutError, ConnectionError):
            self.close_connection = True
        except Exception as error:
            # A bug: traceback to the terminal, message to the page.
            traceback.print_exc()
            self.close_connection = True
            fault = f"a fault of the lab: {type(error).__name__}: {error}"
            self._fail(HTTPStatus.INTERNAL_SERVER_ERROR, fault)

    def _fail(self, status: HTTPStatus, message: str) -> None:
        if self.unread:
            self.close_connection = True  # unread data would be parsed as a request
        self._answer(json.dumps({"error": message}).encode(), "application/json", status)

    def _answer_json(self, value: object) -> None:
        self._answer(msgspec.json.encode(value), "application/json")

    def _answer(
        self,
        body: bytes,
        kind: str,
        status: HTTPStatus = HTTPStatus.OK,
        policy: str = _POLICY,
    ) -> None:
        self._head(status, kind, length=len(body), policy=policy)
        self.wfile.write(body)

    def _head(
        self,
        status: HTTPStatus,
        kind: str,
        *,
        length: int | None = None,
        chunked: bool = False,
        policy: str = _POLICY,
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if length is not None:
            self.send_header("Content-Length", str(length))
        elif chunked:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.close_connection = True
        if self.close_connection:
            self.send_header("Connection", "close")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", policy)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.end_headers()


_ANSWERS: dict[str, Callable[[_Handler, bytes], None]] = {
    "/api/link": _Handler.link,
    "/api/play": _Handler.play,
    "/api/cloud": _Handler.cloud,
    "/api/answer": _Handler.answer,
    "/api/explain": _Handler.explain,
    "/api/scenario": _Handler.scenario,
    "/api/drop": _Handler.drop,
}
