#!/usr/bin/env python3
"""airtcp's own TCP against this machine's kernel: does every byte arrive, whatever happens?

    benches/interop.py                  the short part, under a minute
    benches/interop.py --all            with GiBs, a thousand connections and emulated scenarios
    benches/interop.py --write          also writes the table into docs/real.md

Everything happens in network namespaces of its own, which go away with it (root, or a system that
lets users make namespaces). A transfer counts when the hash of what arrived is that of what was
sent. Every packet at the endpoint's device is captured, and tshark must find no malformed one and
no wrong checksum among those that the endpoint sent.

``airtcp-net`` is taken from AIRTCP_NET, or from target/local.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shlex
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from wire import FAR, Faults, Wire, sh

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("AIRTCP_NET", str(ROOT / "target" / "local" / "airtcp-net"))
DOCUMENT = ROOT / "docs" / "real.md"
START, END = "<!-- generated: interoperability -->\n", "<!-- end -->"
KERNEL, ENDPOINT = "10.112.7.1", "10.112.7.2"
#: The machine's end of the device of a proxy's own stack, and such a stack.
PROXYS, OWN_STACK = "192.0.0.1", "linux+rto-factor:factor=4"
MIB = 1 << 20


@dataclass
class Row:
    """What one case gave."""

    name: str
    size: int
    seconds: float = 0.0
    good: bool = False
    note: str = ""


def pattern(size: int, path: Path) -> str:
    """Writes a file of bytes that never repeat at any segment's length; returns its hash."""
    digest = hashlib.sha256()
    block = random.Random(size).randbytes(min(size, (1 << 20) + 13))
    with path.open("wb") as file:
        left = size
        while left > 0:
            piece = block[: min(left, len(block))]
            digest.update(piece)
            file.write(piece)
            left -= len(piece)
    return digest.hexdigest()


