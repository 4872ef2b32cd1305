"""Measures the gateway's cost: speed relative to plain forwarding, delay, idle CPU, memory.

    python benches/gateway.py               # prints the table
    python benches/gateway.py --write       # and writes it into docs/measurements/real.md

Needs root, iperf3, ethtool and nft; run it on an otherwise idle machine.
"""

import argparse
import ctypes
import json
import os
import platform
import re
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from router import WIRED, AbsentError, Router, wait_for

from airtcp.pages.marked import put

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "measurements" / "real-gateway.json"
PAGE = ROOT / "docs" / "measurements" / "real.md"
TICKS = os.sysconf("SC_CLK_TCK")
#: This agent holds no acknowledgment: only the passage through the queue remains.
NO_DELAY = "static-delay:delay=0s,every=1"
#: Offset of tcpi_rtt in struct tcp_info (linux/tcp.h), in microseconds.
RTT_AT = 68
#: Of linux/sched.h; this Python may be older than os.setns.
CLONE_NEWNET = 0x4000_0000


def listen(router: Router, handle: Callable[[socket.socket], None]) -> tuple[socket.socket, int]:
    """A listener on the wired host that passes each connection to `handle`."""
    listener = in_namespace(router.wired, lambda: socket.create_server((WIRED, 0), backlog=4096))

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            handle(connection)

    threading.Thread(target=accept, daemon=True).start()
    return listener, listener.getsockname()[1]


def in_namespace(name: str, make: Callable[[], socket.socket]) -> socket.socket:
    """A socket that belongs to a namespace, made by a thread that goes there."""
    made: list[socket.socket | BaseException] = []

    def work() -> None:
        try:
            with Path(f"/run/netns/{name}").open("rb") as namespace:
                if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), CLONE_NEWNET):
                    raise OSError(ctypes.get_errno(), f"cannot enter {name}")
            made.append(make())
        except BaseException as error:
            made.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if isinstance(made[0], BaseException):
        raise made[0]
    return made[0]


def rate(router: Router, seconds: int) -> tuple[float, float]:
    """Bulk TCP from the mobile: packets a second through the router, and bits a second."""
    server = router.start(router.wired, "iperf3", "-s", "-1", stdout=subprocess.DEVNULL)
    try:
        wait_for(lambda: ":5201" in router.inside(router.wired, "ss -ltn"))
        before = router.packets("r0")
        words = ("iperf3", "-c", WIRED, "-t", str(seconds), "-J")
        out = router.start(router.mobile, *words, stdout=subprocess.PIPE).communicate()[0]
        packets = router.packets("r0") - before
        result = json.loads(out)["end"]["sum_received"]
        return packets / result["seconds"], result["bits_per_second"]
    finally:
        server.kill()
        server.wait()


def speed(router: Router, rounds: int, seconds: int) -> dict[str, Any]:
    """Plain forwarding, looking and applying by turns."""
    router.cut_at_the_host()
    found: dict[str, list[tuple[float, float]]] = {"plain": [], "observe": [], "apply": []}
    for _ in range(rounds):
        for way, rates in found.items():
            if way == "plain":
                rates.append(rate(router, seconds))
                continue
            gateway = router.gateway(NO_DELAY, f"--{way}")
            rates.append(rate(router, seconds))
            report = router.end(gateway)
            if way == "apply" and report["did"]["to_mobile"] == 0:
                raise AbsentError("no acknowledgment came into the queue")
            print(way, rates[-1], file=sys.stderr, flush=True)
    return {
        way: {
            "packets_per_s": median(packets for packets, _ in rates),
            "bps": median(bits for _, bits in rates),
        }
        for way, rates in found.items()
    }


def round_trip(router: Router) -> float:
    """The kernel's smoothed round trip over 300 single segments, in microseconds."""
    router.inside(router.wired, "ip route replace default via 10.77.2.1 quickack 1")
    listener, port = listen(router, drain)
    try:
        connection = in_namespace(router.mobile, lambda: socket.create_connection((WIRED, port)))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        samples = []
        for _ in range(300):
            connection.send(b"x")
            time.sleep(0.005)
            info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 232)
            samples.append(struct.unpack_from("I", info, RTT_AT)[0])
        connection.close()
        # Smoothed by eight: the second half no longer knows of the start.
        return median(samples[150:])
    finally:
        listener.close()


def drain(connection: socket.socket) -> None:
    """Reads a connection to its end in a new thread."""

    def work() -> None:
        while connection.recv(1 << 16):
            pass
        connection.close()

    threading.Thread(target=work, daemon=True).start()


