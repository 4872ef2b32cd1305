"""Runs kernels in virtual time beside the simulation, and writes docs/kernels.md's tables.

    python docs/write_kernels.py --out out/kernels

Three parts, each kept in docs/kernels.json as it is finished: the same run again and again
(`repetitions`), what a second of the guest costs (`speed`), and the settings of docs/kernels.toml
on every kernel (`settings`). Finished runs of the last are found again in --out.
"""

import argparse
import hashlib
import json
import resource
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from airtcp.report.marked import put

ROOT = Path(__file__).resolve().parent.parent
GRID = ROOT / "docs" / "kernels.toml"
DATA = ROOT / "docs" / "kernels.json"
MACHINE = ROOT / "docs" / "real.json"
PAGE = ROOT / "docs" / "kernels.md"

KERNELS = ("6.1", "6.12")
REPEATED = {"duration": "5 s", "link.loss.rate": "0.01"}
SPEEDS = {
    1: {"link.rate": "1 Mbit/s", "duration": "10 s"},
    10: {"link.rate": "10 Mbit/s", "duration": "10 s"},
    100: {"link.rate": "100 Mbit/s", "duration": "3 s", "link.queue.packets": "1000"},
}
"""Mbit/s, and the settings of scenarios/lossy-pipe.toml."""


def _work(guest: Any, settings: Mapping[str, str]) -> tuple[str, float, float]:
    """What a run of the lossy pipe printed, with wall and processor seconds."""
    from airtcp.kernels.protocol import Job

    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    files = {"/lossy-pipe.toml": (ROOT / "scenarios" / "lossy-pipe.toml").read_bytes()}
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    (done,) = guest.run([Job(("", "measure", "/lossy-pipe.toml", *words))], files)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.status != 0:
        raise SystemExit(f"write_kernels: {done.err}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.out, time.monotonic() - begun, cpu


def repetitions(guest: Any, count: int) -> dict[str, Any]:
    """The same run so many times: how many different results there were, and one's digest."""
    found = [_work(guest, REPEATED)[0] for _ in range(count)]
    digests = {hashlib.sha256(text.encode()).hexdigest() for text in found}
    return {"runs": count, "results": len(digests), "sha256": min(digests)}


def speed(guest: Any) -> list[dict[str, Any]]:
    """Seconds of this machine for a second of the guest."""
    rows = []
    # The least of three: the machine may do other work.
    starts = [_work(guest, {"duration": "1 ms"})[1:] for _ in range(3)]
    wall_start, cpu_start = (min(values) for values in zip(*starts, strict=True))
    for rate, settings in SPEEDS.items():
        text, wall, cpu = _work(guest, settings)
        seconds = float(settings["duration"].split()[0])
        run = json.loads(text)
        rows.append(
            {
                "mbps": rate,
                "goodput_mbps": run["goodput_bps"] / 1e6,
                "wall_s": max(0.0, wall - wall_start) / seconds,
                "cpu_s": max(0.0, cpu - cpu_start) / seconds,
                "late_median_us": 1e3 * run["late_median_ms"],
                "late_worst_us": 1e3 * run["late_worst_ms"],
            }
        )
    return [{"start_wall_s": wall_start, "start_cpu_s": cpu_start}, *rows]


def settings_table(data: Mapping[str, Any], machine: Mapping[str, Any]) -> str:
    """Goodput at each setting: every kernel, this machine's with the same seed, and simulated."""
    names = list(data["kernels"])
    known = {(one["link"], one["stack"]): one for one in machine["settings"]}
    head = ["link", "sender", *names, f"{machine['kernel'].split('-')[0]}, real time", "simulated"]
    lines = [
        "| " + " | ".join([*head, *(f"{name} / simulated" for name in names)]) + " |",
        "|---|---|" + "---:|" * (len(head) - 2 + len(names)),
    ]
    tables = [data["kernels"][name]["settings"] for name in names]
    for row in zip(*tables, strict=True):
        link, stack = row[0]["link"], row[0]["stack"]
        there = known.get((link, stack))
        goodputs = [one["kernel"]["goodput_bps"] for one in row]
        count = len(goodputs[0])
        real = fmean(there["kernel"]["goodput_bps"][:count]) if there else None
        cells = [
            *(f"{fmean(values) / 1e6:.3f}" for values in goodputs),
            "-" if real is None else f"{real / 1e6:.3f}",
            f"{fmean(row[0]['simulated']['goodput_bps']) / 1e6:.3f}",
            *(f"{one['ratio']:.3f}" for one in row),
        ]
        lines.append("| " + " | ".join([link, stack, *cells]) + " |")
    return "\n".join(lines)


def speed_table(data: Mapping[str, Any]) -> str:
    """What a second of the guest costs."""
    start, *rows = data["speed"]
    lines = [
        f"Start, from the state after the boot: {start['start_wall_s']:.1f} s of wall clock, "
        f"{start['start_cpu_s']:.1f} s of processor.",
        "",
        "| link, Mbit/s | goodput | wall clock, s | processor, s | late, µs: median | worst |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {row['mbps']} | {row['goodput_mbps']:.2f} | {row['wall_s']:.2f} "
        f"| {row['cpu_s']:.2f} | {row['late_median_us']:.0f} | {row['late_worst_us']:.0f} |"
        for row in rows
    ]
    return "\n".join(lines)


def kernels_table(data: Mapping[str, Any]) -> str:
    """The kernels that were run, and how often a run was the same."""
    lines = [
        "| kernel | release | SHA-256 | the same run | different results |",
        "|---|---|---|---:|---:|",
    ]
    for name, one in data["kernels"].items():
        again = one["repetitions"]
        lines.append(
            f"| {name} | {one['release']} | `{one['sha256'][:16]}` | {again['runs']} times "
            f"| {again['results']} |"
        )
    return "\n".join(lines)


def written(text: str, data: Mapping[str, Any], machine: Mapping[str, Any]) -> str:
    """The page, as it must be after the run."""
    text = put(text, "kernels-same", kernels_table(data))
    text = put(text, "kernels-speed", speed_table(data))
    return put(text, "kernels-settings", settings_table(data, machine))


def main() -> None:
    """Runs what is not finished, keeps the data, and writes the page."""
    from airtcp._core import AirtcpError
    from airtcp.kernels import Guest, the_kernel
    from airtcp.study.beside import document, run_beside
    from airtcp.study.grid import load_grid

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "kernels")
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2, help="guests at the same time")
    arguments = parser.parse_args()

    def told(done: int, runs: int, words: str) -> None:
        print(f"{done} of {runs} {words}", file=sys.stderr, flush=True)

    data: dict[str, Any] = {"kernels": {}}
    try:
        for name in KERNELS:
            guest = Guest.of(the_kernel(name))
            found = document(
                run_beside(
                    load_grid(GRID),
                    guest=guest,
                    out=arguments.out,
                    jobs=arguments.jobs,
                    progress=told,
                )
            )
            data["kernels"][name] = {
                "release": found["kernel"],
                "sha256": guest.kernel.digest,
                "guest": guest.digest,
                "repetitions": repetitions(guest, arguments.repetitions),
                "settings": found["settings"],
            }
        data["speed"] = speed(Guest.of(the_kernel(KERNELS[0])))
    except AirtcpError as error:
        raise SystemExit(f"write_kernels: {error}") from error
    DATA.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    machine = json.loads(MACHINE.read_text("utf-8"))
    PAGE.write_text(written(PAGE.read_text("utf-8"), data, machine), encoding="utf-8")


if __name__ == "__main__":
    main()
