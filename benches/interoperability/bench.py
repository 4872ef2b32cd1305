"""Shared by all cases: files, the endpoint's programs, a listener of the kernel, a row."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from wire import sh

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = os.environ.get("AIRTCP_NET", str(ROOT / "target" / "local" / "airtcp-net"))
KERNEL, ENDPOINT = "10.112.7.1", "10.112.7.2"
MIB = 1 << 20


@dataclass
class Row:
    """Outcome of one case."""

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


def text(size: int) -> str:
    """A size in words."""
    for unit, name in ((1 << 30, "GiB"), (MIB, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


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
    """A listener of the kernel that hashes the received data."""

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
                    # Like a killed process: unread data turns the close into a reset.
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
    """State shared by the cases."""

    folder: Path
    rows: list[Row] = field(default_factory=list)
    captures: list[Path] = field(default_factory=list)

    def case(self, name: str, size: int, run: Callable[[], str]) -> None:
        """Runs a case, which raises on failure and returns its remark."""
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
