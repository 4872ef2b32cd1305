"""Measures queueing in the proxy: the age of data on arrival, and goodput.

    python benches/proxy_latency.py                     # prints the table
    python benches/proxy_latency.py --write             # and writes it into real.md
    python benches/proxy_latency.py --program FILE      # with another build's airtcp-net

Needs root. Two emulated links in a row, `mobile` and `wired`, with the proxy between them:

    client ── mobile ── router ── proxy ── wired ── server

The server sends as much as its connection takes, each record with the time at which it was
written; it holds nothing back itself (TCP_NOTSENT_LOWAT). The direct way is the same two links
without the proxy.
"""

import argparse
import json
import os
import platform
import select
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from airtcp.core.net import find_program
from airtcp.pages.marked import put

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "measurements" / "real-proxy-latency.json"
PAGE = ROOT / "docs" / "measurements" / "real.md"
LINK = """topology = "pipe"
[link]
rate = "{rate} Mbit/s"
delay = "{delay} ms"
[link.queue]
packets = {packets}
"""
#: Links by name: rate in Mbit/s, delay each way in ms and queue in packets of the mobile one, and
#: the delay of the wired one.
PATHS = {
    "3 Mbit/s, 50 ms, 100 packets": (3, 24, 100, 1),
    "20 Mbit/s, 50 ms, 80 packets": (20, 24, 80, 1),
    "20 Mbit/s, 20 ms, 35 packets, the server 60 ms away": (20, 9, 35, 30),
}
STACKS = ("none", "linux-cubic", "linux-bbr", "newreno", "linux")
SOURCE_PORT, PROXY_PORT, RECORD = 9000, 8080, 1448
#: Routed beyond the router's devices, for stacks with clients on a separate device.
NOBODYS = "10.9.9.9"
NEAR, FAR = "10.77.0.1", "10.77.0.2"
#: The descriptor by which the proxy's program knows the router's namespace.
ROUTER = 9
SECONDS, WARM_UP = 15.0, 3.0


@dataclass
class Measured:
    """A path with one stack, or with no proxy at all."""

    path: str
    stack: str
    goodput_mbps: float
    median_ms: float
    p95_ms: float


def serve() -> None:
    """Sends time-stamped records to every client, until it is killed."""
    listener = socket.create_server(("", SOURCE_PORT))
    connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, 8 * RECORD)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setblocking(False)
    while True:
        select.select([], [connection], [])
        record = time.monotonic_ns().to_bytes(8, "big").ljust(RECORD, b"x")
        # The rest of a partly sent record follows before the next.
        while record:
            try:
                record = record[connection.send(record) :]
            except BlockingIOError:
                select.select([], [connection], [])


def receive(address: str, port: int) -> dict[str, float]:
    """Reads for some seconds: goodput, and how old records are that arrive."""
    end = time.monotonic() + 10
    while True:
        try:
            connection = socket.create_connection((address, port), timeout=20)
            break
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
    begun = time.monotonic()
    ages, rest, counted = [], b"", 0
    while (now := time.monotonic()) < begun + SECONDS:
        data = connection.recv(1 << 16)
        if not data:
            raise SystemExit("the connection has ended")
        arrived = time.monotonic_ns()
        rest += data
        is_counted = now > begun + WARM_UP
        counted += len(data) * is_counted
        while len(rest) >= RECORD:
            if is_counted:
                ages.append((arrived - int.from_bytes(rest[:8], "big")) / 1e6)
            rest = rest[RECORD:]
    return {
        "goodput_mbps": counted * 8e-6 / (SECONDS - WARM_UP),
        "median_ms": statistics.median(ages),
        "p95_ms": statistics.quantiles(ages, n=20)[-1],
    }


def run_proxy(stack: str, program: str, server: str) -> None:
    """In the wired link's near end: joins it to the router, and runs the proxy there."""
    router = f"/proc/self/fd/{ROUTER}"
    at_router = ["nsenter", f"--net={router}"]
    commands = [
        ["ip", "link", "add", "v0", "type", "veth", "peer", "name", "v1"],
        ["ip", "link", "set", "v0", "netns", router],
        [*at_router, *f"ip address add {NEAR}/24 dev v0".split()],
        [*at_router, *["ip", "link", "set", "v0", "up"]],
        f"ip address add {FAR}/24 dev v1".split(),
        ["ip", "link", "set", "v1", "up"],
        # Stations of the outer link; the inner one has separate addresses.
        f"ip route add 100.64.0.0/16 via {NEAR}".split(),
        [*at_router, *f"ip route add {NOBODYS} via {FAR}".split()],
        [*at_router, *f"ip route add {server} via {FAR}".split()],
        [*at_router, *["sysctl", "-qw", "net.ipv4.ip_forward=1"]],
        ["sysctl", "-qw", "net.ipv4.ip_forward=1"],
    ]
    for command in commands:
        subprocess.run(command, check=True, pass_fds=(ROUTER,))
    if stack == "none":
        signal.pause()
    listen = FAR if stack.startswith("linux-") else NOBODYS
    words = ["--listen", f"{listen}:{PROXY_PORT}", "--to", f"{server}:{SOURCE_PORT}"]
    with tempfile.TemporaryDirectory() as state:
        subprocess.run(
            [program, "proxy", *words, "--mobile-stack", stack, "--state", state],
            stderr=subprocess.DEVNULL,
            check=False,
        )


