"""`airtcp measure URL`, against a small server of draft-ietf-ippm-responsiveness."""

import contextlib
import json
import signal
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import airtcp
from airtcp.measure.bounds import Budget
from airtcp.measure.https import Server
from airtcp.measure.link import scenario_toml
from airtcp.measure.load import Way
from airtcp.measure.measurement import measure_by
from airtcp.measure.responsiveness import foreign_rpm
from airtcp.measure.wire import WireError
from emulated_links import measured_over
from test_cli import airtcp_command

BOTH = (Way.DOWN, Way.UP)


class Answers(BaseHTTPRequestHandler):
    """The four URLs of the draft."""

    server: "TestServer"
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """The configuration, one byte, or 8 GB."""
        self.server.asked.append(self.path)
        if self.path == "/.well-known/nq":
            # By the name by which the client knows it, unless a test overrides it.
            own = configuration(f"{self.server.scheme}://{self.headers['Host']}")
            self._say((self.server.configuration or own).encode())
        elif self.path == "/small":
            self._say(b"x")
        elif self.path == "/large":
            self.send_response(200)
            self.send_header("Content-Length", "8000000000")
            self.end_headers()
            with contextlib.suppress(OSError):
                while not self.server.is_ended.is_set():
                    self.wfile.write(bytes(65536))
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        """Accepts any body."""
        self.server.asked.append(self.path)
        left = int(self.headers["Content-Length"])
        with contextlib.suppress(OSError):
            while left > 0 and (data := self.rfile.read1(65536)):
                self.server.taken += len(data)
                left -= len(data)
        self.close_connection = True

    def _say(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


class TestServer(ThreadingHTTPServer):
    """On a free port."""

    __test__ = False
    daemon_threads = True

    def __init__(
        self,
        context: ssl.SSLContext | None = None,
        address: tuple[str, int] = ("127.0.0.1", 0),
    ) -> None:
        """Serves from now on."""
        super().__init__(address, Answers)
        self.scheme = "http"
        if context is not None:
            # In the thread of each connection: the handshake keeps nobody else waiting.
            self.socket = context.wrap_socket(
                self.socket, server_side=True, do_handshake_on_connect=False
            )
            self.scheme = "https"
        self.url = f"{self.scheme}://localhost:{self.server_port}"
        self.configuration: str | None = None
        self.asked: list[str] = []
        self.taken = 0
        self.is_ended = threading.Event()
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def handle_error(self, *_: object) -> None:
        """A client that goes is no error."""

    def end(self) -> None:
        """Ends it."""
        self.is_ended.set()
        self.shutdown()
        self.server_close()


def configuration(url: str, **more: object) -> str:
    urls = {
        "small_download_url": f"{url}/small",
        "large_download_url": f"{url}/large",
        "upload_url": f"{url}/upload",
    }
    return json.dumps({"version": 1, "urls": urls, "unknown": [], **more})


@pytest.fixture
def server() -> Iterator[TestServer]:
    one = TestServer()
    yield one
    one.end()


def test_the_responsiveness_with_tls_is_that_of_a_worked_example() -> None:
    """By hand: means of 10, 20 and 30 ms are 60 000 / 20 round trips a minute."""
    assert foreign_rpm([10.0], [30.0], [20.0]) == pytest.approx(3000.0)
    assert foreign_rpm([10.0], [30.0]) == pytest.approx(3000.0)
    assert foreign_rpm([10.0], [20.0], [60.0]) == pytest.approx(2000.0)
    assert foreign_rpm([10.0], [], [60.0]) is None


def test_a_server_is_measured(server: TestServer) -> None:
    shares = []
    found = measure_by(
        Server(server.url), 6.0, 3_000_000_000, BOTH, lambda share, _words: shares.append(share)
    )
    assert shares == sorted(shares)
    assert [phase.way for phase in found.loaded] == ["down", "up"]
    assert found.idle.handshake.p50_ms is not None
    assert found.idle.failed == 0
    for phase in found.loaded:
        assert phase.goodput_bps is not None
        assert phase.goodput_bps > 1e6
        assert phase.exchange.count > 0
        assert phase.rpm_foreign is not None
        if sys.platform == "linux":
            assert phase.own is not None
            assert phase.own.count > 0
            assert phase.rpm is not None
    # The server received the delivered data, plus the data in flight.
    up = found.loaded[1]
    assert up.goodput_bps is not None
    assert server.taken > 0
    assert {"/small", "/large", "/upload", "/.well-known/nq"} == set(server.asked)
    link = airtcp.load_scenario(scenario_toml(found.idle, found.loaded[0], up, "here"))
    assert link.name == "measured"


def certificate(folder: Path) -> tuple[Path, Path]:
    """A key, and a self-signed certificate for localhost."""
    key, chain = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"),
            *("-keyout", str(key), "-out", str(chain)),
        ],
        check=True,
        capture_output=True,
    )
    return key, chain


