"""Measures the goodput of airtcp's TCP on a TUN device, compared with the kernel's.

    python benches/goodput.py               # prints the table
    python benches/goodput.py --write       # and writes it into docs/measurements/real.md

The endpoint is one thread, and the TCP of the kernel at the other end runs in its calls: its share
of a core includes both. For comparison, the kernel's TCP at both ends of two such devices, with one
thread that copies from one to the other (crates/proxy/examples/two_devices.rs). The program that
reads or writes at the kernel's end runs on another core. Needs root, or user namespaces; nothing
else should run meanwhile.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from airtcp.core.net import find_program
from airtcp.pages.marked import put

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "measurements" / "real-goodput.json"
PAGE = ROOT / "docs" / "measurements" / "real.md"
KERNEL, ENDPOINT, FAR = "10.112.7.1", "10.112.7.2", "10.112.8.2"
TICKS = os.sysconf("SC_CLK_TCK")
GIB = 1 << 30
#: Transfer sizes: some seconds each.
SIZES = {"plain": 1 * GIB, "offload": 2 * GIB}
REPEATS = 3


@dataclass
class Speed:
    """Measurements of one way."""

    way: str
    device: str
    gbps: float
    core_share: float


def cpu_seconds(process: int) -> float:
    """Processor time of a process, including the kernel's on its behalf."""
    stat = Path(f"/proc/{process}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(stat[11]) + int(stat[12])) / TICKS


def discard(connection: socket.socket) -> int:
    """Reads to the end; returns how much came."""
    room = bytearray(1 << 20)
    total = 0
    with connection:
        while count := connection.recv_into(room):
            total += count
    return total


def pour(connection: socket.socket, size: int) -> None:
    """Writes that number of zeros."""
    zeros = memoryview(bytes(1 << 20))
    while size > 0:
        size -= connection.send(zeros[: min(size, len(zeros))])


@contextlib.contextmanager
def serving(folder: Path, options: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Runs ``airtcp-net serve`` during the block."""
    command = [find_program(), "serve", "--dir", str(folder), "--upload", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        server.stderr.readline()
        try:
            yield server
        finally:
            server.terminate()
            server.communicate()


def to_the_kernel(folder: Path, options: list[str], size: int) -> tuple[float, float]:
    """Wall and processor seconds for a file that ``serve`` sends."""
    file = folder / "zeros"
    if not file.exists() or file.stat().st_size != size:
        with file.open("wb") as out:
            for _ in range(size >> 20):
                out.write(bytes(1 << 20))
    with serving(folder, options) as server, socket.create_connection((ENDPOINT, 8000)) as peer:
        before, begun = cpu_seconds(server.pid), time.monotonic()
        peer.sendall(b"GET /zeros HTTP/1.1\r\nConnection: close\r\n\r\n")
        assert discard(peer) > size
        took = time.monotonic() - begun
        return took, cpu_seconds(server.pid) - before


def from_the_kernel(folder: Path, options: list[str], size: int) -> tuple[float, float]:
    """The same for a file that ``serve`` receives and drops."""
    sink = folder / "sink"
    if not sink.exists():
        sink.symlink_to("/dev/null")
    with serving(folder, options) as server, socket.create_connection((ENDPOINT, 8000)) as peer:
        before, begun = cpu_seconds(server.pid), time.monotonic()
        head = f"PUT /sink HTTP/1.1\r\nContent-Length: {size}\r\nConnection: close\r\n\r\n"
        peer.sendall(head.encode())
        pour(peer, size)
        assert peer.recv(64).startswith(b"HTTP/1.1 201")
        took = time.monotonic() - begun
        return took, cpu_seconds(server.pid) - before


def between_kernels(_folder: Path, options: list[str], size: int) -> tuple[float, float]:
    """The same from kernel to kernel."""
    command = [str(example("two_devices")), *options]
    reader = f"import sys; sys.path[0] = {str(ROOT / 'benches')!r}; import goodput; goodput.sink()"
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as copier:
        assert copier.stdout is not None
        namespace = copier.stdout.readline().split()[1]
        inside = ["nsenter", f"--net={namespace}", sys.executable, "-c", reader]
        try:
            with subprocess.Popen(inside, stdout=subprocess.PIPE, text=True) as far:
                assert far.stdout is not None
                port = int(far.stdout.readline())
                with socket.create_connection((FAR, port)) as peer:
                    before, begun = cpu_seconds(copier.pid), time.monotonic()
                    pour(peer, size)
                    peer.shutdown(socket.SHUT_WR)
                    assert int(far.stdout.readline()) == size
                took = time.monotonic() - begun
                return took, cpu_seconds(copier.pid) - before
        finally:
            copier.kill()


def sink() -> None:
    """The far end between kernels: prints its port, then how much came."""
    with socket.create_server(("", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        print(discard(listener.accept()[0]), flush=True)


def example(name: str) -> Path:
    """An example of airtcp-proxy, built."""
    command = ["cargo", "build", "--quiet", "--profile", "local", "--package", "airtcp-proxy"]
    subprocess.run([*command, "--example", name], cwd=ROOT, check=True)
    return ROOT / "target" / "local" / "examples" / name


WAYS: dict[str, Callable[[Path, list[str], int], tuple[float, float]]] = {
    "airtcp to the kernel": to_the_kernel,
    "the kernel to airtcp": from_the_kernel,
    "the kernel to the kernel": between_kernels,
}


def measure() -> list[Speed]:
    """Every way on every device: the run of median goodput."""
    found = []
    # In memory: no disk should be measured.
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        for device, size in SIZES.items():
            options = ["--offload"] if device == "offload" else []
            for way, run in WAYS.items():
                runs = []
                for _ in range(REPEATS):
                    took, used = run(Path(name), options, size)
                    runs.append(Speed(way, device, size * 8 / took / 1e9, used / took))
                    print(runs[-1], file=sys.stderr, flush=True)
                middle = statistics.median_low([one.gbps for one in runs])
                found.append(next(one for one in runs if one.gbps == middle))
    return found


def table(run: dict[str, Any]) -> str:
    """The page's table."""
    lines = [
        f"Kernel {run['kernel']}, {run['cores']} cores, packets of 1500 bytes; the median of "
        f"{REPEATS}.",
        "",
        "| device | way | goodput, Gbit/s | of a core |",
        "|---|---|---:|---:|",
    ]
    lines += [
        f"| {one['device']} | {one['way']} | {one['gbps']:.2f} | {100 * one['core_share']:.0f} % |"
        for one in run["ways"]
    ]
    return "\n".join(lines)


def main() -> None:
    """Measures, prints, and writes the table with `--write`."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the table into its page")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not arguments.inside:
        example("two_devices")
        unshare = ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-Urn"]
        command = [*unshare, sys.executable, *sys.argv, "--inside"]
        raise SystemExit(subprocess.call(command))
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    run = {
        "kernel": platform.release(),
        "cores": os.cpu_count(),
        "ways": [asdict(one) for one in measure()],
    }
    print(table(run))
    if arguments.write:
        DATA.write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(put(PAGE.read_text("utf-8"), "goodput", table(run)), encoding="utf-8")


if __name__ == "__main__":
    main()
