#!/usr/bin/env python3
"""Instructions a packet, and a slot of a cell, by callgrind: the same however busy the machine is.

    benches/instructions.py            the table
    benches/instructions.py --check    fails where the pipe or a cell takes 2 % more than recorded
    benches/instructions.py --record   writes the counts to benches/instructions.json
    benches/instructions.py --guided   the table, also of a build with a profile, as wheels are

Callgrind counts only inside ``lossy_pipe::event_loop`` (``--toggle-collect``), neither start-up nor
the scenario's reading. One run is enough, where the difference of two durations would take two and
leave out slow start. The binary is the one that ``make bench`` times, built with the release
profile of Cargo.toml whatever ``CARGO_PROFILE_RELEASE_*`` says. A cell's run is counted for each
slot and for each segment: a slot that carries more data costs more, and a slot that carries less
data makes segments dearer, so that a cell takes more only where both counts grew.

A count is specific to a compiler and an instruction set, and is recorded with both. With another
compiler, the commit that recorded the counts is built with today's compiler and counted too, so
that the compiler's share cancels. If that commit is not in the repository (a shallow clone), or the
instruction set differs, nothing is compared, with a message.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import parts

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "benches" / "instructions.json"
PROGRAM = "lossy-pipe"
FUNCTION = "lossy_pipe::event_loop*"
TOLERANCE = 0.02
# The aims of the table: for the pipe without loss, and for the Linux profiles over SACK.
AIM, AIM_OVER_SACK = 1800.0, 1.5
AIMED_AT = "lossy pipe, sack, 0% loss, delack 1"
PIPE = "scenarios/lossy-pipe.toml"
UPLOADS = {"flows.direction": "up", "tcp.profile": "sack", "tcp.max_window": 1000}


class AbsentError(Exception):
    """Counting is impossible here; the message has the reason and the remedy."""


@dataclass(frozen=True)
class Count:
    """A run with counted instructions."""

    name: str
    scenario: str
    settings: Mapping[str, object]
    reference_name: str | None = None
    """The baseline run for the comparison of cost."""
    slots: int | None = None
    """The slots of a cell's run, which are counted beside packets."""

    @property
    def is_held(self) -> bool:
        """Whether CI holds the count: the lossy pipe's, and the cells'."""
        return self.scenario == PIPE or self.slots is not None

    @property
    def names(self) -> list[str]:
        """The names of this run's counts."""
        if self.slots is None:
            return [self.name]
        return [self.name + A_SEGMENT, self.name + A_SLOT]


def _pipe(profile: str, loss: float, delack: int | None = None) -> Count:
    """A run over the lossy pipe; without ``delack`` the profile's delay applies."""
    of_run = {"duration": "20 s", "tcp.profile": profile, "link.loss.rate": loss}
    if delack is not None:
        name = f"lossy pipe, {profile}, {loss:.0%} loss, delack {delack}"
        return Count(name, PIPE, {**of_run, "tcp.delayed_ack.segments": delack})
    reference_name = f"lossy pipe, sack, {loss:.0%} loss"
    name = f"lossy pipe, {profile}, {loss:.0%} loss"
    return Count(name, PIPE, of_run, reference_name if name != reference_name else None)


A_SEGMENT, A_SLOT = ", a segment", ", a slot"
STEADY = {
    "cell.saturated_users": 2,
    "cell.sessions.on": "24 h",
    "cell.radio.shadowing_db": 0,
}
"""Neighbours who stay, and signals that do not change with the way, in the cells of today."""
COUNTS = [
    _pipe("sack", 0, delack=1),
    _pipe("sack", 0.01, delack=1),
    *(_pipe(profile, loss) for profile in ("sack", "linux", "linux-bbr") for loss in (0, 0.01)),
    Count(
        "802.11b upload, one station, sack",
        "scenarios/wlan-upload.toml",
        {
            "duration": "20 s",
            "tcp.profile": "sack",
            "tcp.max_window": 20,
            "wlan.loss.lost": 0,
        },
    ),
    Count(
        "802.11b, ten clients, sack",
        "scenarios/wlan-clients.toml",
        {"duration": "5 s", "tcp.profile": "sack"},
    ),
    Count(
        "802.11n upload, one station, sack",
        "scenarios/laptop-upload.toml",
        {"duration": "5 s", "wlan.loss.rate": 0, **UPLOADS},
    ),
    Count(
        "802.11ac, twenty stations, sack",
        "scenarios/crowded-cell.toml",
        {"duration": "2 s", "tcp.profile": "sack"},
    ),
    Count(
        "802.11ax upload, one station, sack",
        "scenarios/laptop-download.toml",
        {"duration": "1 s", **UPLOADS},
    ),
    Count("cell, sack", "scenarios/cell.toml", {"duration": "20 s", "tcp.profile": "sack"}),
    Count("LTE, three users", "scenarios/lte.toml", {"duration": "2 s", **STEADY}, slots=2000),
    Count("NR, three users", "scenarios/nr.toml", {"duration": "1 s", **STEADY}, slots=2000),
]


