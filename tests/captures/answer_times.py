#!/usr/bin/env python3
"""Processor time of `airtcp diagnose` over every form of log that it reads, and over captures.

    tests/captures/answer_times.py          # prints a line for each file
    tests/captures/answer_times.py --check  # fails where one takes longer than it may
    tests/captures/answer_times.py --write  # and the table in docs/measurements/performance.md

The files are the seeds of the forms (fuzz/seeds/recording), the recordings of the page of cases, a
ping log of a day, and a capture of a minute. Imports count: what a user waits for is a process.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory, TemporaryFile

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from symptoms import symptoms

import airtcp
from airtcp.pages.marked import put
from ping_kinds import PingedLink, regular

ROOT = Path(__file__).resolve().parents[2]
SEEDS = ROOT / "fuzz" / "seeds" / "recording"
FIGURES = ROOT / "docs" / "measurements" / "answer-times.json"
PAGE = ROOT / "docs" / "measurements" / "performance.md"
MAX_ANSWER_S = 20.0
MAX_CAPTURE_S = 60.0
"""Of a capture: what `--max-cpu` allows its trials by default."""
MAX_REFUSAL_S = 1.0
DAY_S = 86_400


@dataclass(frozen=True)
class Timed:
    """A file and its answer."""

    kind: str
    name: str
    cpu_s: float
    first_s: float
    """Processor time until the first line is printed."""
    is_refusal: bool

    @property
    def most_s(self) -> float:
        """The processor time that it may take."""
        if self.is_refusal:
            return MAX_REFUSAL_S
        return MAX_CAPTURE_S if "capture" in self.kind else MAX_ANSWER_S

    @property
    def is_late(self) -> bool:
        """Whether it took longer than it may."""
        return self.cpu_s > self.most_s


def main() -> None:
    """Times every file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="fail where one is late")
    parser.add_argument("--write", action="store_true", help="write the table and its figures")
    parser.add_argument("--only", default="", metavar="WORD", help="files whose name holds a word")
    options = parser.parse_args()
    found = []
    with TemporaryDirectory() as folder:
        for kind, path in _files(Path(folder)):
            if options.only not in path.name:
                continue
            found.append(_timed(kind, path))
            print(f"{found[-1].cpu_s:6.2f} s  {kind}: {path.name}", flush=True)
    if options.write:
        FIGURES.write_text(json.dumps([asdict(one) for one in found], indent=1) + "\n")
        PAGE.write_text(put(PAGE.read_text(), "answer-times", table(found)))
    late = [one for one in found if one.is_late]
    if options.check and late:
        sys.exit("too slow: " + ", ".join(f"{one.name} ({one.cpu_s:.1f} s)" for one in late))


def table(found: Sequence[Timed]) -> str:
    """A row for each kind of file: how many, the median, the slowest, and whether one is late."""
    lines = [
        "| files | number | first line, median | slowest | answer, median | slowest | bound |",
        "|---|---:|---:|---:|---:|---|---|",
    ]
    for kind in dict.fromkeys(one.kind for one in found):
        of_kind = [one for one in found if one.kind == kind]
        slowest = max(of_kind, key=lambda one: one.cpu_s)
        late = sum(one.is_late for one in of_kind)
        held = f"{late} over it" if late else "held"
        lines.append(
            f"| {kind} | {len(of_kind)} | {median(one.first_s for one in of_kind):.1f} s "
            f"| {max(one.first_s for one in of_kind):.1f} s "
            f"| {median(one.cpu_s for one in of_kind):.1f} s "
            f"| {slowest.cpu_s:.1f} s ({slowest.name}) | {slowest.most_s:.0f} s: {held} |"
        )
    return "\n".join(lines)


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Every file with its kind; those that are made are made when they are asked for."""
    for path in sorted(SEEDS.iterdir()):
        yield ("logs of every form" if _is_answered(path) else "logs of every form, refused"), path
    for symptom in symptoms():
        if symptom.sockets:
            continue
        inside = folder / symptom.name
        inside.mkdir()
        path = symptom.write(inside)
        named = path.rename(path.with_stem(symptom.name))
        yield "pings of the page of cases" if symptom.is_ping else "captures of the page", named
    link = PingedLink(_round_trip, tuple(regular(34, 4.3, DAY_S)))
    yield "a ping of a day", link.write(folder / "day.ping", DAY_S, 1.0)
    settings = {"link.rate": "20 Mbit/s", "link.loss.rate": 0.002, "tcp.profile": "linux"}
    path = folder / "minute.pcapng"
    airtcp.run('name = "minute"\nduration = "60 s"\n', 1, settings=settings, pcap=path)
    yield "a capture of a minute", path


def _is_answered(path: Path) -> bool:
    """Whether the file is read, rather than refused with the command for it."""
    from airtcp.core.recordings.recording import is_recording

    return is_recording(path)


def _round_trip(_: float, draw: random.Random) -> float:
    return 0.012 + 0.004 * draw.random()


def _timed(kind: str, path: Path) -> Timed:
    """The processor time of a diagnosis in a process, with its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    command = [sys.executable, "-m", "airtcp", "diagnose", str(path)]
    with TemporaryFile("w+") as errors:
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors) as process:
            assert process.stdout is not None
            # A table of flows may come first: the facts are its end, and come at once after it.
            process.stdout.read(1)
            first_s = _cpu_s_of(process.pid)
            process.stdout.read()
        errors.seek(0)
        told = errors.read()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if process.returncode not in (0, 1, 2):
        sys.exit(f"{path}: {told} after {time.monotonic() - began:.1f} s")
    is_refusal = process.returncode != 0
    return Timed(kind, path.name, cpu_s, cpu_s if is_refusal else first_s, is_refusal)


def _cpu_s_of(pid: int) -> float:
    """The processor time of a process and its threads so far, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    user, system = (int(fields[place]) for place in (11, 12))
    return (user + system) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