def measure(path: str, stack: str, program: str) -> Measured:
    """One run of two links."""
    rate, mobile_ms, queue, wired_ms = PATHS[path]
    this = f"{sys.executable} {Path(__file__).resolve()}"
    with ExitStack() as stack_:
        folder = Path(stack_.enter_context(tempfile.TemporaryDirectory()))
        mobile, wired, said = (folder / name for name in ("mobile.toml", "wired.toml", "said"))
        mobile.write_text(LINK.format(rate=rate, delay=mobile_ms, packets=queue))
        wired.write_text(LINK.format(rate=200, delay=wired_ms, packets=1000))
        # The wired server has a way back to the mobile's stations only where no proxy is between.
        inner = (
            # A nested emulator has separate addresses.
            f"exec {ROUTER}</proc/self/ns/net; export AIRTCP_SERVER=100.64.0.1\n"
            f"exec {program} emulate --quiet {wired} --server "
            f"'ip route add 100.64.0.0/16 dev link0; exec {this} --serve' -- "
            f"sh -c 'exec {this} --proxy {stack} --program {program} "
            f"--server $AIRTCP_SERVER --said {said}'"
        )
        (folder / "inner.sh").write_text(inner)
        command = [program, "emulate", "--quiet", str(mobile)]
        command += ["--server", f"exec sh {folder / 'inner.sh'}", "--"]
        command += [*this.split(), "--receive", stack, "--said", str(said)]
        output = subprocess.run(command, capture_output=True, text=True, check=False)
        if output.returncode != 0:
            raise SystemExit(f"{path}, {stack}: {output.stderr}")
        return Measured(path, stack, **json.loads(output.stdout))


def table(run: dict[str, Any]) -> str:
    """The table of a run."""
    lines = [
        f"Kernel {run['kernel']}, {SECONDS:.0f} s each, without the first {WARM_UP:.0f} s. Age is",
        "the time from a record's write at the server to its reading at the client.",
        "",
        "| mobile link | stack of the proxy | goodput, Mbit/s | median age, ms | 95 %, ms |",
        "|---|---|---:|---:|---:|",
    ]
    lines += [
        f"| {one['path']} | {'no proxy' if one['stack'] == 'none' else one['stack']} | "
        f"{one['goodput_mbps']:.2f} | {one['median_ms']:.0f} | {one['p95_ms']:.0f} |"
        for one in run["rows"]
    ]
    return "\n".join(lines)


def main() -> None:
    """Measures, prints, and with --write writes; or is one of the programs of a run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write docs/measurements/real.md")
    parser.add_argument("--program", default="", help="airtcp-net of another build")
    parser.add_argument("--stack", action="append", choices=STACKS, help="only these stacks")
    parser.add_argument("--path", action="append", choices=list(PATHS), help="only these links")
    for name in ("proxy", "server", "said", "receive"):
        parser.add_argument(f"--{name}", help=argparse.SUPPRESS)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve()
        return
    if arguments.proxy:
        Path(arguments.said).write_text(arguments.server)
        run_proxy(arguments.proxy, arguments.program, arguments.server)
        return
    if arguments.receive:
        said = Path(arguments.said)
        while not said.exists() or not (server := said.read_text()):
            time.sleep(0.05)
        stack = arguments.receive
        if stack == "none":
            address, port = server, SOURCE_PORT
        else:
            address = FAR if stack.startswith("linux-") else NOBODYS
            port = PROXY_PORT
        print(json.dumps(receive(address, port)))
        return
    if os.geteuid() != 0:
        raise SystemExit("benches/proxy_latency.py needs root")
    program = arguments.program or find_program()
    rows = []
    for path in arguments.path or PATHS:
        for stack in arguments.stack or STACKS:
            rows.append(asdict(measure(path, stack, program)))
            print(rows[-1], file=sys.stderr, flush=True)
    run = {"kernel": platform.release(), "rows": rows}
    print(table(run))
    if arguments.write:
        DATA.write_text(json.dumps(run, indent=2) + "\n")
        PAGE.write_text(put(PAGE.read_text(), "proxy-latency", table(run)))


if __name__ == "__main__":
    main()