def own_environment() -> dict[str, str]:
    """The environment without variables that would change the release profile."""
    return {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("CARGO_PROFILE_RELEASE_")
    }


def build(root: Path, programs: Sequence[str] = (PROGRAM,)) -> Path:
    """Builds these programs of the checkout at ``root``; returns their folder."""
    if shutil.which("cargo") is None:
        raise AbsentError("no cargo: install Rust")
    environment = own_environment()
    if root != ROOT:
        # Dependencies shared with today's sources are compiled again, once.
        environment["CARGO_TARGET_DIR"] = str(ROOT / "target" / "recorded")
    subprocess.run(
        [
            *("cargo", "build", "--quiet", "--release"),
            *("--package", "airtcp-throughput"),
            *(f"--bin={program}" for program in programs),
        ],
        check=True,
        cwd=root,
        env=environment,
    )
    metadata = subprocess.run(
        ["cargo", "metadata", "--no-deps", "--format-version", "1"],
        check=True,
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
    )
    return Path(json.loads(metadata.stdout)["target_directory"]) / "release"


@dataclass(frozen=True)
class Spent:
    """The instructions of a run."""

    by_part: Mapping[str, int]
    """In the event loop, by part of the house, the largest first."""
    segments: int
    """Sent, retransmissions included."""

    def a_segment(self) -> dict[str, float]:
        """Instructions for each segment, by part."""
        return {part: each / self.segments for part, each in self.by_part.items()}


def count(binaries: Path, run: Count) -> dict[str, float]:
    """Instructions of the event loop for each segment sent, and each slot of a cell, by name."""
    spent = spend(binaries, run)
    total = sum(spent.by_part.values())
    units = [spent.segments] if run.slots is None else [spent.segments, run.slots]
    return {name: round(total / each, 1) for name, each in zip(run.names, units, strict=True)}


def spend(binaries: Path, run: Count, profile: Path | None = None) -> Spent:
    """Runs one scenario under callgrind; ``profile`` keeps callgrind's file."""
    with tempfile.TemporaryDirectory() as folder:
        out = profile or Path(folder) / "callgrind.out"
        settings = (f"--set={key}={value}" for key, value in run.settings.items())
        command = [
            *("valgrind", "--tool=callgrind", "--quiet", f"--toggle-collect={FUNCTION}"),
            *(f"--callgrind-out-file={out}", str(binaries / PROGRAM)),
            *(f"--scenario={run.scenario}", *settings),
        ]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
        if done.returncode != 0:
            raise SystemExit(f"instructions: {' '.join(command)}\n{done.stderr or done.stdout}")
        result: dict[str, Any] = json.loads(
            next(line for line in done.stdout.splitlines() if line.startswith("{"))
        )
        counted = parts.spent(out)
        if counted.total() == 0:
            raise SystemExit(f"instructions: nothing was counted: is {FUNCTION} still its name?")
        return Spent(dict(counted.most_common()), result["segments_sent"])


def count_all(binaries: Path, runs: list[Count]) -> dict[str, float]:
    """Instructions a packet of each run, and a slot of cells, by name."""
    if shutil.which("valgrind") is None:
        raise AbsentError("no valgrind: apt install valgrind")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counted = pool.map(lambda run: count(binaries, run), runs)
        return {name: each for run in counted for name, each in run.items()}


def compiler() -> str:
    """The name and version of ``rustc``."""
    words = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True)
    return words.stdout.strip()


def count_guided(runs: list[Count]) -> dict[str, float]:
    """The same counts in a program built with a profile, as the core of a wheel is."""
    import guided

    try:
        return count_all(guided.build(), runs)
    except guided.AbsentError as reason:
        raise AbsentError(str(reason)) from None


def with_guided(
    rows: list[list[str]], plain: Mapping[str, float], guided: Mapping[str, float]
) -> list[list[str]]:
    """Rows of `table` with the guided count and its difference after the plain count."""
    return [
        [name, each, f"{guided[name]:,.0f}", f"{guided[name] / plain[name] - 1:+.0%}", *others]
        for name, each, *others in rows
    ]


def table(counted: Mapping[str, float]) -> list[list[str]]:
    """Rows of name, instructions a packet, and the ratio to SACK with the same loss."""
    reference_name = {name: run.reference_name for run in COUNTS for name in run.names}
    rows = []
    for name, each in counted.items():
        reference = counted.get(reference_name[name] or "")
        ratio = "-" if reference is None else f"{each / reference:.2f}"
        rows.append([name, f"{each:,.0f}", ratio])
    return rows


