#!/usr/bin/env python3
"""Records the corpus: this machine's TCP over emulated links, with the fate of each packet.

    tests/captures/record.py FOLDER                 all that is not yet there
    tests/captures/record.py FOLDER --half kept     one half
    tests/captures/record.py FOLDER --only queue    cases whose name holds a word
    tests/captures/record.py FOLDER --kind AQM      cases of a kind
    tests/captures/record.py FOLDER --kernel 6.12   another kernel, in virtual time: never late

A case becomes a folder: `stations.pcapng` and `server.pcapng`, `packets.csv` and `stops.csv` as
`airtcp emulate --record` writes them, `kernel.json` with the sender's counters, and `case.json`
with the settings. A late run is recorded again, and again by the next call; until then the least
late one is kept, only for labels: `summary.json` marks it as late. Linux; a case takes half a
minute, and about as much processor time in virtual time.
"""

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cases import Case, halves
from in_guest import recorded as recorded_in_guest

from airtcp.core.net import find_program
from airtcp.kernel.guests.catalogue import MACHINE

TRAFFIC = Path(__file__).with_name("traffic.py")
PATIENCE_S = 60
NEVER_LATE = 1e-9
FILES = ("link.trace.up", "link.recorded.path")
"""Settings that name a file of the case's folder."""
PATH = "time_ms,delay_ms,loss\n0,16,0\n9000,31,0\n17000,22,0\n"
"""One-way delays of a path that changes twice."""
HANDOVER = "time_ms,delay_ms,loss\n0,45,0\n7000,18,0\n15000,34,0\n"
"""Those of a path that first becomes shorter."""


def main() -> None:
    """Records the cases of the command line."""
    options = _options()
    development, kept = halves()
    chosen = {"development": development, "kept": kept, "all": development + kept}[options.half]
    wanted = [case for case in chosen if all(word in case.name for word in options.only)]
    if options.kind:
        wanted = [case for case in wanted if case.kind in options.kind]
    missing = [case for case in wanted if not is_in_time(folder_of(options.folder, case))]
    print(f"{len(wanted)} cases, {len(missing)} to record", file=sys.stderr)
    with ThreadPoolExecutor(options.jobs) as pool:
        names = pool.map(
            lambda case: record_case(options.folder, case, options.attempts, options.kernel),
            missing,
        )
        failed = [name for name in names if name]
    if failed:
        sys.exit(f"not recorded: {', '.join(failed)}")


def folder_of(corpus: Path, case: Case) -> Path:
    """The folder of a case."""
    return corpus / case.name.replace(" ", "-").replace("/", "p")


def is_in_time(folder: Path) -> bool:
    """A case was recorded, and its packets left when they were due.

    In virtual time only packets of a burst after a stop are late, for as long as the guest's
    processor takes to send them: a second attempt would have the same.
    """
    return _late_share(folder) < (1.0 if _is_virtual(folder) else NEVER_LATE)


def _is_virtual(folder: Path) -> bool:
    try:
        case: dict[str, Any] = json.loads((folder / "case.json").read_text())
    except FileNotFoundError:
        return False
    return case.get("kernel", MACHINE) != MACHINE


def _late_share(folder: Path) -> float:
    """Share of the packets that were late, zero where that is tolerable; 1 without a recording."""
    try:
        summary: dict[str, Any] = json.loads((folder / "summary.json").read_text())
    except FileNotFoundError:
        return 1.0
    return 0.0 if summary["in_time"] else float(summary["late_share"])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=("development", "kept", "all"), default="all")
    parser.add_argument("--only", action="append", default=[], metavar="WORD")
    parser.add_argument("--kind", action="append", default=[], metavar="KIND")
    parser.add_argument("--jobs", type=int, default=1, help="cases at the same time")
    parser.add_argument("--kernel", default=MACHINE, help="one of `airtcp kernels`")
    parser.add_argument("--attempts", type=int, default=3, help="of a case that comes late")
    return parser.parse_args()


def record_case(corpus: Path, case: Case, attempts: int, kernel: str) -> str | None:
    """Records a case until it was in time, keeping the least late; its name if it never was."""
    folder = folder_of(corpus, case)
    work = folder.with_name(folder.name + ".part")
    for attempt in range(1, attempts + 1):
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        summary = _recorded(work, case, _seed(case) + attempt, kernel)
        if summary is None:
            print(f"{case.name}: attempt {attempt} failed", file=sys.stderr)
            continue
        if _late_share(work) < _late_share(folder):
            shutil.rmtree(folder, ignore_errors=True)
            work.rename(folder)
        if is_in_time(folder):
            print(f"{case.name}: recorded", file=sys.stderr)
            return None
        late = 100 * summary["late_share"]
        print(
            f"{case.name}: attempt {attempt} had {late:.2f} % of its packets late", file=sys.stderr
        )
    shutil.rmtree(work, ignore_errors=True)
    return case.name


def _seed(case: Case) -> int:
    """The same channel every time, another for each case."""
    return 10 * sum(position * byte for position, byte in enumerate(case.name.encode(), 1))


def _recorded(work: Path, case: Case, seed: int, kernel: str) -> dict[str, Any] | None:
    """Runs the emulator once; returns its summary, or None if it failed."""
    write_rates(work)
    (work / "scenario.toml").write_text(f'name = "capture"\nduration = "{case.seconds + 30} s"\n')
    asked = asdict(case) | {"seed": seed}
    (work / "case.json").write_text(json.dumps(asked | {"kernel": kernel}, indent=1))
    if kernel != MACHINE:
        return recorded_in_guest(kernel, work, case, seed)
    parts = ("send", "receive") if case.download else ("receive", "send")
    ends = [
        shlex.join([sys.executable, str(TRAFFIC), json.dumps(asked), *words])
        for words in (
            (str(work / "kernel.json"), "listen", parts[0]),
            (str(work / "kernel.json"), "connect", parts[1]),
        )
    ]
    command = [find_program(), "emulate", str(work / "scenario.toml"), "--seed", str(seed)]
    for key, value in case.settings.items():
        shown = str(work / value) if key in FILES else value
        command += ["--set", f"{key}={shown}"]
    command += ["--record", str(work), "--quiet", "--server", ends[0], "--", "sh", "-c", ends[1]]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=case.seconds + PATIENCE_S,
            check=False,
            env=os.environ,
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode or not (work / "kernel.json").exists():
        print(done.stderr.strip(), file=sys.stderr)
        return None
    summary: dict[str, Any] = json.loads((work / "summary.json").read_text())
    return summary


def write_rates(folder: Path) -> None:
    """Rates as delivery opportunities of 1500 bytes, and the delays of a path that changes.

    12 and 3 Mbit/s in turn, 4 s each; and 10 Mbit/s, from 12 s on 2 Mbit/s.
    """
    in_turn = [*range(1, 4001), *range(4004, 8001, 4)]
    falling = [1 + at * 6 // 5 for at in range(10_000)] + [*range(12_006, 60_001, 6)]
    (folder / "path.csv").write_text(PATH)
    (folder / "handover.csv").write_text(HANDOVER)
    for name, opportunities in (("steps", in_turn), ("step", falling)):
        (folder / f"{name}.opportunities").write_text("".join(f"{at}\n" for at in opportunities))


if __name__ == "__main__":
    main()
