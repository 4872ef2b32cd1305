"""A router between a mobile and a wired host, in network namespaces, with a gateway on it.

    mobile (10.77.1.2) m0 ── r0 router r1 ── w0 wired host (10.77.2.2)

Inline, both hosts are in one network, and the gateway carries packets between r0 and r1. Named
namespaces are removed at the end, also after an error. It needs root.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from airtcp.core.net import find_program

WIRED = "10.77.2.2"
#: An address without a host, beyond the router's device towards the mobile.
NOBODY = "10.77.1.99"


class AbsentError(Exception):
    """A requirement is missing; the message names it."""


class Router:
    """Namespaces of a mobile, a router and a wired host."""

    def __init__(self, *, inline: bool = False) -> None:
        if os.geteuid() != 0:
            raise AbsentError("a router of namespaces needs root")
        self.inline = inline
        number = os.getpid()
        self.mobile, self.router, self.wired = (f"airtcp-{number}-{end}" for end in "mrw")
        self.folder = tempfile.TemporaryDirectory(prefix="airtcp-router-")
        self.gateways: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Self:
        for name in (self.mobile, self.router, self.wired):
            run(f"ip netns add {name}; ip -n {name} link set lo up")
        for host, device, far, net in (
            (self.mobile, "m0", "r0", 1),
            (self.wired, "w0", "r1", 2),
        ):
            run(
                f"ip -n {host} link add {device} type veth peer name {far} netns {self.router};"
                f"ip -n {host} addr add 10.77.{net}.2/{16 if self.inline else 24} dev {device};"
                f"ip -n {host} link set {device} up;"
                f"ip -n {self.router} link set {far} up"
            )
            if not self.inline:
                run(
                    f"ip -n {self.router} addr add 10.77.{net}.1/24 dev {far};"
                    f"ip -n {host} route add default via 10.77.{net}.1"
                )
        if not self.inline:
            self.inside(self.router, "echo 1 > /proc/sys/net/ipv4/ip_forward")
            # Packets to it leave the router, and no host answers.
            run(f"ip -n {self.router} neigh add {NOBODY} lladdr 02:00:00:00:00:63 dev r0")
        for host in (self.mobile, self.wired):
            self.inside(host, "echo 1 > /proc/sys/net/ipv4/tcp_no_metrics_save")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for gateway in self.gateways:
            if gateway.poll() is None:
                gateway.kill()
                gateway.wait()
        for name in (self.mobile, self.router, self.wired):
            subprocess.run(["ip", "netns", "del", name], check=False)
        self.folder.cleanup()

    def cut_at_the_host(self) -> None:
        """Has hosts cut and sum segments themselves: a packet on the wire is one for the router."""
        for namespace, device in (
            (self.mobile, "m0"),
            (self.router, "r0"),
            (self.router, "r1"),
            (self.wired, "w0"),
        ):
            self.inside(namespace, f"ethtool -K {device} tso off gso off gro off tx off")

    def inside(self, namespace: str, command: str) -> str:
        """Output of a shell command in a namespace."""
        return run(f"ip netns exec {namespace} sh -ec '{command}'")

    def start(self, namespace: str, *command: str, **more: Any) -> subprocess.Popen[str]:
        """Starts a program in a namespace."""
        words = ["ip", "netns", "exec", namespace, *command]
        return subprocess.Popen(words, text=True, **more)

    def gateway(self, *words: str, configuration: str = "") -> subprocess.Popen[str]:
        """Starts a gateway, and waits until it runs."""
        folder = Path(self.folder.name)
        file = folder / "gateway.toml"
        file.write_text(configuration, encoding="utf-8")
        command = [find_program(), "gateway", "--mobile", "r0", "--wired", "r1"]
        command += ["--state", str(folder), "--report", str(folder / "report.json")]
        command += ["--inline"] if self.inline else []
        log = (folder / f"log-{len(self.gateways)}").open("w+", encoding="utf-8")
        gateway = self.start(self.router, *command, "--config", str(file), *words, stderr=log)
        self.gateways.append(gateway)

        def runs() -> bool:
            if gateway.poll() is not None:
                raise AbsentError(f"the gateway has ended: {Path(log.name).read_text('utf-8')}")
            return "the gateway runs" in Path(log.name).read_text("utf-8")

        wait_for(runs)
        return gateway

    def end(self, gateway: subprocess.Popen[str]) -> dict[str, Any]:
        """Ends a gateway; returns its report."""
        gateway.send_signal(signal.SIGTERM)
        gateway.wait()
        text = (Path(self.folder.name) / "report.json").read_text("utf-8")
        report: dict[str, Any] = json.loads(text)
        return report

    def lost(self) -> int:
        """TCP segments that left one host and did not reach the other, since the start."""
        hosts = [self.segments(host) for host in (self.mobile, self.wired)]
        return sum(out - come for (out, _), (_, come) in zip(hosts, reversed(hosts), strict=True))

    def segments(self, namespace: str) -> tuple[int, int]:
        """TCP segments that a host has sent, also again, and received."""
        lines = self.inside(namespace, "cat /proc/net/snmp").splitlines()
        names, values = (line.split()[1:] for line in lines if line.startswith("Tcp:"))
        counts = dict(zip(names, map(int, values), strict=True))
        # OutSegs leaves out retransmissions (tcp_transmit_skb).
        return counts["OutSegs"] + counts["RetransSegs"], counts["InSegs"]

    def packets(self, device: str) -> int:
        """Packets that came and went by a device of the router."""
        folder = f"/sys/class/net/{device}/statistics"
        counts = self.inside(self.router, f"cat {folder}/rx_packets {folder}/tx_packets")
        return sum(int(count) for count in counts.split())


def run(command: str) -> str:
    """Output of a shell command."""
    done = subprocess.run(["sh", "-ec", command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise AbsentError(f"{command}: {done.stderr.strip()}")
    return done.stdout


def wait_for(condition: Callable[[], bool], seconds: float = 30) -> None:
    """Waits for something that is to happen."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise AbsentError(f"{condition} did not come true in {seconds} s")
        time.sleep(0.01)
