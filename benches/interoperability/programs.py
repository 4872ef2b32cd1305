"""The endpoint with programs that others wrote: curl, nginx, socat, iperf3, Python's server."""

from __future__ import annotations

import hashlib
import json
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from wire import sh

from interoperability.bench import (
    ENDPOINT,
    KERNEL,
    MIB,
    PROGRAM,
    Bench,
    file_hash,
    pattern,
    send,
    serving,
)
from interoperability.proxied import ending, own_proxy, wait_for


def many(bench: Bench, count: int) -> None:
    """Several simultaneous connections, each with a file of a different length."""
    for number in range(10):
        pattern(1000 * number + 1, bench.folder / f"part{number}")
    expected = {n: file_hash(bench.folder / f"part{n}") for n in range(10)}

    def fetch(number: int) -> None:
        part = number % 10
        with socket.create_connection((ENDPOINT, 8000), timeout=60) as peer:
            time.sleep(0.5)
            peer.sendall(f"GET /part{part} HTTP/1.1\r\nConnection: close\r\n\r\n".encode())
            answer = b""
            while piece := peer.recv(65536):
                answer += piece
        body = answer.split(b"\r\n\r\n", 1)[1]
        assert hashlib.sha256(body).hexdigest() == expected[part], "the hash differs"

    def run() -> str:
        with serving(bench.folder), ThreadPoolExecutor(count) as threads:
            for done in [threads.submit(fetch, number) for number in range(count)]:
                done.result()
        return ""

    bench.case(f"{count} connections at once", sum(1000 * (n % 10) + 1 for n in range(count)), run)


def python_server(bench: Bench) -> None:
    """A small HTTP client by ``send``, with Python's HTTP server as the peer."""
    expected = pattern(300_000, bench.folder / "page")

    def run() -> str:
        command = [sys.executable, "-m", "http.server", "9001", "--bind", "0.0.0.0"]
        request = bench.folder / "request"
        request.write_bytes(b"GET /page HTTP/1.0\r\n\r\n")
        server = subprocess.Popen(command, cwd=bench.folder, stderr=subprocess.DEVNULL)
        try:
            wait_for(9001)
            command = [PROGRAM, "send", str(request), f"{KERNEL}:9001"]
            answer = subprocess.run(command, capture_output=True, timeout=60, check=True).stdout
        finally:
            server.terminate()
            server.wait()
        body = answer.split(b"\r\n\r\n", 1)[1]
        assert hashlib.sha256(body).hexdigest() == expected, "the hash differs"
        return ""

    bench.case("Python's http.server answers a request by send", 300_000, run)


def nginx(bench: Bench) -> None:
    """Nginx answers curl, with the endpoint between them: the mobile side of a proxy.

    It treats a client that closes its side, as ``send`` does, as gone.
    """
    expected = pattern(50 * MIB, bench.folder / "page")
    settings = bench.folder / "nginx.conf"
    settings.write_text(
        f"daemon off; user root; pid {bench.folder}/nginx.pid; error_log {bench.folder}/errors;"
        " events {} http { access_log off; server { listen 9002; "
        f"root {bench.folder}; }} }}"
    )

    def run() -> str:
        nginx = ["nginx", "-p", str(bench.folder), "-c", str(settings)]
        with ending(nginx), ending(own_proxy(9002)):
            wait_for(9002)
            wait_for(8080)
            url = "http://127.0.0.1:8080/page"
            got = sh("sh", "-c", f"curl -sf -m 60 {url} | sha256sum").split()[0]
        assert got == expected, "the hash differs"
        return ""

    bench.case("nginx answers curl through the proxy's own stack", 50 * MIB, run)


def socat(bench: Bench) -> None:
    """Socat receives from ``send``, and asks ``serve``."""
    expected = pattern(20 * MIB, bench.folder / "page")
    copy = bench.folder / "copied"

    def receives() -> str:
        with ending(["socat", "-u", "TCP-LISTEN:9003", f"OPEN:{copy},creat,trunc"]) as program:
            wait_for(9003)
            done = send(bench.folder / "page", f"{KERNEL}:9003")
            assert done.returncode == 0, done.stderr
            program.wait(timeout=20)
        assert file_hash(copy) == expected, "the hash differs"
        return ""

    bench.case("socat receives from send", 20 * MIB, receives)

    def asks() -> str:
        request = "printf 'GET /page HTTP/1.0\\r\\n\\r\\n'"
        with serving(bench.folder):
            command = f"{request} | socat -t60 - TCP:{ENDPOINT}:8000 > {copy}"
            subprocess.run(["sh", "-c", command], check=True, timeout=120)
        body = copy.read_bytes().split(b"\r\n\r\n", 1)[1]
        assert hashlib.sha256(body).hexdigest() == expected, "the hash differs"
        return ""

    bench.case("socat asks serve", 20 * MIB, asks)


def iperf3(bench: Bench, seconds: int) -> None:
    """iperf3 at both ends, with the endpoint between them: the mobile side of a proxy."""

    def run(*options: str) -> str:
        with ending(["iperf3", "-s"]), ending(own_proxy(5201)):
            wait_for(5201)
            wait_for(8080)
            told = sh("iperf3", "-c", "127.0.0.1", "-p", "8080", "-t", str(seconds), "-J", *options)
        end = json.loads(told)["end"]
        stalled = [one for one in end["streams"] if one["receiver"]["bytes"] == 0]
        assert not stalled, f"{len(stalled)} streams stand still"
        return f"{end['sum_received']['bits_per_second'] / 1e6:.1f} Mbit/s"

    for name, options in (("", []), (" -R", ["-R"]), (" -P 20", ["-P", "20"])):
        bench.case(f"iperf3{name} through the proxy's own stack", 0, lambda o=options: run(*o))
