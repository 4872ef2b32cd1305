"""The programs that run the lossy pipe and the 802.11b upload: airtcp, ns-3, ns-2.

Each is a process that prints one line of JSON with, at least, ``delivered_packets`` and ``wall_s``,
the wall time of its event loop.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import guided
import instructions

ROOT = Path(__file__).resolve().parent.parent
BARE_LOOP = "bare-loop"
NS3_MODULES = [
    *("core", "network", "internet", "point-to-point", "applications", "traffic-control"),
    *("wifi", "mobility", "internet-apps", "lte"),
]


class AbsentError(Exception):
    """A peer that cannot run here; the message has the reason and the remedy."""


@dataclass(frozen=True)
class Case:
    """One setting of the lossy pipe. Rate and queue are per flow."""

    loss: float = 0.0
    delack: int = 1
    flows: int = 1
    seconds: float = 120.0
    seed: int = 1
    rate_per_flow_bps: int = 10_000_000
    queue_per_flow: float = 100.0
    max_window: int | None = None


@dataclass(frozen=True)
class Upload:
    """An upload over 802.11b by this number of stations."""

    stations: int = 1
    seconds: float = 60.0
    seed: int = 1


def printed(command: list[str]) -> dict[str, Any]:
    """The object that a program prints on a separate line: ns-2 prints other lines, too."""
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    if done.returncode != 0:
        raise SystemExit(f"bench: {' '.join(command)}\n{done.stderr or done.stdout}")
    line = next(line for line in done.stdout.splitlines() if line.startswith("{"))
    result: dict[str, Any] = json.loads(line)
    return result


class Airtcp:
    """airtcp, by the binaries of its crates."""

    name = "airtcp"

    def __init__(self) -> None:
        if shutil.which("cargo") is None:
            raise AbsentError("no cargo: install Rust")
        reason = guided.obstacle()
        self.is_guided = reason is None
        """Whether the programs are built with a profile, as the core of a wheel is."""
        if reason is None:
            self._binaries = guided.build()
        else:
            print(f"bench: airtcp is built without a profile: {reason}", file=sys.stderr)
            self._binaries = instructions.build(ROOT, [instructions.PROGRAM, BARE_LOOP])

    def run(self, case: Case, *, count_acknowledgments: bool = False) -> dict[str, Any]:
        """One run of the case: SACK, growth by acknowledgments, as the peers have it."""
        settings = {
            "duration": f"{case.seconds} s",
            "link.rate": f"{case.rate_per_flow_bps * case.flows} bit/s",
            "link.queue.packets": max(1, round(case.queue_per_flow * case.flows)),
            "link.loss.rate": case.loss,
            "flows.count": case.flows,
            "flows.start_spread": "50 ms",
            "tcp.profile": "sack",
            "tcp.window_growth": "acknowledgments",
            "tcp.min_rto": "200 ms",
            "tcp.delayed_ack.segments": case.delack,
            "tcp.max_window": case.max_window or "unlimited",
        }
        command = [str(self._binaries / "lossy-pipe"), f"--seed={case.seed}"]
        if count_acknowledgments:
            command.append("--acknowledgments")
        return printed([*command, *(f"--set={key}={value}" for key, value in settings.items())])

    def upload(self, case: Upload) -> dict[str, Any]:
        """One upload: SACK, an ACK for every second segment, as the peers have it."""
        settings = {
            "duration": f"{case.seconds} s",
            "wlan.retry_limit": 7,
            "wlan.queue.packets": 100,
            "wlan.loss.lost": 0,
            "flows.count": case.stations,
            "flows.start_spread": "50 ms",
            "tcp.profile": "sack",
            "tcp.max_window": "unlimited",
            "tcp.window_growth": "acknowledgments",
            "tcp.delayed_ack.timeout": "100 ms",
        }
        command = [str(self._binaries / "lossy-pipe"), f"--seed={case.seed}"]
        command.append("--scenario=scenarios/wlan-upload.toml")
        return printed([*command, *(f"--set={key}={value}" for key, value in settings.items())])

    def run_bare(self, case: Case, like: dict[str, Any]) -> dict[str, Any]:
        """The bare loop, with the queue operations and draws of airtcp's run ``like``."""
        a_second = like["segments_sent"] / like["simulated_s"]
        # Little's law: in flight for a round trip; without losses the queue is half full too.
        in_flight = a_second * 0.050 + (
            case.queue_per_flow * case.flows / 2 if not case.loss else 0
        )
        # Events other than arrivals of data or acknowledgments are timers.
        timers = like["events"] - like["delivered_packets"] - like["acknowledgments"]
        timer_s = like["simulated_s"] * case.flows / max(1, timers)
        command = [
            str(self._binaries / BARE_LOOP),
            f"--timer-us={round(1e6 * timer_s)}",
            f"--packets={like['segments_sent']}",
            f"--in-flight={max(case.flows, round(in_flight))}",
            f"--acknowledgments={like['acknowledgments']}",
            f"--flows={case.flows}",
            f"--rate-per-flow={case.rate_per_flow_bps}",
        ]
        return printed([*command, "--draws"] if case.loss else command)