def file_hash(path: Path) -> str:
    """The hash of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    """Runs ``airtcp-net serve`` during the block."""
    command = [PROGRAM, "serve", "--port", "8000", "--dir", str(folder), "--upload", *options]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    line = server.stderr.readline()
    if not line.startswith("serving"):
        raise RuntimeError(line)
    drain = threading.Thread(target=server.stderr.read, daemon=True)
    drain.start()
    try:
        yield server
    finally:
        server.send_signal(signal.SIGINT)
        try:
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:
            server.kill()


class Receiver:
    """A listener of the kernel that hashes what it gets."""

    def __init__(self, address: str = "", stop_after: int | None = None) -> None:
        self.socket = socket.create_server((address, 0), family=socket.AF_INET)
        self.port = self.socket.getsockname()[1]
        self.digest = hashlib.sha256()
        self.stop_after = stop_after
        self.got = 0
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        peer, _ = self.socket.accept()
        with peer:
            while piece := peer.recv(1 << 18):
                self.digest.update(piece)
                self.got += len(piece)
                if self.stop_after is not None and self.got > self.stop_after:
                    # As a process that is killed: what is unread makes it a reset.
                    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    return

    def result(self) -> str:
        self.thread.join(timeout=60)
        return self.digest.hexdigest()


def send(
    path: Path, target: str, *options: str, timeout: float = 300
) -> subprocess.CompletedProcess[str]:
    """``airtcp-net send``."""
    command = [PROGRAM, "send", str(path), target, *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)


@dataclass
class Bench:
    """What the cases share."""

    folder: Path
    rows: list[Row] = field(default_factory=list)
    captures: list[Path] = field(default_factory=list)

    def case(self, name: str, size: int, run: Callable[[], str]) -> None:
        """Runs a case, which raises where it fails and answers what is to be noted."""
        row = Row(name, size)
        began = time.monotonic()
        try:
            row.note = run()
            row.good = True
        except Exception as error:  # a failed case is a row, not the end
            row.note = f"{type(error).__name__}: {error}"[:160]
        row.seconds = time.monotonic() - began
        self.rows.append(row)
        print(
            f"{'ok ' if row.good else 'BAD'} {row.seconds:7.2f} s  {name}  {row.note}", flush=True
        )

    def capture(self, name: str) -> list[str]:
        path = self.folder / f"{name}.pcapng"
        self.captures.append(path)
        return ["--pcap", str(path)]

    def download(self, size: int, *options: str, pcap: bool = True) -> None:
        source = self.folder / "down"
        expected = pattern(size, source)

        def run() -> str:
            captured = self.capture(f"down-{size}") if pcap else []
            with serving(self.folder, *captured, *options):
                url = f"http://{ENDPOINT}:8000/down"
                got = sh("sh", "-c", f"curl -sf -m 600 {url} | sha256sum").split()[0]
            assert got == expected, "the hash differs"
            return ""

        self.case(
            f"curl gets {text(size)} from the endpoint {' '.join(options)}".strip(), size, run
        )

    def upload(self, size: int, *options: str, pcap: bool = True) -> None:
        source = self.folder / "up"
        expected = pattern(size, source)

        def run() -> str:
            captured = self.capture(f"up-{size}") if pcap else []
            with serving(self.folder, *captured, *options):
                url = f"http://{ENDPOINT}:8000/stored"
                sh("curl", "-sf", "-m", "600", "-T", str(source), url)
            assert file_hash(self.folder / "stored") == expected, "the hash differs"
            return ""

        self.case(f"curl puts {text(size)} to the endpoint {' '.join(options)}".strip(), size, run)

    def sent(self, size: int, *options: str, pcap: bool = True) -> None:
        source = self.folder / "file"
        expected = pattern(size, source)

        def run() -> str:
            receiver = Receiver()
            captured = self.capture(f"sent-{size}") if pcap else []
            done = send(source, f"{KERNEL}:{receiver.port}", *captured, *options)
            assert done.returncode == 0, done.stderr
            assert receiver.result() == expected, "the hash differs"
            return done.stderr.strip().split(": ")[-1]

        self.case(f"send {text(size)} to the kernel {' '.join(options)}".strip(), size, run)


def text(size: int) -> str:
    """A size in words."""
    for unit, name in ((1 << 30, "GiB"), (MIB, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def many(bench: Bench, count: int) -> None:
    """Several simultaneous connections, each with a file of its own length."""
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
    """A small HTTP client by ``send``, with Python's own server as the peer."""
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

    It takes a client that closes its own side, as ``send`` does, for one that has gone.
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


def own_proxy(port: int) -> list[str]:
    """The words of a proxy with the endpoint on its far side, to a port of this namespace."""
    sh("sysctl", "-qw", "net.ipv4.ip_forward=1")
    to = f"{PROXYS}:{port}"
    command = [PROGRAM, "proxy", "--listen", "127.0.0.1:8080", "--to", to, "--mobile", "servers"]
    return [*command, "--mobile-stack", OWN_STACK]


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


