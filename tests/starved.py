"""Runs the tests on real packets on a machine that stops: no test may fail by the clock.

    python tests/starved.py                    # the Rust tests, three times
    python tests/starved.py proxy emulate      # these programs
    python tests/starved.py --python           # and the Python tests that need a program

A control group withholds the processors from the tests for most of each second, as a hypervisor
does on a crowded machine, while the kernel goes on: packets arrive, timers expire, and the test and
all programs that it started stand still. Needs root, and the kernel's bandwidth control of groups
(CONFIG_CFS_BANDWIDTH).
"""

import argparse
import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hidden import ROOT, Machine, RustTests, built

PERIOD_US = 1_000_000
RUNS_US = 300_000
"""The processor time that all tests have in a period, together: a test that uses one core alone
pauses for 0.7 s of each second."""
PATIENCE_S = 3600
PYTEST = ("-q", "-m", "needs and not long", "tests/python")
WORDS = {True: "passed", False: "FAILED"}


def hierarchy() -> tuple[Path, dict[str, str]]:
    """Where groups are made, and what limits one: of cgroup v2, or v1's controller.

    Raises:
        SystemExit: the machine has neither.
    """
    unified, older = Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/cpu")
    controllers = unified / "cgroup.controllers"
    if controllers.exists() and "cpu" in controllers.read_text("utf-8").split():
        (unified / "cgroup.subtree_control").write_text("+cpu", "utf-8")
        return unified, {"cpu.max": f"{RUNS_US} {PERIOD_US}"}
    if (older / "cpu.cfs_quota_us").exists():
        return older, {"cpu.cfs_period_us": str(PERIOD_US), "cpu.cfs_quota_us": str(RUNS_US)}
    sys.exit("starved: no control group limits processor time here (CONFIG_CFS_BANDWIDTH)")


@contextmanager
def starving() -> Iterator[Path]:
    """A group whose processes are stopped for most of each second; it ends with them.

    Raises:
        SystemExit: not root, or no such groups.
    """
    if os.geteuid() != 0:
        sys.exit("starved: control groups need root")
    root, limits = hierarchy()
    group = root / f"airtcp-starved-{os.getpid()}"
    group.mkdir()
    try:
        for file, limit in limits.items():
            (group / file).write_text(limit, "utf-8")
        yield group
    finally:
        end_all(group)
        group.rmdir()


def end_all(group: Path) -> None:
    """Kills the processes of a group: a program that was ended too late leaves its own."""
    while left := (group / "cgroup.procs").read_text("utf-8").split():
        for process in left:
            with suppress(ProcessLookupError):
                os.kill(int(process), signal.SIGKILL)
        time.sleep(0.1)


def passes(group: Path, command: Iterable[str | Path], folder: Path) -> bool:
    """Whether a command succeeds within the group; its output is printed where it fails."""
    enters = ("sh", "-c", 'echo $$ >"$0" && exec "$@"', str(group / "cgroup.procs"))
    passed, said = Machine(enters, os.environ).run(command, folder, PATIENCE_S)
    if not passed:
        print(said, flush=True)
    return passed


def wanted(names: Iterable[str]) -> list[RustTests]:
    """The programs of the Rust tests on real packets that start with one of the names, or all.

    Raises:
        SystemExit: a name fits no program.
    """
    every, chosen = built(os.environ), []
    for name in names:
        fits = [one for one in every if one.program.name.startswith(f"{name}-")]
        if not fits:
            known = sorted({one.program.name.rpartition("-")[0] for one in every})
            sys.exit(f"starved: no tests are named {name}: take {', '.join(known)}")
        chosen += fits
    return chosen or every


def main() -> None:
    """Reads the command line; fails if a test did."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="programs of tests (all)")
    parser.add_argument("--times", type=int, default=3, help="how often each runs (3)")
    parser.add_argument("--python", action="store_true", help="the Python tests with needs, too")
    arguments = parser.parse_args()
    programs = wanted(arguments.names)
    passed = True
    with starving() as group:
        for number in range(1, arguments.times + 1):
            for tests in programs:
                one = passes(group, [tests.program], tests.folder)
                print(
                    f"{number}: {tests.program.name}: {'passed' if one else 'FAILED'}", flush=True
                )
                passed &= one
        if arguments.python:
            one = passes(group, [ROOT / ".venv/bin/pytest", *PYTEST], ROOT)
            print(f"pytest: {WORDS[one]}", flush=True)
            passed &= one
    sys.exit(not passed)


if __name__ == "__main__":
    main()
