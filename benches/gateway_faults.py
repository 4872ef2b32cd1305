"""What a gateway's faults cost the connections through it: outages, packets, bytes.

    python benches/gateway_faults.py            # prints the table
    python benches/gateway_faults.py --write    # and writes it into docs/real.md

Eight mobiles' connections upload over a router on which a gateway holds every acknowledgment for
20 ms; then something happens. The outage is the longest time without a byte at the receiver, of any
connection, beside that of a run without a fault; lost packets are what the mobile's kernel had to
retransmit. It needs root, ethtool, and iptables or nft.
"""

import argparse
import contextlib
import hashlib
import json
import platform
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from gateway import in_namespace
from router import WIRED, AbsentError, Router

from airtcp.report.marked import put

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs" / "real-faults.json"
PAGE = ROOT / "docs" / "real.md"
AGENT = "static-delay:delay=20ms,every=1"
WIDE = """[hold]
longest = "1 s"
of_round_trip = 1000.0
of_timeout = 1.0
budget = "1 h"
span = "1 h"
"""
CONNECTIONS = 8
BLOCK = 1 << 14
SECONDS = 4.0


@dataclass
class Upload:
    """A connection, while it goes on."""

    sent: str = ""
    came: str = ""
    bytes: int = 0
    longest: float = 0.0
    last: float = field(default_factory=time.monotonic)
    error: str = ""


@dataclass
class Row:
    """What a fault has done."""

    fault: str
    outage_ms: float
    retransmitted: int
    whole: bool
    mbps: float
    left: bool
    """Whether rules were left behind."""


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
    """Reads to the end, and answers with the digest of what came."""
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


def during(router: Router, fault: Callable[[], None]) -> list[Upload]:
    """Connections that go on while something happens."""
    uploads = [Upload() for _ in range(CONNECTIONS)]
    listener = in_namespace(router.wired, lambda: socket.create_server((WIRED, 0)))
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
    """The rules that stand."""
    return router.inside(
        router.router,
        "iptables-save -t mangle 2>/dev/null; ip6tables-save -t mangle 2>/dev/null;"
        "nft list tables 2>/dev/null; true",
    )


def send(gateway: subprocess.Popen[str], number: int) -> Callable[[], None]:
    """The fault of a signal."""
    return lambda: gateway.send_signal(number)


def fill(router: Router, gateway: subprocess.Popen[str]) -> None:
    """Stops the gateway for a second: its queue fills up."""
    gateway.send_signal(signal.SIGSTOP)
    time.sleep(1)
    gateway.send_signal(signal.SIGCONT)


def wrong(router: Router, gateway: subprocess.Popen[str]) -> None:
    """A configuration that is wrong, and is read again."""
    file = Path(router.folder.name) / "gateway.toml"
    file.write_text("[hold]\nlongest = 5\n", encoding="utf-8")
    gateway.send_signal(signal.SIGHUP)


def flush(router: Router, _gateway: subprocess.Popen[str]) -> None:
    """Somebody deletes all rules."""
    for program in ("iptables", "ip6tables"):
        router.inside(router.router, f"{program} -t mangle -F; {program} -t mangle -X")


def renew(router: Router, gateway: subprocess.Popen[str]) -> None:
    """Another process takes over."""
    router.gateway(AGENT, "--apply", "--take-over", configuration=WIDE)
    gateway.wait()


def away(router: Router, _gateway: subprocess.Popen[str]) -> None:
    """The device towards the mobiles goes away for 300 ms, and comes back."""
    router.inside(router.router, "ip link set r0 down")
    time.sleep(0.3)
    router.inside(router.router, "ip link set r0 up")


FAULTS: tuple[tuple[str, Callable[[Router, subprocess.Popen[str]], None]], ...] = (
    ("none", lambda _router, _gateway: None),
    ("`kill -9`", lambda _router, gateway: gateway.kill()),
    ("SIGTERM", lambda _router, gateway: gateway.terminate()),
    ("SIGHUP: the configuration again", lambda _router, gateway: gateway.send_signal(1)),
    ("SIGHUP with a wrong configuration", wrong),
    ("stands still for 1 s: queue fills, watchdog", fill),
    ("hangs for good (SIGSTOP): guard", lambda _router, gateway: gateway.send_signal(19)),
    ("all rules deleted by hand", flush),
    ("another process takes over", renew),
    ("device down for 300 ms", away),
)


def measure(name: str, fault: Callable[[Router, subprocess.Popen[str]], None]) -> Row:
    """A fault on a router of its own."""
    with Router() as router:
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
        until = time.monotonic() + 5
        while "airtcp" in rules(router) and time.monotonic() < until:
            time.sleep(0.1)
        return Row(
            fault=name,
            outage_ms=1e3 * max(one.longest for one in uploads),
            retransmitted=counter(router, "TcpRetransSegs"),
            whole=all(one.sent == one.came and not one.error for one in uploads),
            mbps=sum(one.bytes for one in uploads) * 8e-6 / SECONDS,
            left="airtcp" in rules(router),
        )


def table(run: dict[str, Any]) -> str:
    """The page's table."""
    lines = [
        f"Kernel {run['kernel']}, {CONNECTIONS} connections of {SECONDS:g} s.",
        "",
        "| fault | longest pause, ms | segments retransmitted | bytes hash equal | rules left "
        "| Mbit/s |",
        "|---|---:|---:|---|---|---:|",
    ]
    lines += [
        f"| {row['fault']} | {row['outage_ms']:.0f} | {row['retransmitted']} "
        f"| {'yes' if row['whole'] else 'NO'} | {'YES' if row['left'] else 'none'} "
        f"| {row['mbps']:.0f} |"
        for row in run["rows"]
    ]
    return "\n".join(lines)


def main() -> None:
    """Measures, prints, and writes if asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write docs/real.md's table")
    arguments = parser.parse_args()
    rows = []
    try:
        for name, fault in FAULTS:
            rows.append(asdict(measure(name, fault)))
            print(rows[-1], file=sys.stderr, flush=True)
    except AbsentError as error:
        raise SystemExit(f"benches/gateway_faults.py: {error}") from error
    run = {"kernel": platform.release(), "rows": rows}
    print(table(run))
    if arguments.write:
        DATA.write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
        PAGE.write_text(
            put(PAGE.read_text("utf-8"), "gateway-faults", table(run)), encoding="utf-8"
        )


if __name__ == "__main__":
    main()
