"""Measures the proxy: memory of ten thousand connections, and goodput relative to no proxy.

    python benches/proxy.py               # prints the tables
    python benches/proxy.py --write       # and writes them into docs/measurements/real.md

Needs root, iperf3 and control groups; run it on an otherwise idle machine. Clients, the proxy and
servers are in separate network namespaces, joined by pairs of devices. The proxy's memory is that
charged to its control group: in user space, and the kernel's for sockets, files, pipes and data.
"""

import argparse
import contextlib
import ctypes
import json
import multiprocessing
import os
import platform
import resource
import selectors
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from airtcp.core.net import find_program
from airtcp.pages.marked import put

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "measurements" / "real-proxy.json"
PAGE = ROOT / "docs" / "measurements" / "real.md"
MEMORY = Path("/sys/fs/cgroup/memory")
UNIFIED = Path("/sys/fs/cgroup")
CLIENT, SERVER, ROUTER = "10.1.0.2", "10.2.0.2", "10.1.0.1"
PORT, PROXY_PORT, SERVER_PORTS = 8081, 9080, 9180
#: Data offered by a stalled connection's server: more than anybody buffers.
OFFERED = 1 << 20
SECONDS = 8
REPEATS = 3
STATES = ("idle, after 1 kB each way", "stalled: clients that read nothing of 1 MiB each")

Sockets = list[socket.socket]


@dataclass
class Memory:
    """Memory of the connections in one state."""

    state: str
    connections: int
    proxies: int
    mib: float
    sockets_mib: float
    kib_each: float


@dataclass
class Goodput:
    """Goodput over one way."""

    way: str
    direct_mbps: float
    proxy_mbps: float
    core_share: float


class World:
    """A client, a router and a server, each in a namespace that a sleeping process holds."""

    def __init__(self, stack: ExitStack) -> None:
        self.processes = {
            name: stack.enter_context(_holder()) for name in ("client", "router", "server")
        }
        for device, peer, owner, here, there in (
            ("c0", "c1", "client", ROUTER, CLIENT),
            ("s0", "s1", "server", "10.2.0.1", SERVER),
        ):
            other = str(self.processes[owner])
            self.run(
                "router",
                "ip",
                "link",
                "add",
                device,
                "type",
                "veth",
                "peer",
                "name",
                peer,
                "netns",
                other,
            )
            for name, end, address in (("router", device, here), (owner, peer, there)):
                self.run(name, "ip", "address", "add", f"{address}/24", "dev", end)
                self.run(name, "ip", "link", "set", end, "up")
            self.run(owner, "ip", "route", "add", "default", "via", here)
        self.run("router", "sysctl", "-qw", "net.ipv4.ip_forward=1")
        for name in self.processes:
            # Ten thousand clients of one address.
            self.run(name, "sysctl", "-qw", "net.ipv4.ip_local_port_range=2000 65000")

    def command(self, where: str, *words: str) -> list[str]:
        """The words that run a command in a namespace."""
        return ["nsenter", f"--net=/proc/{self.processes[where]}/ns/net", *words]

    def run(self, where: str, *words: str) -> None:
        """Runs a command that has to succeed."""
        subprocess.run(self.command(where, *words), check=True)

    @contextmanager
    def inside(self, where: str) -> Iterator[None]:
        """This process's new sockets are of that namespace."""
        there = Path(f"/proc/{self.processes[where]}/ns/net")
        with Path("/proc/self/ns/net").open() as here, there.open() as other:
            _enter(other.fileno())
            try:
                yield
            finally:
                _enter(here.fileno())


def _enter(namespace: int) -> None:
    """setns(2), which Python has from 3.12 on."""
    if ctypes.CDLL(None, use_errno=True).setns(namespace, 0) != 0:
        raise OSError(ctypes.get_errno(), "setns")


