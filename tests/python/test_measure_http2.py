"""`airtcp measure https://…` by HTTP/2, against Hypercorn."""

import json
import socket
import ssl
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from airtcp.measure import http2
from airtcp.measure.bounds import Budget
from airtcp.measure.https import Server, is_http2
from airtcp.measure.load import Way
from airtcp.measure.measurement import measure_by
from test_measure_https import certificate

pytestmark = pytest.mark.needs("openssl")


class Http2Server:
    """The process, on a free port."""

    def __init__(self, key: Path, chain: Path, protocols: list[str], large: int) -> None:
        """Returns once it serves: on a busy machine its start outlasts a client's patience."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            number = listener.fileno()
            self.url = f"https://localhost:{listener.getsockname()[1]}"
            program = Path(__file__).with_name("http2_server.py")
            arguments = [str(number), self.url, str(key), str(chain), str(large), *protocols]
            self._process = subprocess.Popen(
                [sys.executable, str(program), *arguments],
                pass_fds=[number],
                stderr=subprocess.DEVNULL,
            )
            name = listener.getsockname()
        with socket.create_connection(name) as connection:
            trusted = ssl.create_default_context(cafile=chain)
            trusted.wrap_socket(connection, server_hostname="localhost").close()

    def state(self) -> dict[str, Any]:
        """Requests so far."""
        with urllib.request.urlopen(f"{self.url}/state", timeout=30) as answer:
            return json.load(answer)  # type: ignore[no-any-return]

    def end(self) -> None:
        """Ends it."""
        self._process.kill()
        self._process.wait()


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Http2Server]]:
    """Starts servers whose certificate is trusted."""
    key, chain = certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(chain))
    servers = []

    def started(*protocols: str, large: int = 1 << 33) -> Http2Server:
        servers.append(Http2Server(key, chain, list(protocols), large))
        return servers[-1]

    yield started
    for one in servers:
        one.end()


def test_requests_are_multiplexed_with_the_load(start: Callable[..., Http2Server]) -> None:
    """The load's round trips are requests on its connections, both ways."""
    server = start("h2", "http/1.1")
    found = measure_by(
        Server(server.url), 6.0, 3_000_000_000, (Way.DOWN, Way.UP), lambda share, words: None
    )
    state = server.state()
    assert state["versions"] == ["2"]
    assert set(state["asked"]) == {"/.well-known/nq", "/small", "/large", "/upload"}
    assert state["taken"] > 0
    assert found.idle.failed == 0
    for phase in found.loaded:
        assert phase.goodput_bps is not None
        assert phase.goodput_bps > 1e6
        assert phase.own is not None
        assert phase.own.count > 3
        assert phase.rpm is not None


def test_a_server_without_http2_is_asked_by_http1(start: Callable[..., Http2Server]) -> None:
    server = start("http/1.1")
    probes = Server(server.url).probes(Budget(10**9))
    waiting = threading.Event()
    while len(probes.samples.exchanges) < 3:
        assert not waiting.wait(0.01)
    probes.end()
    assert server.state()["versions"] == ["1.1"]
    assert probes.samples.failed == 0
    assert len(probes.samples.tls) >= 3


def test_a_large_object_that_ends_is_asked_for_again(start: Callable[..., Http2Server]) -> None:
    server = start("h2", "http/1.1", large=1_000_000)
    load = Server(server.url).load(Way.DOWN, Budget(10**9), 10.0)
    load.add()
    waiting = threading.Event()
    while load.bytes < 5_000_000 or not load.round_trips:
        assert load.error is None
        assert not waiting.wait(0.01)
    load.end()
    assert server.state()["asked"].count("/large") >= 5


def test_what_is_not_there_is_said(start: Callable[..., Http2Server]) -> None:
    server = start("h2")
    measured = Server(server.url)
    context = measured.context
    with measured.urls.small.connect(context)[0] as connection:
        assert is_http2(connection)
        missing = urlsplit(f"{server.url}/gone")
        assert http2.ask(connection, missing, 100, 5.0).status == 404
    with measured.urls.small.connect(context)[0] as connection:
        assert is_http2(connection)
        one = http2.Transfer(connection, missing, measured.urls.small.url, is_upload=False)
        with pytest.raises(ConnectionResetError, match="/gone: status 404, expected 200"):
            list(iter(one.step, None))
    with measured.urls.small.connect(context)[0] as connection:
        assert is_http2(connection)
        with pytest.raises(ConnectionResetError, match="more than 10 bytes"):
            http2.ask(connection, measured.urls.large.url, 10, 5.0)


def test_frames_that_are_none_are_said(tmp_path: Path) -> None:
    """A server that chooses HTTP/2 and speaks something else."""
    key, chain = certificate(tmp_path)
    ours = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ours.load_cert_chain(chain, key)
    ours.set_alpn_protocols(["h2"])
    theirs = ssl.create_default_context(cafile=str(chain))
    theirs.set_alpn_protocols(["h2"])
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            plain, _ = listener.accept()
            with ours.wrap_socket(plain, server_side=True) as connection:
                # A frame of one byte of data that belongs to no stream (RFC 9113 §6.1).
                connection.sendall(bytes([0, 0, 1, 0, 0, 0, 0, 0, 0, 0]))
                connection.recv(65536)

        thread = threading.Thread(target=answer)
        thread.start()
        plain = socket.create_connection(listener.getsockname())
        with theirs.wrap_socket(plain, server_hostname="localhost") as connection:
            assert is_http2(connection)
            with pytest.raises(ConnectionResetError, match="no HTTP/2"):
                http2.ask(connection, urlsplit("https://localhost/"), 100, 5.0)
        thread.join(10)