@contextmanager
def ending(command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a program during the block."""
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=quiet, stderr=quiet) as program:
        try:
            yield program
        finally:
            program.send_signal(signal.SIGINT if "proxy" in command else signal.SIGTERM)
            program.wait(timeout=20)


def wait_for(port: int) -> None:
    """Waits until a program listens at a port of this namespace."""
    for _ in range(300):
        if sh("ss", "-Hltn", "sport", "=", f":{port}"):
            return
        time.sleep(0.1)
    raise RuntimeError(f"nobody listens at port {port}")


def over_wire(
    bench: Bench, name: str, faults: Faults, size: int, *options: str, mtu: int = 1500
) -> None:
    """Both directions over a wire with faults, to a namespace behind it."""
    expected = pattern(size, bench.folder / "wire")

    def both() -> str:
        wire = Wire(faults, mtu)
        try:
            sh("sysctl", "-qw", "net.ipv4.ip_forward=1")
            receiver = wire.there(lambda: Receiver(FAR))
            assert isinstance(receiver, Receiver)
            captured = bench.capture(f"wire-{name}".replace(" ", "-"))
            done = send(bench.folder / "wire", f"{FAR}:{receiver.port}", *captured, *options)
            assert done.returncode == 0, done.stderr
            assert receiver.result() == expected, "what was sent differs"
            with serving(bench.folder):
                fetched = wire.there(lambda: fetch(ENDPOINT, "/wire"))
            assert fetched == expected, "what was served differs"
            return done.stderr.strip().split(": ")[-1]
        finally:
            wire.close()

    bench.case(f"{name}, both ways", size, both)


def changing_mtu(bench: Bench, size: int) -> None:
    """The next link takes smaller packets, and larger ones again, in the middle of a transfer."""
    expected = pattern(size, bench.folder / "wire")

    def run() -> str:
        wire = Wire(Faults())
        try:
            sh("sysctl", "-qw", "net.ipv4.ip_forward=1")
            receiver = wire.there(lambda: Receiver(FAR))
            assert isinstance(receiver, Receiver)
            command = [PROGRAM, "send", str(bench.folder / "wire"), f"{FAR}:{receiver.port}"]
            with subprocess.Popen(command, stderr=subprocess.DEVNULL) as sender:
                changes = 0
                for mtu in (1000, 1500, 1300, 600, 1500) * 20:
                    time.sleep(0.1)
                    if sender.poll() is not None:
                        break
                    sh("ip", "link", "set", "bent0", "mtu", str(mtu))
                    changes += 1
                assert sender.wait(timeout=300) == 0, "send failed"
            assert receiver.result() == expected, "what was sent differs"
            assert changes >= 3, f"only {changes} changes"
            return f"{changes} changes"
        finally:
            wire.close()

    bench.case("the next link's MTU changes between 600 and 1500", size, run)


def fetch(host: str, path: str) -> str:
    """The hash of a file by HTTP."""
    digest = hashlib.sha256()
    with socket.create_connection((host, 8000), timeout=120) as peer:
        peer.sendall(f"GET {path} HTTP/1.1\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += peer.recv(65536)
        digest.update(answer.split(b"\r\n\r\n", 1)[1])
        while piece := peer.recv(1 << 18):
            digest.update(piece)
    return digest.hexdigest()


def interrupted(bench: Bench) -> None:
    """The device goes down and comes up in the middle of a transfer; a peer is killed."""
    expected = pattern(256 * MIB, bench.folder / "long")

    def interrupt() -> None:
        sh("ip", "link", "set", "airtcp0", "down")
        time.sleep(1.0)
        sh("ip", "link", "set", "airtcp0", "up")

    def down_and_up() -> str:
        receiver = Receiver()
        target = f"{KERNEL}:{receiver.port}"
        command = [PROGRAM, "send", str(bench.folder / "long"), target]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as sender:
            while receiver.got < MIB:
                time.sleep(0.001)
            interrupt()
            _, errors = sender.communicate(timeout=120)
        assert sender.returncode == 0, errors
        assert receiver.result() == expected, "the hash differs"
        return ""

    bench.case("the device is down for a second, send", 256 * MIB, down_and_up)

    def upload() -> str:
        stored = bench.folder / "stored"
        stored.unlink(missing_ok=True)
        with serving(bench.folder):
            url = f"http://{ENDPOINT}:8000/stored"
            command = ["curl", "-sf", "-m", "120", "-T", str(bench.folder / "long"), url]
            with subprocess.Popen(command, stdout=subprocess.DEVNULL) as curl:
                while not stored.exists() or stored.stat().st_size < MIB:
                    time.sleep(0.001)
                interrupt()
                assert curl.wait(timeout=120) == 0, "curl failed"
        assert file_hash(stored) == expected, "the hash differs"
        return ""

    bench.case("the device is down for a second, curl puts", 256 * MIB, upload)

    def killed() -> str:
        receiver = Receiver(stop_after=MIB)
        done = send(bench.folder / "long", f"{KERNEL}:{receiver.port}")
        assert done.returncode != 0, "it went on"
        assert "reset" in done.stderr, done.stderr
        return done.stderr.strip().split(": ")[-1]

    bench.case("the peer is killed: send says so", 0, killed)

    def nobody() -> str:
        done = send(bench.folder / "long", f"{KERNEL}:9")
        assert done.returncode != 0, "it went on"
        assert "refused" in done.stderr, done.stderr
        return done.stderr.strip().split(": ")[-1]

    bench.case("nobody listens: send says so", 0, nobody)


def judge_captures(bench: Bench) -> None:
    """All captures under tshark: every packet that the endpoint sent."""

    def run() -> str:
        packets = 0
        fields = ("_ws.malformed", "tcp.checksum.status", "ip.checksum.status")
        wanted = [word for name in fields for word in ("-e", name)]
        checks = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
        for path in bench.captures:
            if not path.exists():
                continue
            ours = ["-Y", f"ip.src == {ENDPOINT}", "-T", "fields", *wanted]
            for line in sh("tshark", "-n", "-r", str(path), *checks, *ours).splitlines():
                packets += 1
                # Good is 1 (epan/proto.h, PROTO_CHECKSUM_E_GOOD).
                assert line.split("\t") == ["", "1", "1"], f"{path.name}: {line!r}"
        assert packets > 0, "nothing was captured"
        return f"{packets} packets in {len(bench.captures)} captures"

    bench.case("tshark: nothing malformed, no wrong checksum", 0, run)


def scenarios(bench: Bench, size: int) -> None:
    """Every emulated scenario: from each station to the server by the proxy's own stack, and back.

    The server gives back what it gets.
    """
    expected = pattern(size, bench.folder / "over")
    for scenario in sorted((ROOT / "scenarios").glob("*.toml")):

        def run(scenario: Path = scenario) -> str:
            results = bench.folder / f"results-{scenario.stem}"
            results.mkdir()
            me = [sys.executable, __file__, "--at"]
            station = [*me, "station", str(bench.folder / "over"), str(results)]
            server = shlex.join([*me, "server", "-", str(results)])
            command = [PROGRAM, "emulate", str(scenario), "--server", server, "--", *station]
            done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
            assert done.returncode == 0, done.stderr[-300:]
            stations = sorted(results.glob("*.hash"))
            assert stations, done.stderr[-300:]
            for one in stations:
                assert one.read_text() == expected, f"the hash differs at station {one.stem}"
            return f"{len(stations)} stations" if len(stations) > 1 else ""

        bench.case(f"scenario {scenario.stem}, both ways", size, run)


def at_station(file: Path, results: Path) -> None:
    """A station: sends a file by a proxy with the endpoint, and hashes what comes back."""
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    while not (results / "listens").exists():
        time.sleep(0.05)
    far = f"{os.environ['AIRTCP_SERVER']}:5001"
    command = ["proxy", "--listen", "127.0.0.1:8080", "--to", far, "--mobile", "servers"]
    digest = hashlib.sha256()
    with ending([PROGRAM, *command, "--mobile-stack", OWN_STACK]):
        wait_for(8080)
        with socket.create_connection(("127.0.0.1", 8080), timeout=600) as peer:

            def pour() -> None:
                with file.open("rb") as source:
                    peer.sendfile(source)
                peer.shutdown(socket.SHUT_WR)

            writer = threading.Thread(target=pour)
            writer.start()
            while piece := peer.recv(1 << 16):
                digest.update(piece)
            writer.join()
    (results / f"{os.environ['AIRTCP_STATION']}.hash").write_text(digest.hexdigest())


def at_server(results: Path) -> None:
    """The far end: gives back what each station sends."""
    with socket.create_server(("", 5001), backlog=64) as listener:
        (results / "listens").touch()
        while True:
            peer, _ = listener.accept()
            threading.Thread(target=give_back, args=(peer,), daemon=True).start()


def give_back(peer: socket.socket) -> None:
    """Reads all of it, then writes it."""
    with peer, suppress(OSError):
        got = b""
        while piece := peer.recv(1 << 16):
            got += piece
        peer.sendall(got)


def run(everything: bool) -> list[Row]:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        bench = Bench(Path(folder))
        sh("ip", "link", "set", "lo", "up")
        for size in (1, 1447, 1448, 1449, 100_000, 10 * MIB):
            bench.download(size)
            bench.upload(size)
            bench.sent(size)
        many(bench, 1000 if everything else 100)
        python_server(bench)
        nginx(bench)
        socat(bench)
        iperf3(bench, 5 if everything else 1)
        size = 4 * MIB if everything else 500_000
        over_wire(bench, "no faults", Faults(), size)
        over_wire(bench, "2 % lost", Faults(lost=0.02), size)
        over_wire(bench, "5 % duplicated", Faults(duplicated=0.05), size)
        over_wire(bench, "10 % late by up to 20 ms", Faults(late=0.1), size)
        over_wire(bench, "2 % damaged", Faults(damaged=0.02), size)
        over_wire(bench, "all of these", Faults(0.02, 0.05, 0.02, 0.1), size)
        over_wire(bench, "a link of 1000 bytes behind", Faults(), size, mtu=1000)
        over_wire(bench, "BBR, 2 % lost", Faults(lost=0.02), size, "--remedy", "bbr")
        changing_mtu(bench, 50 * size)
        interrupted(bench)
        if everything:
            scenarios(bench, 300_000)
            for options in ((), ("--offload",)):
                bench.sent(1 << 30, *options, pcap=False)
                bench.download(1 << 30, *options, pcap=False)
                bench.upload(1 << 30, *options, pcap=False)
            bench.sent(5 << 30, "--offload", pcap=False)
            bench.download(5 << 30, "--offload", pcap=False)
        judge_captures(bench)
        return bench.rows


def table(rows: list[Row]) -> str:
    lines = ["| Case | Bytes | Seconds | Outcome |", "|---|---:|---:|---|"]
    for row in rows:
        outcome = ("hash equal" if row.size else "as expected") if row.good else "**failed**"
        note = f"; {row.note}" if row.note else ""
        lines.append(f"| {row.name} | {row.size} | {row.seconds:.2f} | {outcome}{note} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description="airtcp's own TCP against this machine's kernel.")
    parser.add_argument("--all", action="store_true", help="GiBs, a thousand connections")
    parser.add_argument("--write", action="store_true", help="write the table into docs/real.md")
    parser.add_argument("--json", type=Path, help="write the rows into a file")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--at", nargs=3, metavar=("END", "FILE", "FOLDER"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.at:
        end, file, results = given.at
        if end == "server":
            at_server(Path(results))
        at_station(Path(file), Path(results))
        return 0
    if not given.inside:
        unshare = ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-Urn"]
        return subprocess.call([*unshare, sys.executable, __file__, "--inside", *sys.argv[1:]])
    missing = [
        name
        for name in ("curl", "ip", "iperf3", "nginx", "socat", "ss", "tshark")
        if shutil.which(name) is None
    ]
    if missing or not Path(PROGRAM).exists():
        print(
            f"needed: {', '.join(missing) or PROGRAM}; make build, or AIRTCP_NET", file=sys.stderr
        )
        return 2
    rows = run(given.all)
    if given.json:
        given.json.write_text(json.dumps([vars(row) for row in rows], indent=1) + "\n")
    if given.write:
        page = DOCUMENT.read_text(encoding="utf-8")
        before, rest = page.split(START)
        DOCUMENT.write_text(
            before + START + table(rows) + rest[rest.index(END) :], encoding="utf-8"
        )
    return int(not all(row.good for row in rows))


if __name__ == "__main__":
    sys.exit(main())
