"""Runs the kernel and the simulation, and writes docs/measurements/real.md's tables.

    make verify  # runs real.toml, resumably, into out/verify; then writes
    python pages/write_real.py --simulate  # keeps the kernel's columns

The data behind the tables are kept in real.json, so that a test can check whether a table is that
of the run.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from airtcp.pages.marked import put
from airtcp.pages.provenance import stamp

ROOT = Path(__file__).resolve().parents[1]
GRID = ROOT / "docs" / "measurements" / "real.toml"
DATA = ROOT / "docs" / "measurements" / "real.json"
PAGE = ROOT / "docs" / "measurements" / "real.md"


def kernel_table(run: Mapping[str, Any]) -> str:
    """Settings down; goodput with half its 95 % interval on the kernel and simulated."""
    lines = [
        "| link | sender | kernel, Mbit/s | simulated | ratio | retransmitted, kernel | simulated "
        "| timeouts, kernel | simulated | |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    for one in run["settings"]:
        ratio = "-" if one["ratio"] is None else f"{one['ratio']:.3f}"
        cells = [
            one["link"],
            one["stack"],
            _mean(one["kernel"]["goodput_bps"], one["kernel"]["half_width"]),
            _mean(one["simulated"]["goodput_bps"], one["simulated"]["half_width"]),
            ratio,
            *(
                f"{fmean(one[side][what]):.1f}"
                for what in ("retransmissions", "timeouts")
                for side in ("kernel", "simulated")
            ),
            one["agreement"],
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def share_sentence(run: Mapping[str, Any]) -> str:
    """How many settings agree, on which kernel, and how late packets were."""
    settings = run["settings"]
    near = sum(one["agreement"] == "near" for one in settings)
    inside = sum(one["agreement"] == "inside" for one in settings)
    return (
        f"Kernel {run['kernel']}, {run['seeds']} seeds of {run['seconds']:g} s each: of "
        f"{len(settings)} settings {near} are within 10 % of the simulated goodput, and {inside} "
        f"more have each mean inside the other's 95 % interval: "
        f"{100 * (near + inside) / len(settings):.0f} % agree. "
        f"{lateness(run['late'])}{left_out(run)}"
    )


def left_out(run: Mapping[str, Any]) -> str:
    """The settings without a run."""
    names = run.get("left_out", [])
    why = "Left out, since the guest was late or ended without a result"
    return f" {why}: {'; '.join(names)}." if names else ""


def lateness(late: Mapping[str, float]) -> str:
    """How late the emulator was."""
    return (
        f"Packets left {1e3 * late['median_ms']:.0f} µs late (median of the runs' medians), "
        f"{1e3 * late['p99_ms']:.0f} µs (median of their 99th percentiles), "
        f"{late['worst_ms']:.1f} ms at worst."
    )


def _mean(values: Sequence[float], half: float | None) -> str:
    text = f"{fmean(values) / 1e6:.3f}"
    return text if half is None else f"{text} ± {half / 1e6:.3f}"


def written(text: str, run: Mapping[str, Any]) -> str:
    """The page, as it must be after the run."""
    text = put(text, "kernel-share", share_sentence(run))
    return put(text, "kernel-table", kernel_table(run))


def main() -> None:
    """Runs unfinished cases, keeps the data, and writes the page."""
    from airtcp._core import AirtcpError
    from airtcp.comparison.grid import load_grid
    from airtcp.kernel.grid import document, resimulated, run_both
    from airtcp.kernel.guests import Guest, the_kernel
    from airtcp.kernel.guests.catalogue import MACHINE

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "verify")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--kernel", default=MACHINE, help="one of `airtcp kernels`")
    parser.add_argument("--jobs", type=int, default=3, help="runs of the kernel at the same time")
    parser.add_argument(
        "--simulate", action="store_true", help="keep what the kernel did; simulate alone"
    )
    arguments = parser.parse_args()
    name = arguments.kernel

    def told(done: int, runs: int, words: str) -> None:
        print(f"{done} of {runs} {words}", file=sys.stderr, flush=True)

    try:
        if arguments.simulate:
            run = resimulated(json.loads(DATA.read_text("utf-8")), load_grid(GRID))
        else:
            grid = load_grid(GRID)
            settings = run_both(
                grid,
                arguments.seeds,
                guest=None if name == MACHINE else Guest.of(the_kernel(name)),
                out=arguments.out,
                jobs=arguments.jobs,
                progress=told,
                missed=lambda error: print(f"make verify: {error}", file=sys.stderr),
            )
            ran = {(one.link, one.stack) for one in settings}
            run = document(settings) | {
                "left_out": [
                    f"{link.name}, {stack.name}"
                    for link in grid.links
                    for stack in grid.stacks
                    if (link.name, stack.name) not in ran
                ]
            }
    except AirtcpError as error:
        raise SystemExit(f"make verify: {error}") from error
    DATA.write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(written(PAGE.read_text("utf-8"), run), encoding="utf-8")
    stamp(ROOT, "kernel-share", "kernel-table")
    print(share_sentence(run))


if __name__ == "__main__":
    main()
