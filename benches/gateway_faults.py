"""Measures how a gateway's faults affect connections through it: outages, packets, bytes.

    python benches/gateway_faults.py            # prints the table
    python benches/gateway_faults.py --write    # and writes it into docs/measurements/real.md

Eight of a mobile's connections upload over a router on which a gateway holds every acknowledgment
for 20 ms; then something happens. The outage is the longest time without a byte at the receiver, of
any connection. Lost packets are TCP segments that left one host and did not reach the other, in
both directions, by the counters of both kernels: receive windows are bounded, so that without a
fault no segment is lost in a full queue of the machine. Each fault is applied several times; the
row of the table has the median and the worst. It needs root, ethtool and nft.
"""

import argparse
import contextlib
import hashlib
import json
import platform
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from gateway import in_namespace
from router import NOBODY, WIRED, AbsentError, Router, wait_for

from airtcp.pages.marked import put

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "measurements" / "real-faults.json"
PAGE = ROOT / "docs" / "measurements" / "real.md"
AGENT = "static-delay:delay=20ms,every=1"
WIDE = """[hold]
longest = "1 s"
of_round_trip = 1000.0
of_timeout = 1.0
budget = "1 h"
span = "1 h"
"""
COLUMNS = ("outage_ms", "lost", "retransmitted")
CONNECTIONS = 8
BLOCK = 1 << 14
SECONDS = 4.0
#: Requested receive window in bytes: with the kernel's rounding, eight connections stay below the
#: 1000 packets of a core's backlog.
WINDOW = 64 << 10
#: Packets that the gateway's queue has room for, and more forged acknowledgments than that.
QUEUE = 1 << 14
FLOOD = 40_000


@dataclass
class Upload:
    """A connection in progress."""

    sent: str = ""
    came: str = ""
    bytes: int = 0
    longest: float = 0.0
    last: float = field(default_factory=time.monotonic)
    error: str = ""


@dataclass
class Row:
    """Effects of a fault."""

    fault: str
    outage_ms: float
    lost: int
    retransmitted: int
    whole: bool
    mbps: float
    left: bool
    """Whether rules remained installed."""


