#!/usr/bin/env python3
"""Processor time of `airtcp diagnose` over every form of log that it reads, and over captures.

    tests/captures/answer_times.py          # prints a line for each file
    tests/captures/answer_times.py --check  # fails where one takes longer than it may

The files are the seeds of the forms (fuzz/seeds/recording), the recordings of the page of cases, a
ping log of a day, and a capture of a minute. Imports count: what a user waits for is a process.
"""

import argparse
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from symptoms import symptoms

import airtcp
from ping_kinds import PingedLink, regular

ROOT = Path(__file__).resolve().parents[2]
SEEDS = ROOT / "fuzz" / "seeds" / "recording"
MAX_ANSWER_S = 25.0
"""Twenty seconds of trials, and what comes before and after them."""
MAX_REFUSAL_S = 1.0
DAY_S = 86_400


@dataclass(frozen=True)
class Timed:
    """A file and its answer."""

    kind: str
    name: str
    cpu_s: float
    is_refusal: bool

    @property
    def is_late(self) -> bool:
        """Whether it took longer than it may."""
        return self.cpu_s > (MAX_REFUSAL_S if self.is_refusal else MAX_ANSWER_S)


def main() -> None:
    """Times every file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="fail where one is late")
    parser.add_argument("--only", default="", metavar="WORD", help="files whose name holds a word")
    options = parser.parse_args()
    found = []
    with TemporaryDirectory() as folder:
        for kind, path in _files(Path(folder)):
            if options.only not in path.name:
                continue
            found.append(_timed(kind, path))
            print(f"{found[-1].cpu_s:6.2f} s  {kind}: {path.name}", flush=True)
    late = [one for one in found if one.is_late]
    if options.check and late:
        sys.exit("too slow: " + ", ".join(f"{one.name} ({one.cpu_s:.1f} s)" for one in late))


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Every file with its kind; those that are made are made when they are asked for."""
    for path in sorted(SEEDS.iterdir()):
        yield "forms of logs", path
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


def _round_trip(_: float, draw: random.Random) -> float:
    return 0.012 + 0.004 * draw.random()


def _timed(kind: str, path: Path) -> Timed:
    """The processor time of a diagnosis in a process, with its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    command = [sys.executable, "-m", "airtcp", "diagnose", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode not in (0, 1, 2):
        sys.exit(f"{path}: {done.stderr} after {time.monotonic() - began:.1f} s")
    return Timed(kind, path.name, cpu_s, is_refusal=done.returncode != 0)


if __name__ == "__main__":
    main()