@pytest.mark.needs("openssl")
def test_tls_is_a_round_trip_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key, chain = certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, key)
    server = TestServer(context)
    try:
        done = airtcp_command("measure", server.url, "--for", "3s", "--can", "all")
        assert done.exit_code == 1
        assert "its certificate is not trusted" in done.stderr
        assert "SSL_CERT_FILE" in done.stderr
        monkeypatch.setenv("SSL_CERT_FILE", str(chain))
        found = Server(server.url)
        probes = found.probes(Budget(10**9))
        enough = threading.Event()
        while len(probes.samples.exchanges) < 3:
            assert not enough.wait(0.01)
        probes.end()
        assert len(probes.samples.tls) >= 3
        assert probes.samples.failed == 0
        measured = measure_by(found, 3.0, 20_000_000, (Way.DOWN,), lambda share, words: None)
        assert measured.loaded[0].goodput_bps
    finally:
        server.end()


def serve_for_good() -> None:
    """A server on port 8080, for others."""
    TestServer(address=("0.0.0.0", 8080))
    threading.Event().wait()


@pytest.mark.long
@pytest.mark.needs("namespaces", "tun")
def test_an_emulated_link_is_found_again(tmp_path: Path) -> None:
    """20 Mbit/s, 40 ms, and 200 packets of 1500 bytes ahead of a probe: 120 ms.

    The load's round trips are the kernel's estimates, of a sender (up) and of a receiver.
    """
    here = Path(__file__).parent
    serve = f"import sys; sys.path.insert(0, {str(here)!r}); import test_measure_https as t; "
    (tmp_path / "serve.py").write_text(serve + "t.serve_for_good()")
    found, kept_up = measured_over(
        f"{sys.executable} {tmp_path}/serve.py",
        "http://$AIRTCP_SERVER:8080 --for 20s",
        tmp_path,
    )
    assert found["idle"]["handshake"]["p50_ms"] > 39
    for phase in found["loaded"]:
        assert phase["goodput_bps"] > 0
        assert phase["own"]["p50_ms"] > 39
        assert phase["handshake"]["p50_ms"] > 39
        if kept_up:
            assert phase["goodput_bps"] < 1.05 * 19.3e6
        if kept_up and phase["goodput_bps"] > 18e6:
            assert 60 < phase["own"]["p50_ms"] < 2000
            # A full queue loses some SYNs, which are retransmitted after 1 s.
            assert 60 < phase["handshake"]["p50_ms"] < 3000
            assert phase["rpm"] is None or 2 < phase["rpm"] < 1500
    assert airtcp.load_scenario(found["scenario"]).name == "measured"


