#!/usr/bin/env python3
"""airtcp's own TCP against this machine's kernel: does every byte arrive, whatever happens?

    benches/interop.py                  the short part, under a minute
    benches/interop.py --all            with GiBs, a thousand connections and every fault
    benches/interop.py --write          also writes the table into docs/real.md

Everything happens in network namespaces of its own, which go away with it (root, or a system that
lets users make namespaces). A transfer counts when the hash of what arrived is that of what was
sent. Every packet at the endpoint's device is captured, and tshark must find no malformed one and
no wrong checksum among those that the endpoint sent.

``airtcp-net`` is taken from AIRTCP_NET, or from target/local.
"""

from __future__ import annotations

import argparse
import ctypes
import fcntl
import hashlib
import json
import os
import random
import select
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

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = os.environ.get("AIRTCP_NET", str(ROOT / "target" / "local" / "airtcp-net"))
DOCUMENT = ROOT / "docs" / "real.md"
START, END = "<!-- generated: interoperability -->\n", "<!-- end -->"
KERNEL, ENDPOINT = "10.112.7.1", "10.112.7.2"
FAR = "10.113.0.2"
MIB = 1 << 20
CLONE_NEWNET = 0x40000000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000


@dataclass
class Row:
    """What one case gave."""

    name: str
    size: int
    seconds: float = 0.0
    good: bool = False
    note: str = ""


@dataclass(frozen=True)
class Faults:
    """What the wire does to packets, as parts of one."""

    lost: float = 0.0
    duplicated: float = 0.0
    damaged: float = 0.0
    late: float = 0.0


