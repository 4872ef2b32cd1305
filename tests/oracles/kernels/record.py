"""Runs the settings of the design on kernels in virtual time, and writes runs.jsonl.

    python -m tests.oracles.kernels.record --out out/kernel-oracles

Finished runs are kept in --out, and an interrupted command goes on from there; it leaves the
processors to others (nice 10). `--partial` writes what is finished so far and runs nothing;
`--delay jitter` runs the settings with that delay again. Both leave the other lines as they are,
and the new ones name the airtcp-net that made them.
"""

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from airtcp._core import AirtcpError, RunError
from airtcp.cli.progress import progress_bar
from airtcp.comparison.cells import CellKey
from airtcp.comparison.execute import Results, execute
from airtcp.comparison.plan import Plan, PlannedCell
from airtcp.comparison.store import Store
from airtcp.core.loading import load_scenario
from airtcp.kernel.guests import Guest, the_kernel
from airtcp.kernel.guests.machine import no_machine_left
from airtcp.kernel.in_guest import guest_observation
from airtcp.kernel.runs import KernelRun, Measurement, measurement, settings_of

from .design import SEEDS, Setting, settings

KERNELS = ("6.1", "6.12")
RUNS = Path(__file__).parent / "runs.jsonl"
SCENARIO = Path(__file__).resolve().parents[3] / "scenarios" / "lossy-pipe.toml"
KEPT = (
    "goodput_bps",
    "retransmissions",
    "timeouts",
    "tail_probes",
    "undos",
    "sender_min_rtt_ms",
    "late_worst_ms",
)
"""Values of a measurement that are kept."""


def planned(guests: list[Guest]) -> Iterator[tuple[Setting, int, Guest, PlannedCell]]:
    """Every run: all settings on all kernels with the first seed, then with the next."""
    for seed in SEEDS:
        for setting in settings():
            scenario = load_scenario(SCENARIO, setting.settings)
            run = KernelRun(str(SCENARIO), settings_of(setting.settings), "")
            for guest in guests:
                words = f"{guest.kernel.name}, seed {seed}, {setting.words}"
                told = guest_observation(run, guest)
                # It needs only this machine's link model, which is in the guest's program.
                key = CellKey(scenario.hash(), told.name, seed, guest.digest)
                yield setting, seed, guest, PlannedCell(key, scenario, words, told)


def line(setting: Setting, seed: int, guest: Guest, run: Measurement) -> dict[str, Any]:
    """A run as a line of the data."""
    return {
        "setting": setting.number,
        "seed": seed,
        "kernel": guest.kernel.name,
        **{name: run[name] for name in KEPT},
    }


def head(guests: list[Guest]) -> dict[str, Any]:
    """The first line: provenance of the others."""
    program = hashlib.sha256(Path(guests[0].program).read_bytes()).hexdigest()
    return {
        "kernels": {
            guest.kernel.name: {
                "release": guest.kernel.release,
                "sha256": guest.kernel.digest,
                "guest": guest.digest,
            }
            for guest in guests
        },
        "program": program,
    }


def merged(made: dict[str, Any], lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The data with these lines replacing those of the same runs, under the existing head."""
    first, *others = (json.loads(one) for one in RUNS.read_text("utf-8").splitlines())
    told = {} if made["program"] == first["program"] else {"program": made["program"]}
    known = {_place(one): one for one in others} | {_place(one): one | told for one in lines}
    return [first, *(known[place] for place in sorted(known))]


def _place(one: dict[str, Any]) -> tuple[int, int, tuple[int, ...]]:
    """Sort key of a run's line: all settings with the first seed, older kernels first."""
    version = tuple(int(part) for part in one["kernel"].split("."))
    return one["seed"], one["setting"], version


def main() -> None:
    """Runs missing cases, and writes the data."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("out") / "kernel-oracles")
    parser.add_argument("--jobs", type=int, default=None, help="guests at the same time")
    parser.add_argument("--program", help="the airtcp-net that runs in the guests")
    delays = sorted({setting.delay for setting in settings()})
    parser.add_argument("--delay", action="append", choices=delays, help="only these; others stay")
    parser.add_argument("--partial", action="store_true", help="write what is finished so far")
    arguments = parser.parse_args()
    os.nice(10)
    try:
        guests = [_guest(name, arguments.program) for name in KERNELS]
        rows = [row for row in planned(guests) if row[0].delay in (arguments.delay or delays)]
        plan = Plan(cell for *_, cell in rows)
        store = Store(arguments.out / "cells")
        if arguments.partial:
            found = store.find(cell.key for cell in plan)
        else:
            found = _executed(plan, store, arguments.jobs)
    except AirtcpError as error:
        raise SystemExit(f"record: {error}") from error
    lines = [
        line(setting, seed, guest, measurement(found[cell.key].summary_json))
        for setting, seed, guest, cell in rows
        if cell.key in found
    ]
    made = head(guests)
    some = arguments.delay or arguments.partial
    data = merged(made, lines) if some else [made, *lines]
    RUNS.write_text("".join(f"{json.dumps(one)}\n" for one in data), encoding="utf-8")
    print(f"{RUNS}: {len(lines)} of {len(rows)} runs", file=sys.stderr)


def _executed(plan: Plan, store: Store, jobs: int | None) -> Results:
    """Runs missing cells; runs that were late in the guest are late each time, and left out."""
    with progress_bar("kernels") as report, no_machine_left():
        try:
            return execute(
                plan,
                out=store,
                jobs=jobs,
                progress=lambda done, runs, words: report(done / runs, words),
            )
        except RunError as error:
            print(f"record: {error}", file=sys.stderr)
            return store.find(cell.key for cell in plan)


def _guest(name: str, program: str | None) -> Guest:
    guest = Guest.of(the_kernel(name))
    return Guest(guest.kernel, program) if program else guest


if __name__ == "__main__":
    main()