@contextmanager
def _holder() -> Iterator[int]:
    process = subprocess.Popen(
        ["unshare", "-n", "sh", "-c", "ip link set lo up; echo; exec sleep infinity"],
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid
    finally:
        process.kill()
        process.wait()


class Group:
    """A control group, by either version of them."""

    def __init__(self) -> None:
        self.is_v2 = (UNIFIED / "cgroup.controllers").exists()
        self.path = (UNIFIED if self.is_v2 else MEMORY) / f"airtcp-bench-{os.getpid()}"

    def __enter__(self) -> "Group":
        self.path.mkdir()
        if not self.is_v2:
            # The kernel counts memory of sockets once it is limited.
            limit = self.path / "memory.kmem.tcp.limit_in_bytes"
            limit.write_text(str(1 << 40))
        return self

    def __exit__(self, *_: object) -> None:
        self.path.rmdir()

    def words(self, command: list[str]) -> list[str]:
        """The same command, in this group."""
        join = f'echo $$ > "{self.path}/cgroup.procs"; exec "$@"'
        return ["sh", "-c", join, "sh", *command]

    def charged(self) -> tuple[int, int]:
        """Bytes in total, and the part that is data in sockets."""
        if self.is_v2:
            counted = dict(
                line.split() for line in (self.path / "memory.stat").read_text().splitlines()
            )
            return int((self.path / "memory.current").read_text()), int(counted["sock"])
        usage = int((self.path / "memory.usage_in_bytes").read_text())
        data = int((self.path / "memory.kmem.tcp.usage_in_bytes").read_text())
        return usage + data, data


@contextmanager
def proxy(world: World, words: list[str], wrap: Callable[[list[str]], list[str]]) -> Iterator[Any]:
    """A running proxy on the router."""
    with tempfile.TemporaryDirectory() as state:
        command = [find_program(), "proxy", *words, "--state", state]
        process = subprocess.Popen(
            wrap(world.command("router", *command)), stderr=subprocess.PIPE, text=True
        )
        try:
            assert process.stderr is not None
            for line in process.stderr:
                if line.endswith("ready\n"):
                    break
            else:
                raise SystemExit("the proxy has ended")
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            process.wait()


def connections(world: World, number: int, ports: tuple[int, int]) -> tuple[Sockets, Sockets]:
    """Clients of a proxy, and their servers."""
    at_proxy, at_server = ports
    with world.inside("server"):
        listener = socket.create_server((SERVER, at_server), backlog=4096)
    clients, servers = [], []
    with world.inside("client"):
        for _ in range(number):
            client = socket.create_connection((ROUTER, at_proxy))
            client.sendall(b"?" * 1000)
            clients.append(client)
            server, _ = listener.accept()
            server.recv(1000, socket.MSG_WAITALL)
            server.sendall(b"!" * 1000)
            servers.append(server)
    for client in clients:
        client.recv(1000, socket.MSG_WAITALL)
    listener.close()
    return clients, servers


def stall(servers: Sockets) -> None:
    """Every server sends until all receivers have stalled for a while."""
    data = b"x" * OFFERED
    selector = selectors.DefaultSelector()
    for server in servers:
        server.setblocking(False)
        selector.register(server, selectors.EVENT_WRITE, server)
    while ready := selector.select(timeout=2):
        for key, _ in ready:
            with contextlib.suppress(BlockingIOError):
                key.data.send(data)
    selector.close()


def ends(world: World, number: int, ports: tuple[int, int], said: Connection) -> None:
    """The ends of a proxy's connections, in a separate process: idle, then stalled."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    held = connections(world, number, ports)
    said.send("idle")
    said.recv()
    stall(held[1])
    said.send("stalled")
    said.recv()


def memory(world: World, number: int) -> list[Memory]:
    """Idle connections, then the same with clients that do not read.

    Where one process may not have that many open files there are several proxies.
    """
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    proxies = -(-number // max(1, files // 2 - 100))
    share = number // proxies
    measured = []
    with Group() as group, ExitStack() as stack:
        pipes = []
        for index in range(proxies):
            ports = (PROXY_PORT + index, SERVER_PORTS + index)
            words = ["--listen", f"{ROUTER}:{ports[0]}", "--to", f"{SERVER}:{ports[1]}"]
            words += ["--connections", str(share), "--memory", str(512 // proxies)]
            stack.enter_context(proxy(world, words, group.words))
            here, there = multiprocessing.Pipe()
            process = multiprocessing.Process(target=ends, args=(world, share, ports, there))
            stack.callback(process.join)
            pipes.append((here, process))
        time.sleep(0.5)
        empty, _ = group.charged()
        for _, process in pipes:
            process.start()
        for state in STATES:
            for here, _ in pipes:
                here.recv()
            time.sleep(1)
            total, data = group.charged()
            each = (total - empty) / (share * proxies) / 1024
            measured.append(
                Memory(state, share * proxies, proxies, total / 2**20, data / 2**20, each)
            )
            for here, _ in pipes:
                here.send("go on")
    return measured


def iperf(world: World, host: str, port: int, options: list[str]) -> float:
    """Goodput in Mbit/s of iperf3 from the client."""
    command = ["iperf3", "-c", host, "-p", str(port), "-t", str(SECONDS), "-O", "1", "-J", *options]
    output = subprocess.run(world.command("client", *command), capture_output=True, check=True)
    return float(json.loads(output.stdout)["end"]["sum_received"]["bits_per_second"]) * 1e-6


def cpu_seconds(process: int) -> float:
    """Processor time of a process, in seconds."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def goodput(world: World) -> list[Goodput]:
    """Up and down, one connection and ten, direct and through the proxy."""
    server = subprocess.Popen(
        world.command("server", "iperf3", "-s", "-p", str(PORT)), stdout=subprocess.DEVNULL
    )
    ways: tuple[tuple[str, list[str]], ...] = (
        ("one connection, up", []),
        ("one connection, down", ["-R"]),
        ("ten connections, up", ["-P", "10"]),
        ("ten connections, down", ["-P", "10", "-R"]),
    )
    measured = []
    try:
        time.sleep(0.5)
        for way, options in ways:
            direct = [iperf(world, SERVER, PORT, options) for _ in range(REPEATS)]
            words = ["--listen", f":{PROXY_PORT}", "--transparent", "--device", "c0"]
            with proxy(world, words, lambda command: command) as process:
                through, shares = [], []
                for _ in range(REPEATS):
                    before = cpu_seconds(process.pid)
                    through.append(iperf(world, SERVER, PORT, options))
                    shares.append((cpu_seconds(process.pid) - before) / (SECONDS + 1))
            measured.append(
                Goodput(
                    way,
                    statistics.median(direct),
                    statistics.median(through),
                    statistics.median(shares),
                )
            )
    finally:
        server.kill()
        server.wait()
    return measured


def tables(run: dict[str, Any]) -> str:
    """Both tables, with the machine that they are of."""
    lines = [
        f"Kernel {run['kernel']}, {run['cores']} cores, all on one machine.",
        "",
        "| connections | in proxies | state | charged to them, MiB | of it data | KiB each |",
        "|---:|---:|---|---:|---:|---:|",
    ]
    lines += [
        f"| {one['connections']:,} | {one['proxies']} | {one['state']} | {one['mib']:.0f} | "
        f"{one['sockets_mib']:.0f} | {one['kib_each']:.1f} |"
        for one in run["memory"]
    ]
    lines += [
        "",
        f"Goodput between pairs of devices, 1500-byte packets with offloads, median of {REPEATS}:",
        "",
        "| iperf3 | direct, Mbit/s | through the transparent proxy | of a core |",
        "|---|---:|---:|---:|",
    ]
    for one in run["goodput"]:
        lines.append(
            f"| {one['way']} | {one['direct_mbps']:.0f} | {one['proxy_mbps']:.0f} | "
            f"{100 * one['core_share']:.0f} % |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measures, prints, and with --write writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--connections", type=int, default=10_000)
    parser.add_argument("--write", action="store_true", help="write docs/measurements/real.md")
    arguments = parser.parse_args()
    if os.geteuid() != 0 or shutil.which("iperf3") is None:
        raise SystemExit("benches/proxy.py needs root and iperf3")
    with ExitStack() as stack:
        world = World(stack)
        run = {
            "kernel": platform.release(),
            "cores": os.cpu_count(),
            "memory": [asdict(one) for one in memory(world, arguments.connections)],
            "goodput": [asdict(one) for one in goodput(world)],
        }
    print(tables(run))
    if arguments.write:
        DATA.write_text(json.dumps(run, indent=2) + "\n")
        PAGE.write_text(put(PAGE.read_text(), "proxy-speed", tables(run)))


if __name__ == "__main__":
    main()