def test_bytes_are_bounded(server: TestServer) -> None:
    found = measure_by(Server(server.url), 30.0, 20_000_000, BOTH, lambda share, words: None)
    assert found.is_cut
    # Each of a few connections may have one buffer in flight when the last byte is spent.
    assert 10_000_000 < found.spent_bytes < 30_000_000


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("no JSON", "Expecting value"),
        ("[]", "there are no urls in it"),
        (configuration("http://localhost", version=2), "version 2, expected 1"),
        (configuration("ftp://localhost"), "expected a URL such as https://HOST"),
        ('{"version": 1, "version": 1, "urls": {}}', "version stands there twice"),
        ('{"version": 1, "urls": {}}', "there is no small_download_url"),
        (configuration("http://localhost", test_endpoint=3), "test_endpoint 3, expected a host"),
        (
            configuration("http://localhost").replace("localhost/small", "example.org/small"),
            "different hosts",
        ),
        ("x" * 70_000, "more than 65536 bytes"),
    ],
)
def test_what_is_no_configuration_is_said(server: TestServer, text: str, words: str) -> None:
    server.configuration = text
    with pytest.raises(WireError, match=words):
        Server(server.url)


def test_names_of_earlier_drafts_and_the_test_endpoint_are_known(server: TestServer) -> None:
    """The address is the endpoint's, and the name in the requests the URL's."""
    urls = {
        "small_https_download_url": f"http://example.invalid:{server.server_port}/small",
        "large_https_download_url": f"http://example.invalid:{server.server_port}/large",
        "https_upload_url": f"http://example.invalid:{server.server_port}/upload",
    }
    server.configuration = json.dumps({"version": 1, "urls": urls, "test_endpoint": "localhost"})
    read = Server(f"{server.url}/.well-known/nq").urls
    assert read.small.address == ("localhost", server.server_port)
    head = read.small.head("GET", {}).decode()
    assert f"Host: example.invalid:{server.server_port}\r\n" in head
    assert "Accept-Encoding: identity\r\n" in head


@pytest.mark.parametrize(
    ("url", "options", "words", "status"),
    [
        ("SERVER/nowhere", [], "status 404, expected 200", 1),
        ("SERVER", ["--iperf3"], "--iperf3 is for a host", 2),
        ("SERVER", ["--port", "9"], "--port is for a host", 2),
        ("ftp://localhost", [], "expected a URL such as https://HOST", 1),
        ("http://localhost:99999", [], "ort", 1),
        ("http://localhost:9", [], "does a server of the draft answer there?", 1),
    ],
)
def test_what_is_wrong_is_said(
    server: TestServer, url: str, options: list[str], words: str, status: int
) -> None:
    url = url.replace("SERVER", server.url)
    done = airtcp_command("measure", url, "--for", "3s", "--can", "all", *options)
    assert words in done.stderr
    assert done.exit_code == status


def test_what_is_no_server_of_http_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            connection, _ = listener.accept()
            connection.recv(4096)
            connection.sendall(b"220 mail.example.org ESMTP\r\n")
            connection.close()

        threading.Thread(target=answer, daemon=True).start()
        with pytest.raises(WireError, match="no answer of HTTP"):
            Server(f"http://127.0.0.1:{listener.getsockname()[1]}")


def test_a_large_object_that_is_missing_ends_it(server: TestServer) -> None:
    server.configuration = configuration(server.url).replace("/large", "/gone")
    with pytest.raises(OSError, match="status 404, expected 200"):
        measure_by(Server(server.url), 20.0, 10**9, BOTH, lambda share, words: None)


def test_ctrl_c_ends_it_at_once(server: TestServer) -> None:
    command = [sys.executable, "-m", "airtcp", "measure", server.url, "--for", "2min"]
    with subprocess.Popen(
        [*command, "--at-most", "50MB", "--no-compare", "--can", "all"],
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        try:
            waiting = threading.Event()
            while "/small" not in server.asked and running.poll() is None:
                waiting.wait(0.01)
            running.send_signal(signal.SIGINT)
            _, err = running.communicate(timeout=60)
        finally:
            running.kill()
    assert running.returncode == 130, err
    assert "Traceback" not in err