def sh(*command: str, check: bool = True) -> str:
    """Runs a command, and gives what it printed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


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
    """``airtcp-net serve`` for as long as the block runs."""
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
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        peer, _ = self.socket.accept()
        got = 0
        with peer:
            while piece := peer.recv(1 << 18):
                self.digest.update(piece)
                got += len(piece)
                if self.stop_after is not None and got > self.stop_after:
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


class Wire:
    """Two TUN devices, and what is between them: in the endpoint's namespace and the far one."""

    def __init__(self, faults: Faults, mtu: int = 1500, delay: float = 0.002) -> None:
        self.faults, self.delay = faults, delay
        self.draws = random.Random(1)
        self.here = self._tun("bent0", "10.113.0.1/30", mtu)
        self.ready = threading.Event()
        self.stopped = False
        self.far: int | None = None
        self.far_thread = threading.Thread(target=self._far_side, args=(mtu,), daemon=True)
        self.far_work: list[tuple[Callable[[], object], threading.Event, list[object]]] = []
        self.far_thread.start()
        self.ready.wait(10)
        self.thread = threading.Thread(target=self._carry, daemon=True)
        self.thread.start()

    def _tun(self, name: str, address: str, mtu: int) -> int:
        device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
        sh("ip", "address", "add", address, "dev", name)
        sh("ip", "link", "set", name, "up", "mtu", str(mtu))
        return device

    def _far_side(self, mtu: int) -> None:
        """The far namespace belongs to this thread: sockets made here are there."""
        if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "unshare")
        sh("ip", "link", "set", "lo", "up")
        self.far = self._tun("bent1", f"{FAR}/30", mtu)
        sh("ip", "route", "add", "10.112.7.0/24", "via", "10.113.0.1")
        self.ready.set()
        while not self.stopped:
            if self.far_work:
                work, done, result = self.far_work.pop(0)
                result.append(work())
                done.set()
            time.sleep(0.002)

    def there(self, work: Callable[[], object]) -> object:
        """Runs ``work`` in the far namespace."""
        done, result = threading.Event(), []
        self.far_work.append((work, done, result))
        if not done.wait(20):
            raise RuntimeError("the far side does not answer")
        return result[0]

    def _carry(self) -> None:
        assert self.far is not None
        ends = {self.here: self.far, self.far: self.here}
        flying: list[tuple[float, int, int, bytes]] = []
        count = 0
        while not self.stopped:
            now = time.monotonic()
            wait = max(0.0, min([flying[0][0] - now], default=0.05)) if flying else 0.05
            for end in select.select(list(ends), [], [], wait)[0]:
                for _ in range(64):
                    try:
                        packet = os.read(end, 65536)
                    except BlockingIOError:
                        break
                    for copy, late in self._bend(packet):
                        count += 1
                        due = time.monotonic() + self.delay + late
                        flying.append((due, count, ends[end], copy))
            flying.sort()
            now = time.monotonic()
            while flying and flying[0][0] <= now:
                _, _, to, packet = flying.pop(0)
                with suppress(OSError):
                    os.write(to, packet)

    def _bend(self, packet: bytes) -> list[tuple[bytes, float]]:
        draws, faults = self.draws, self.faults
        if draws.random() < faults.lost:
            return []
        copies = 2 if draws.random() < faults.duplicated else 1
        out = []
        for _ in range(copies):
            bent = bytearray(packet)
            if draws.random() < faults.damaged:
                bit = draws.randrange(8 * len(bent))
                bent[bit // 8] ^= 1 << bit % 8
            late = draws.random() * 0.02 if draws.random() < faults.late else 0.0
            out.append((bytes(bent), late))
        return out

    def close(self) -> None:
        self.stopped = True
        self.thread.join()
        self.far_thread.join()
        os.close(self.here)
        if self.far is not None:
            os.close(self.far)


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
            copy = self.folder / "copy"
            captured = self.capture(f"down-{size}") if pcap else []
            with serving(self.folder, *captured, *options):
                sh("curl", "-sf", "-m", "600", "-o", str(copy), f"http://{ENDPOINT}:8000/down")
            assert file_hash(copy) == expected, "the hash differs"
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
    """So many connections at once, each with a file of its own length."""
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

    bench.case(f"{count} connections at once", 5000 * count, run)


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


def wait_for(port: int) -> None:
    """Waits until somebody listens at a port of this namespace."""
    for _ in range(300):
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
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
    expected = pattern(64 * MIB, bench.folder / "long")

    def down_and_up() -> str:
        receiver = Receiver()
        target = f"{KERNEL}:{receiver.port}"
        command = [PROGRAM, "send", str(bench.folder / "long"), target]
        sender = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        time.sleep(0.25)
        sh("ip", "link", "set", "airtcp0", "down")
        time.sleep(1.0)
        sh("ip", "link", "set", "airtcp0", "up")
        _, errors = sender.communicate(timeout=120)
        assert sender.returncode == 0, errors
        assert receiver.result() == expected, "the hash differs"
        return ""

    bench.case("the device is down for a second", 64 * MIB, down_and_up)

    def killed() -> str:
        receiver = Receiver(stop_after=MIB)
        done = send(bench.folder / "long", f"{KERNEL}:{receiver.port}")
        assert done.returncode != 0, "it went on"
        assert "reset" in done.stderr, done.stderr
        return done.stderr.strip().split(": ")[-1]

    bench.case("the peer is killed: send says so", 64 * MIB, killed)

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


def goodput(bench: Bench, size: int) -> None:
    """How fast, beside the kernel on a TUN device of the same kind."""
    for options in ((), ("--offload",)):
        bench.sent(size, *options, pcap=False)
        bench.download(size, *options, pcap=False)
        bench.upload(size, *options, pcap=False)


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
        size = 4 * MIB if everything else 500_000
        over_wire(bench, "no faults", Faults(), size)
        over_wire(bench, "2 % lost", Faults(lost=0.02), size)
        over_wire(bench, "5 % duplicated", Faults(duplicated=0.05), size)
        over_wire(bench, "10 % late by up to 20 ms", Faults(late=0.1), size)
        over_wire(bench, "2 % damaged", Faults(damaged=0.02), size)
        over_wire(bench, "all of these", Faults(0.02, 0.05, 0.02, 0.1), size)
        over_wire(bench, "a link of 1000 bytes behind", Faults(), size, mtu=1000)
        over_wire(bench, "BBR, 2 % lost", Faults(lost=0.02), size, "--remedy", "bbr")
        interrupted(bench)
        if everything:
            goodput(bench, 1 << 30)
            bench.sent(5 << 30, "--offload", pcap=False)
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
    given = parser.parse_args()
    if not given.inside:
        unshare = ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-Urn"]
        return subprocess.call([*unshare, sys.executable, __file__, "--inside", *sys.argv[1:]])
    missing = [name for name in ("curl", "ip", "tshark") if shutil.which(name) is None]
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