def ns3_flags() -> list[str]:
    """Compiler flags for a program of ns-3.

    Raises:
        AbsentError: a compiler or ns-3 is missing.
    """
    packages = [f"ns3-{module}" for module in NS3_MODULES]
    if shutil.which("pkg-config") is None or shutil.which("g++") is None:
        raise AbsentError("no g++ or pkg-config: apt install g++ pkg-config libns3-dev")
    found = subprocess.run(
        ["pkg-config", "--cflags", "--libs", *packages], capture_output=True, text=True
    )
    if found.returncode != 0:
        raise AbsentError("no ns-3: apt install libns3-dev")
    # Debian's files name an include folder that is no path, and libraries of the machine it was
    # built on.
    return [f for f in found.stdout.split() if f.startswith(("-I/usr/include", "-l", "-D"))]


def ns3_program(name: str) -> Path:
    """A program of `benches/ns3/`, built.

    Raises:
        AbsentError: a compiler or ns-3 is missing, or this ns-3 is another than the program's.
    """
    flags = ns3_flags()
    folder = ROOT / "out" / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    binary = folder / f"ns3-{name.replace('_', '-')}"
    source = ROOT / "benches" / "ns3" / f"{name}.cc"
    built = subprocess.run(
        ["g++", "-std=c++17", "-O2", "-o", str(binary), str(source), *flags],
        capture_output=True,
        text=True,
    )
    if built.returncode != 0:
        raise AbsentError(f"{source.name} does not compile here:\n{built.stderr[-2000:]}")
    return binary


class Ns3:
    """ns-3, by ``ns3/lossy_pipe.cc`` against the installed libraries (Debian: libns3-dev)."""

    name = "ns-3"

    def __init__(self) -> None:
        self._binary = ns3_program("lossy_pipe")
        self._upload = ns3_program("wlan_upload")
        version = printed_text(["pkg-config", "--modversion", "ns3-core"])
        self.name = f"ns-3.{version.split('.')[1]}"

    def upload(self, case: Upload) -> dict[str, Any]:
        """One upload."""
        return printed(
            [
                str(self._upload),
                f"--stations={case.stations}",
                f"--seconds={case.seconds}",
                f"--seed={case.seed}",
            ]
        )

    def run(self, case: Case) -> dict[str, Any]:
        """One run of the case."""
        return printed(
            [
                str(self._binary),
                f"--loss={case.loss}",
                f"--delack={case.delack}",
                f"--flows={case.flows}",
                f"--seconds={case.seconds}",
                f"--seed={case.seed}",
            ]
        )


class Ns2:
    """ns-2, by ``ns2/lossy_pipe.tcl`` (Debian: ns2)."""

    name = "ns-2.35"

    def __init__(self) -> None:
        if shutil.which("ns") is None:
            raise AbsentError("no ns-2: apt install ns2")

    def run(self, case: Case) -> dict[str, Any]:
        """One run of the case."""
        settings = {
            "loss": case.loss,
            "delack": case.delack,
            "flows": case.flows,
            "seconds": case.seconds,
            "seed": case.seed,
        }
        return self._printed("lossy_pipe.tcl", settings)

    def upload(self, case: Upload) -> dict[str, Any]:
        """One upload; the access point is the receiver, without wired hosts."""
        settings = {"stations": case.stations, "seconds": case.seconds, "seed": case.seed}
        return self._printed("wlan_upload.tcl", settings)

    def _printed(self, name: str, settings: dict[str, float]) -> dict[str, Any]:
        script = str(ROOT / "benches" / "ns2" / name)
        return printed(["ns", script, *(str(word) for pair in settings.items() for word in pair)])


def write_ns3_runs(source: Path, settings: Iterable[Mapping[str, Any]], results: Path) -> None:
    """Runs a program of ns-3 in each of its settings, and writes a line of JSON for each run.

    A line names the program by the hash of its source and headers, which begin with its name.
    """
    program = ns3_program(source.stem)
    headers = sorted(source.parent.glob(f"{source.stem}_*.h"))
    parts = b"".join(path.read_bytes() for path in [source, *headers])
    digest = hashlib.sha256(parts).hexdigest()[:16]

    def line(one: Mapping[str, Any]) -> str:
        flags = [f"--{key}={value}" for key, value in one.items()]
        text = json.dumps({**printed([str(program), *flags]), "program": digest})
        print(text, file=sys.stderr)
        return text

    with ThreadPoolExecutor(int(os.environ.get("AIRTCP_THREADS", os.cpu_count() or 1))) as pool:
        results.write_text("".join(f"{text}\n" for text in pool.map(line, settings)))


def printed_text(command: list[str]) -> str:
    """A program's output, stripped."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
