"""The checks that outlast `make test`: two hours on two cores. `make check-long` runs them all.

    python tests/long.py                 # what has not passed today on this commit
    python tests/long.py fuzz mutants    # these, again
    python tests/long.py --times 10      # draw ten times as much
    python tests/long.py --day 300       # draw as on that day of the year
    python tests/long.py --list

Each day draws other captures, logs, scenarios and connections, tries other mutants of the code, and
hides other programs; the day is printed, so that a failure can be had again. A failed check does
not stop later ones.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from hidden import CHECKED, ROOT, TABLE

PASSED = ROOT / "out" / "check-long" / "passed.json"
A_DAY = 1_000_000
"""More than a day draws of anything, ten times over."""
SHARDS = 4000
"""Parts of the mutants of the code, some four in each; a run takes one."""
HIDDEN = 4
"""Programs that a run hides, one after the other."""
FUZZ_SECONDS = 40
BIN = ROOT / ".venv" / "bin"
PYTHON, PYTEST = str(BIN / "python"), str(BIN / "pytest")
CARGO = ("cargo", "test", "--profile", "local")
EACH_FILE = ("--numprocesses", "auto", "--dist", "loadfile")
"""Tests of one file share what is costly to make."""
EACH_TEST = ("--numprocesses", "auto")
MACOS = "aarch64-apple-darwin"
INSTALLED_BY = {
    "cargo-fuzz": "cargo install cargo-fuzz",
    "cargo-mutants": "cargo install cargo-mutants",
    "rustup": "apt install rustup",
}
"""A command for each program that a check needs besides those of `make test`."""
MUTATED = ("packet", "tcp", "link", "network", "capture")


@dataclass(frozen=True)
class Check:
    """One check: its commands, one after the other, and how much it draws."""

    name: str
    about: str
    commands: tuple[tuple[str, ...], ...]
    draws: Mapping[str, int] = field(default_factory=dict)
    """Variables of the environment that say how many of something are drawn."""
    environment: Mapping[str, str] = field(default_factory=dict)
    program: str = ""
    """A program that has to be installed, one of `INSTALLED_BY`."""


def checks(day: int, times: int) -> Iterator[Check]:
    """All of them, the quick and telling ones first."""
    yield Check(
        "recipes",
        "the recipes for contributors compile, without a warning",
        ((PYTHON, "tests/recipes.py", "clippy"),),
    )
    yield Check(
        "long",
        "tests in Python of more than ten seconds each",
        ((PYTEST, *EACH_TEST, "-m", "long"),),
    )
    yield Check(
        "properties",
        "property tests in Rust, with new cases",
        ((*CARGO, "--workspace", "--no-fail-fast", *_features()),),
        {"PROPTEST_CASES": 256},
        CHECKED,
    )
    yield Check(
        "cases",
        "property tests in Python, with new cases",
        ((PYTEST, *EACH_TEST, "-m", "not needs and not long", *_drawing()),),
        {"AIRTCP_EDGES": 400},
        {"AIRTCP_NEW_CASES": "1"},
    )
    yield Check(
        "connections",
        "connections under attack and after storms",
        ((*CARGO, "--package", "airtcp-tcp", "--test", "hostile"),),
        {"AIRTCP_CONNECTIONS": 50_000, "AIRTCP_STORMS": 10_000},
        {"AIRTCP_SEED": str(day * A_DAY), "AIRTCP_STORM": str(day * A_DAY)},
    )
    yield Check(
        "wire",
        "endpoints that exchange gigabytes",
        ((*CARGO, "--package", "airtcp-endpoint", "--test", "wire", "--", "--ignored"),),
    )
    yield Check(
        "cells",
        "802.11 frame by frame beside a second model",
        ((*CARGO, "--package", "airtcp-link", "does_what_the_text_says"),),
        {"AIRTCP_CELLS": 20_000},
    )
    yield Check(
        "scenarios",
        "scenarios that nobody wrote",
        ((PYTEST, *EACH_TEST, "tests/python/test_generated_scenarios.py"),),
        {"AIRTCP_SCENARIOS": 600},
    )
    yield Check(
        "captures",
        "captures damaged packet by packet",
        ((PYTEST, *EACH_TEST, "tests/python/test_capture_mutants.py"),),
        {"AIRTCP_CAPTURE_MUTANTS": 1800},
    )
    yield Check(
        "logs",
        "logs whose numbers and lines are damaged",
        ((PYTEST, *EACH_TEST, "tests/python/test_log_mutants.py"),),
        {"AIRTCP_LOG_MUTANTS": 5000},
    )
    yield Check(
        "files",
        "logs cut, recoded, compressed and mixed",
        ((PYTEST, *EACH_TEST, "tests/python/test_hostile_logs.py"),),
        {"AIRTCP_HOSTILE_LOGS": 5000},
    )
    yield Check(
        "answers",
        "the time to an answer",
        ((PYTHON, "tests/captures/answer_times.py", "--check"),),
    )
    yield Check(
        "macos",
        "the core compiles for macOS; linking it takes Apple's SDK",
        (
            ("rustup", "target", "add", MACOS),
            ("cargo", "check", "--profile", "local", "--target", MACOS, "-p", "airtcp-python"),
        ),
        program="rustup",
    )
    yield Check("fuzz", "the fuzz targets", _fuzzing(times), program="cargo-fuzz")
    shards = max(1, SHARDS // times)
    yield Check(
        "mutants",
        "mutants of the code, each caught by a test",
        (
            (
                *("cargo", "mutants", "--shard", f"{day % shards}/{shards}"),
                *(part for crate in MUTATED for part in ("--package", f"airtcp-{crate}")),
            ),
        ),
        environment=CHECKED,
        program="cargo-mutants",
    )
    yield Check(
        "hidden",
        "some of the machine's programs hidden, one after the other",
        ((PYTHON, "tests/hidden.py", *_hidden(day, times)),),
    )
    yield Check(
        "starved",
        "tests on real packets with a third of one processor",
        ((PYTHON, "tests/starved.py", "--python"),),
    )
    yield Check(
        "bare",
        "make demo and make test with all programs hidden",
        ((PYTHON, "tests/hidden.py", "--bare"),),
    )


def _features() -> list[str]:
    """Of airtcp-net, those that can be built here."""
    told = subprocess.run(
        [ROOT / "packaging" / "features"], check=True, stdout=subprocess.PIPE, text=True
    )
    return told.stdout.split()


def _hidden(day: int, times: int) -> list[str]:
    """The programs and features that a day hides: after some days, each."""
    names = [*TABLE["programs"], *TABLE["features"]]
    first = day * HIDDEN
    return [names[(first + more) % len(names)] for more in range(min(len(names), HIDDEN * times))]


def _drawing() -> list[str]:
    """The files of Python tests that draw cases."""
    files = sorted((ROOT / "tests" / "python").glob("test_*.py"))
    return [str(file) for file in files if "from hypothesis" in file.read_text("utf-8")]


def _fuzzing(times: int) -> tuple[tuple[str, ...], ...]:
    """A command for each target, with its seeds."""
    commands = []
    for target in sorted(file.stem for file in (ROOT / "fuzz" / "fuzz_targets").glob("*.rs")):
        corpus, seeds = (ROOT / "fuzz" / kind / target for kind in ("corpus", "seeds"))
        corpus.mkdir(parents=True, exist_ok=True)
        commands.append(
            (
                *("cargo", "+nightly", "fuzz", "run", target, str(corpus)),
                *([str(seeds)] if seeds.is_dir() else []),
                *("--", f"-max_total_time={FUZZ_SECONDS * times}", "-max_len=2048"),
            )
        )
    return tuple(commands)


def run(check: Check, day: int, times: int) -> bool:
    """Whether all commands of a check succeed; prints the seconds it took."""
    began = time.monotonic()
    environment = os.environ | {"AIRTCP_FIRST": str(day * A_DAY)} | dict(check.environment)
    environment |= {name: str(count * times) for name, count in check.draws.items()}
    if check.program and not shutil.which(check.program):
        remedy = INSTALLED_BY[check.program]
        print(f"{check.name}: FAILED: {check.program} is missing: {remedy}", flush=True)
        return False
    passed = True
    for command in check.commands:
        print("$", *command, flush=True)
        done = subprocess.run(command, cwd=ROOT, env=environment, check=False)
        passed &= done.returncode == 0
    word = "passed" if passed else "FAILED"
    print(f"{check.name}: {word} after {time.monotonic() - began:.0f} s", flush=True)
    return passed


def state(day: int, times: int) -> str:
    """What a check that passed has passed on: the commit with its changes, and the draws."""
    told = [
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
        for command in (["git", "rev-parse", "HEAD"], ["git", "diff", "HEAD"])
    ]
    return hashlib.sha256(json.dumps([*told, day, times]).encode()).hexdigest()


def main() -> int:
    """Runs the requested checks; 1 if one failed."""
    today = datetime.now(UTC).timetuple().tm_yday
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="CHECK", help="of --list; without it, all")
    parser.add_argument("--list", action="store_true", help="the checks, and nothing is run")
    parser.add_argument("--times", type=int, default=1, help="how often as much is drawn")
    parser.add_argument("--day", type=int, default=today, help="of the year, 1 to 366: the draws")
    asked = parser.parse_args()
    if asked.times < 1 or not 1 <= asked.day <= 366:
        parser.error("--times: expected 1 or more; --day: expected 1 to 366")
    known = {check.name: check for check in checks(asked.day, asked.times)}
    if asked.list:
        for check in known.values():
            print(f"{check.name:12} {check.about}")
        return 0
    if unknown := [name for name in asked.names if name not in known]:
        parser.error(f"{unknown[0]}: expected one of {', '.join(known)}")
    ours = state(asked.day, asked.times)
    PASSED.parent.mkdir(parents=True, exist_ok=True)
    stored = json.loads(PASSED.read_text("utf-8")) if PASSED.exists() else {}
    passed = [name for name in known if stored.get(name) == ours and name not in asked.names]
    print(f"day {asked.day}", *(f"{name}: passed before" for name in passed), sep="\n", flush=True)
    failed = []
    for name in asked.names or [name for name in known if name not in passed]:
        if run(known[name], asked.day, asked.times):
            stored[name] = ours
            PASSED.write_text(json.dumps(stored), "utf-8")
        else:
            failed.append(name)
    print(f"check-long: {'FAILED: ' + ', '.join(failed) if failed else 'all passed'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