def upload(router: Router, port: int, one: Upload, until: float) -> None:
    """Sends blocks that differ until the time is over."""
    digest = hashlib.sha256()
    try:
        connection = in_namespace(router.mobile, lambda: socket.create_connection((WIRED, port)))
        number = 0
        while time.monotonic() < until:
            block = number.to_bytes(8, "big") * (BLOCK // 8)
            connection.sendall(block)
            digest.update(block)
            number += 1
        connection.shutdown(socket.SHUT_WR)
        # The far end closes when it has everything.
        connection.settimeout(30)
        one.came = connection.recv(64).hex()
        connection.close()
    except OSError as error:
        one.error = str(error)
    one.sent = digest.hexdigest()


def receive(connection: socket.socket, one: Upload) -> None:
    """Reads to the end, and answers with the digest of the received data."""
    digest = hashlib.sha256()
    one.last = time.monotonic()
    while block := connection.recv(1 << 16):
        now = time.monotonic()
        one.longest = max(one.longest, now - one.last)
        one.last = now
        one.bytes += len(block)
        digest.update(block)
    connection.sendall(digest.digest())
    connection.close()


def listen() -> socket.socket:
    """A listener with bounded receive windows."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, WINDOW)
    listener.bind((WIRED, 0))
    listener.listen()
    return listener


def during(router: Router, fault: Callable[[], None]) -> list[Upload]:
    """Connections in progress while a fault happens."""
    uploads = [Upload() for _ in range(CONNECTIONS)]
    listener = in_namespace(router.wired, listen)
    port = listener.getsockname()[1]
    until = time.monotonic() + SECONDS
    threads = []
    for one in uploads:
        sender = threading.Thread(target=upload, args=(router, port, one, until))
        sender.start()
        connection, _ = listener.accept()
        receiver = threading.Thread(target=receive, args=(connection, one))
        receiver.start()
        threads += [sender, receiver]
    time.sleep(SECONDS / 3)
    fault()
    for thread in threads:
        thread.join()
    listener.close()
    return uploads


def counter(router: Router, name: str) -> int:
    """A counter of the mobile's kernel."""
    words = router.inside(router.mobile, f"nstat -asz {name}")
    found = re.search(rf"{name}\s+(\d+)", words)
    return int(found[1]) if found else 0


def rules(router: Router) -> str:
    """The installed rules."""
    return router.inside(
        router.router,
        "nft list tables",
    )


def send(gateway: subprocess.Popen[str], number: int) -> Callable[[], None]:
    """The fault of a signal."""
    return lambda: gateway.send_signal(number)


def stand_still(_router: Router, gateway: subprocess.Popen[str]) -> None:
    """Stops the gateway for a second, which is longer than its watchdog bears."""
    gateway.send_signal(signal.SIGSTOP)
    time.sleep(1)
    gateway.send_signal(signal.SIGCONT)


def fill(router: Router, gateway: subprocess.Popen[str]) -> None:
    """Fills its queue with forged acknowledgments while it is paused, for less than that."""
    header = struct.pack(
        "!BBHHHBBH4s4s", 0x45, 0, 40, 0, 0x4000, 64, socket.IPPROTO_TCP, 0,
        socket.inet_aton(WIRED), socket.inet_aton(NOBODY),
    )  # fmt: skip
    packet = header + struct.pack("!HHIIBBHHH", 9, 9, 1, 1, 5 << 4, 0x10, 1000, 0, 0)
    raw = in_namespace(
        router.wired, lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    )
    gateway.send_signal(signal.SIGSTOP)
    until, full = time.monotonic() + 0.4, False
    for number in range(FLOOD):
        raw.sendto(packet, (NOBODY, 0))
        if number % 1000 == 999 and time.monotonic() > until:
            break
    # Queue, port and packets that wait, by line.
    listed = router.inside(router.router, "cat /proc/net/netfilter/nfnetlink_queue")
    full = any(int(line.split()[2]) >= QUEUE for line in listed.splitlines())
    gateway.send_signal(signal.SIGCONT)
    raw.close()
    if not full:
        raise AbsentError(f"the queue was not full: {listed}")


def wrong(router: Router, gateway: subprocess.Popen[str]) -> None:
    """A configuration that is wrong, and is read again."""
    file = Path(router.folder.name) / "gateway.toml"
    file.write_text("[hold]\nlongest = 5\n", encoding="utf-8")
    gateway.send_signal(signal.SIGHUP)


def flush(router: Router, _gateway: subprocess.Popen[str]) -> None:
    """Another program deletes all rules."""
    router.inside(router.router, "nft flush ruleset")


def renew(router: Router, gateway: subprocess.Popen[str]) -> None:
    """Another process takes over."""
    router.gateway(AGENT, "--apply", "--take-over", configuration=WIDE)
    gateway.wait()


def away(router: Router, _gateway: subprocess.Popen[str]) -> None:
    """The device towards the mobiles goes away for 300 ms, and comes back."""
    router.inside(router.router, "ip link set r0 down")
    time.sleep(0.3)
    router.inside(router.router, "ip link set r0 up")


Fault = Callable[[Router, subprocess.Popen[str]], None]


def nothing(_router: Router, _gateway: subprocess.Popen[str]) -> None:
    """No fault."""


def kill(_router: Router, gateway: subprocess.Popen[str]) -> None:
    """The gateway is gone without a word."""
    gateway.kill()


def end(_router: Router, gateway: subprocess.Popen[str]) -> None:
    """The gateway receives SIGTERM."""
    gateway.terminate()


FAULTS: tuple[tuple[str, Fault], ...] = (
    ("none", nothing),
    ("`kill -9`", kill),
    ("SIGTERM", end),
    ("SIGHUP: the configuration again", lambda _router, gateway: gateway.send_signal(1)),
    ("SIGHUP with a wrong configuration", wrong),
    (f"queue full: stopped while {FLOOD:,} forged ACKs come".replace(",", " "), fill),
    ("stopped for 1 s: watchdog", stand_still),
    ("hangs for good (SIGSTOP): guard", lambda _router, gateway: gateway.send_signal(19)),
    ("all rules deleted by hand", flush),
    ("another process takes over", renew),
    ("device down for 300 ms", away),
)
#: Faults of a gateway that carries the packets itself; the kernel's bridge takes over.
INLINE_FAULTS: tuple[tuple[str, Fault], ...] = (
    ("inline: none", nothing),
    ("inline: `kill -9`", kill),
    ("inline: SIGTERM", end),
    ("inline: another process takes over", renew),
    ("inline: device down for 300 ms", away),
)


def measure(name: str, fault: Fault, *, inline: bool = False) -> Row:
    """Measures a fault on a fresh router."""
    with Router(inline=inline) as router:
        router.cut_at_the_host()
        router.inside(router.mobile, "sysctl -qw net.ipv4.tcp_congestion_control=reno")
        gateway = router.gateway(AGENT, "--apply", configuration=WIDE)
        uploads = during(router, lambda: fault(router, gateway))
        for one in router.gateways:
            if one.poll() is None:
                one.send_signal(signal.SIGCONT)
                one.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                one.wait(10)
        # A guard that removes rules takes a moment.
        with contextlib.suppress(AbsentError):
            wait_for(lambda: "airtcp" not in rules(router), 5)
        return Row(
            fault=name,
            outage_ms=1e3 * max(one.longest for one in uploads),
            lost=router.lost(),
            retransmitted=counter(router, "TcpRetransSegs"),
            whole=all(one.sent == one.came and not one.error for one in uploads),
            mbps=sum(one.bytes for one in uploads) * 8e-6 / SECONDS,
            left="airtcp" in rules(router),
        )


def table(run: dict[str, Any]) -> str:
    """The page's table."""
    lines = [
        f"Kernel {run['kernel']}, {CONNECTIONS} connections of {SECONDS:g} s, "
        f"{run['rounds']} runs of each: median and worst.",
        "",
        "| fault | longest pause, ms | packets lost | segments retransmitted | bytes hash equal "
        "| rules left | Mbit/s |",
        "|---|---:|---:|---:|---|---|---:|",
    ]
    for fault, rows in run["faults"].items():
        pause, lost, again = (
            f"{median(values):.0f}, {max(values):.0f}"
            for values in ([row[key] for row in rows] for key in COLUMNS)
        )
        lines.append(
            f"| {fault} | {pause} | {lost} | {again} "
            f"| {'yes' if all(row['whole'] for row in rows) else 'NO'} "
            f"| {'YES' if any(row['left'] for row in rows) else 'none'} "
            f"| {median(row['mbps'] for row in rows):.0f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measures, prints, and writes the table with `--write`."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the table into its page")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    faults: dict[str, list[dict[str, Any]]] = {}
    try:
        # In turns, so that other load on the machine affects all alike.
        for _ in range(arguments.rounds):
            for inline, known in ((False, FAULTS), (True, INLINE_FAULTS)):
                for name, fault in known:
                    row = asdict(measure(name, fault, inline=inline))
                    faults.setdefault(name, []).append(row)
                    print(row, file=sys.stderr, flush=True)
    except AbsentError as error:
        raise SystemExit(f"benches/gateway_faults.py: {error}") from error
    run = {"kernel": platform.release(), "rounds": arguments.rounds, "faults": faults}
    print(table(run))
    if arguments.write:
        DATA.write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(
            put(PAGE.read_text("utf-8"), "gateway-faults", table(run)), encoding="utf-8"
        )


if __name__ == "__main__":
    main()