def core_share(process: int, seconds: float) -> float:
    """The share of a core that a process takes while nothing happens."""

    def ticks() -> int:
        stat = Path(f"/proc/{process}/stat").read_text().rsplit(") ", 1)[1].split()
        return int(stat[11]) + int(stat[12])

    before = ticks()
    time.sleep(seconds)
    return (ticks() - before) / TICKS / seconds


def memory(router: Router, process: int, connections: int) -> float:
    """The most memory of a gateway that knows this number of connections, in MiB."""

    def hang_up(connection: socket.socket) -> None:
        # Half of a connection is enough to be known, and a process may have 20 000 sockets.
        connection.recv(1000, socket.MSG_WAITALL)
        connection.close()

    listener, port = listen(router, hang_up)
    ours: list[socket.socket] = []
    try:

        def connect() -> socket.socket:
            for number in range(connections):
                # Ports of one address do not suffice for all.
                source = (f"10.77.1.{10 + number // 5000}", 0)
                one = socket.create_connection((WIRED, port), source_address=source)
                one.send(b"x" * 1000)
                ours.append(one)
                if number % 500 == 499:
                    time.sleep(0.05)
            return ours[0]

        for last in range(1 + (connections - 1) // 5000):
            router.inside(router.mobile, f"ip addr add 10.77.1.{10 + last}/24 dev m0")
        in_namespace(router.mobile, connect)
        time.sleep(1)
        status = Path(f"/proc/{process}/status").read_text()
        found = re.search(r"VmHWM:\s+(\d+) kB", status)
        assert found
        return int(found[1]) / 1024
    finally:
        listener.close()
        for one in ours:
            one.close()


def measured(rounds: int, seconds: int, connections: int) -> dict[str, Any]:
    """All measurements, on freshly made routers."""
    result: dict[str, Any] = {"kernel": platform.release(), "cores": os.cpu_count()}
    trips = []
    for number in range(rounds):
        with Router() as router:
            plain = round_trip(router)
            gateway = router.gateway(NO_DELAY, "--apply")
            trips.append((plain, round_trip(router)))
            if number == 0:
                result["idle_share"] = core_share(child_of(gateway), 10)
            router.end(gateway)
    # How long a core takes to wake up varies from run to run: of the differences, the median.
    result["plain_us"] = median(plain for plain, _ in trips)
    result["added_us"] = median(through - plain for plain, through in trips)
    with Router() as router:
        gateway = router.gateway("delay-injection", "--apply")
        process = child_of(gateway)
        result["connections"] = connections
        result["memory_mib"] = memory(router, process, connections)
        result["known"] = router.end(gateway)["connections"]
    with Router() as router:
        result["speed"] = speed(router, rounds, seconds)
    return result


def child_of(gateway: subprocess.Popen[str]) -> int:
    """The gateway's process: `ip netns exec` becomes it."""
    return gateway.pid


def table(run: dict[str, Any]) -> str:
    """The page's table."""
    speeds = run["speed"]
    plain = speeds["plain"]["packets_per_s"]
    added = run["added_us"] / 1000
    lines = [
        f"Kernel {run['kernel']}, {run['cores']} cores, which the hosts share with the gateway.",
        "",
        "| quantity | measured | aim |",
        "|---|---:|---:|",
        f"| packets/s of bulk TCP, plain forwarding | {plain:,.0f} | |",
    ]
    for way, aim in (("observe", ""), ("apply", "80 %")):
        packets = speeds[way]["packets_per_s"]
        lines.append(
            f"| with `--{way}`{', ACKs queued' if way == 'apply' else ''} "
            f"| {packets:,.0f} ({100 * packets / plain:.0f} %) | {aim} |"
        )
    lines += [
        f"| round trip at D = 0, plain {run['plain_us'] / 1000:.3f} ms: added "
        f"| {added:.3f} ms | 0.1 ms |",
        f"| of a core when idle | {100 * run['idle_share']:.2f} % | 1 % |",
        f"| memory with {run['known']:,} connections | {run['memory_mib']:.0f} MiB | 64 MiB |",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measures, prints, and writes the table with `--write`."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the table into its page")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--connections", type=int, default=10_000)
    arguments = parser.parse_args()
    try:
        run = measured(arguments.rounds, arguments.seconds, arguments.connections)
    except AbsentError as error:
        raise SystemExit(f"benches/gateway.py: {error}") from error
    print(table(run))
    if arguments.write:
        DATA.write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(put(PAGE.read_text("utf-8"), "gateway", table(run)), encoding="utf-8")


if __name__ == "__main__":
    main()