def other_count(name: str) -> str:
    """The name of a cell's other count; of a run without one, a name that nothing has."""
    if name.endswith(A_SLOT):
        return name.removesuffix(A_SLOT) + A_SEGMENT
    return name.removesuffix(A_SEGMENT) + A_SLOT


def judge(recorded: Mapping[str, float], counted: Mapping[str, float]) -> tuple[bool, list[str]]:
    """Whether no count grew by more than the tolerance, and a line for each.

    Of a cell's two counts one may grow: what it carried has changed, not its cost.
    """

    def grew(name: str) -> bool:
        return name in recorded and counted[name] > recorded[name] * (1 + TOLERANCE)

    passes, lines = True, []
    for name, each in counted.items():
        before = recorded.get(name)
        if before is None:
            passes = False
            lines.append(f"{name}: {each:,.1f}, not recorded: FAILS, run with --record")
            continue
        change = each / before - 1
        says = "held"
        other = other_count(name)
        if grew(name) and other in counted and not grew(other):
            says = "carries another load: the cell's other count is held"
        elif grew(name):
            passes, says = False, f"FAILS: over {TOLERANCE:.0%} more"
        elif change < -TOLERANCE:
            says = "fewer: run with --record, so that it stays so"
        lines.append(f"{name}: {before:,.1f} recorded, {each:,.1f} now, {change:+.2%}: {says}")
    return passes, lines


def count_recording_commit(runs: list[Count]) -> dict[str, float] | None:
    """The counts of the commit that wrote the record, with today's compiler; None without it."""
    git = ["git", "-C", str(ROOT)]
    found = subprocess.run(
        [*git, "log", "-1", "--format=%H", "--", str(RECORD)], capture_output=True, text=True
    )
    shallow = subprocess.run(
        [*git, "rev-parse", "--is-shallow-repository"], capture_output=True, text=True
    )
    commit = found.stdout.strip()
    if found.returncode != 0 or not commit or shallow.stdout.strip() != "false":
        return None
    with tempfile.TemporaryDirectory() as folder:
        checkout = Path(folder) / "checkout"
        subprocess.run(
            [*git, "worktree", "add", "--quiet", "--detach", str(checkout), commit], check=True
        )
        try:
            return count_all(build(checkout), runs)
        finally:
            subprocess.run([*git, "worktree", "remove", "--force", str(checkout)], check=True)


def check() -> bool:
    """Compares with the record, and prints the outcome."""
    record = json.loads(RECORD.read_text())
    held = [run for run in COUNTS if run.is_held]
    if record["instruction_set"] != platform.machine():
        print(
            f"instructions: NOT COMPARED: recorded on {record['instruction_set']}, "
            f"this is {platform.machine()}"
        )
        return True
    counted = count_all(build(ROOT), held)
    recorded: Mapping[str, float] = record["instructions_a_packet"]
    if record["rustc"] != compiler():
        print(
            f"instructions: recorded with {record['rustc']}, this is {compiler()}: "
            "counting the commit that recorded them with this compiler"
        )
        recounted = count_recording_commit(held)
        if recounted is None:
            print("instructions: NOT COMPARED: that commit is not here (a shallow clone?)")
            return True
        recorded = recounted
    passes, lines = judge(recorded, counted)
    print("\n".join(f"instructions: {line}" for line in lines))
    return passes


def record() -> None:
    """Writes the counts, with the compiler and the instruction set."""
    written = {
        "rustc": compiler(),
        "instruction_set": platform.machine(),
        "instructions_a_packet": count_all(build(ROOT), COUNTS),
    }
    RECORD.write_text(json.dumps(written, indent=2) + "\n")


def main() -> None:
    """Counts, and prints, checks or records."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="compare with the record")
    parser.add_argument("--record", action="store_true", help="write the record")
    parser.add_argument("--guided", action="store_true", help="also of a build with a profile")
    parser.add_argument("--only", metavar="PART", help="runs whose name contains this")
    parser.add_argument(
        "--profile",
        type=Path,
        help="keep callgrind's file of the first run here, and print its parts",
    )
    arguments = parser.parse_args()
    try:
        if arguments.check:
            sys.exit(0 if check() else 1)
        if arguments.record:
            record()
            return
        runs = [run for run in COUNTS if (arguments.only or "") in run.name]
        if arguments.profile is not None:
            print(runs[0].name)
            spent = spend(build(ROOT), runs[0], arguments.profile)
            for part, each in spent.a_segment().items():
                print(f"{each:8,.1f}  {part}")
            return
        counted = count_all(build(ROOT), runs)
        rows = table(counted)
        if arguments.guided:
            rows = with_guided(rows, counted, count_guided(runs))
        for row in rows:
            print("  ".join(row))
    except AbsentError as reason:
        print(f"instructions: SKIPPED: {reason}", file=sys.stderr)


if __name__ == "__main__":
    main()
