"""Compares this machine's kernel in real time with a guest's, and writes kernels.md's table.

    python pages/write_kernels_machine.py

The settings of docs/measurements/kernels.toml with three seeds, one run after the other: 24
settings of 8 s take some 11 minutes of real time and 4 of guests. The machine has to do nothing
else meanwhile: it is refused while its load is above 0.5, and says at the end how high the load
was. An interrupted command goes on from --out. The guest's kernel should be of the machine's
version, or near it.
"""

import argparse
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from airtcp.pages.marked import put

ROOT = Path(__file__).resolve().parents[1]
GRID = ROOT / "docs" / "measurements" / "kernels.toml"
DATA = ROOT / "docs" / "measurements" / "kernels-machine.json"
PAGE = ROOT / "docs" / "measurements" / "kernels.md"

QUIET = 0.5
"""The highest load of a machine that does nothing else."""
SEEDS = 3


def table(data: Mapping[str, Any]) -> str:
    """Goodput at each setting: the machine's kernel, the guest's, and their difference in pairs."""
    if not data:
        return (
            "*Not run yet: it takes a quarter of an hour of a machine that does nothing else, "
            "`python pages/write_kernels_machine.py`.*"
        )
    from airtcp.kernel.grid import half_width

    machine, guest = data["machine"], data["guest"]
    lines = [
        f"| link | sender | {machine['kernel']}, real time | {guest['kernel']}, guest "
        "| guest less machine |",
        "|---|---|---:|---:|---:|",
    ]
    for real, virtual in zip(machine["settings"], guest["settings"], strict=True):
        pairs = zip(real["kernel"]["goodput_bps"], virtual["kernel"]["goodput_bps"], strict=True)
        shares = [100 * (there / here - 1) for here, there in pairs]
        half = half_width(shares)
        about = "" if half is None else f" ± {half:.1f}"
        goodputs = (fmean(one["kernel"]["goodput_bps"]) / 1e6 for one in (real, virtual))
        cells = [real["link"], real["stack"], *(f"{value:.3f}" for value in goodputs)]
        lines.append("| " + " | ".join([*cells, f"{fmean(shares):+.1f}{about} %"]) + " |")
    low, high = data["load"]
    lines += [
        "",
        f"Mbit/s, {machine['seeds']} seeds. The machine's load was {low:.1f} to {high:.1f}.",
    ]
    return "\n".join(lines)


def measured(arguments: argparse.Namespace) -> dict[str, Any]:
    """Runs both, the machine's kernel first."""
    from airtcp.comparison.grid import load_grid
    from airtcp.kernel.grid import document, run_both
    from airtcp.kernel.guests import Guest, the_kernel
    from airtcp.kernel.guests.machine import no_machine_left

    loads = [os.getloadavg()[0]]

    def told(done: int, runs: int, words: str) -> None:
        loads.append(os.getloadavg()[0])
        print(f"{done} of {runs} {words}", file=sys.stderr, flush=True)

    grid = load_grid(GRID)
    with no_machine_left():
        guest = Guest.of(the_kernel(arguments.kernel))
        real = run_both(grid, arguments.seeds, out=arguments.out, progress=told)
        # Processor time of the guests comes later, and does not affect the real runs.
        load = [min(loads), max(loads)]
        virtual = run_both(
            grid, arguments.seeds, guest=guest, out=arguments.out, jobs=2, progress=told
        )
    return {"machine": document(real), "guest": document(virtual), "load": load}


def main() -> None:
    """Runs everything, keeps the data, and writes the table."""
    from airtcp._core import AirtcpError

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "kernels-machine")
    parser.add_argument("--kernel", default="6.12", help="the guest's, default 6.12")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--anyway", action="store_true", help="on a machine that does other work")
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    if load > QUIET and not arguments.anyway:
        raise SystemExit(
            f"write_kernels_machine: the machine's load is {load:.1f}, more than {QUIET}: what its "
            "kernel does in real time would be the other work's; wait, or give --anyway"
        )
    try:
        data = measured(arguments)
    except AirtcpError as error:
        raise SystemExit(f"write_kernels_machine: {error}") from error
    DATA.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(put(PAGE.read_text("utf-8"), "kernels-machine", table(data)), encoding="utf-8")


if __name__ == "__main__":
    main()
