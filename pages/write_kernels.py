"""Runs kernels in virtual time, compares them with the simulation, and writes kernels.md's tables.

    python pages/write_kernels.py --out out/kernels
    python pages/write_kernels.py --part repetitions --user nobody

Parts, each kept in kernels.json as it is finished: the same run again and again, by this user
and by another with a separate cache (`repetitions`), the cost of a second of the guest (`speed`),
which remedies each kernel can have (`remedies`), the settings of kernels.toml on every kernel
(`settings`), and how near the simulation is to the oracles of tests/oracles/kernels (`agreement`).
Finished runs of the settings are found again in --out.
"""

import argparse
import hashlib
import json
import os
import pwd
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from airtcp.pages.marked import put
from airtcp.pages.provenance import stamp

ROOT = Path(__file__).resolve().parents[1]
GRID = ROOT / "docs" / "measurements" / "kernels.toml"
DATA = ROOT / "docs" / "measurements" / "kernels.json"
PAGE = ROOT / "docs" / "measurements" / "kernels.md"

KERNELS = ("5.10", "6.1", "6.12")
REPEATED = {"duration": "1 s", "link.loss.rate": "0.02"}
SPEED_OF = "6.1"
SPEEDS = {
    1: {"link.rate": "1 Mbit/s", "duration": "10 s"},
    10: {"link.rate": "10 Mbit/s", "duration": "10 s"},
    100: {"link.rate": "100 Mbit/s", "duration": "3 s", "link.queue.packets": "1000"},
}
"""Mbit/s, and the settings of scenarios/lossy-pipe.toml."""


def _work(guest: Any, settings: Mapping[str, str]) -> tuple[str, float, float]:
    """Output of a run of the lossy pipe, with wall and processor seconds."""
    from airtcp.kernel.guests.protocol import Job

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
    """The same run so many times: its different results, and the machine's load during it."""
    digests, loads = set(), []
    for _ in range(count):
        text, *_ = _work(guest, REPEATED)
        digests.add(hashlib.sha256(text.encode()).hexdigest())
        loads.append(os.getloadavg()[0])
    return {
        "runs": count,
        "results": len(digests),
        "sha256": min(digests),
        "load": [min(loads), max(loads)],
    }


def by_another_user(user: str, name: str, count: int) -> dict[str, Any]:
    """The same by another user, with a separate cache and so a separate boot; as root."""
    from airtcp.kernel.guests import Guest, the_kernel

    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "airtcp" / "kernels" / name
        kept = shutil.ignore_patterns("booted-*", ".boot-*")
        shutil.copytree(the_kernel(name).folder, copy, ignore=kept)
        subprocess.run(["chown", "-R", user, folder], check=True)
        who = pwd.getpwnam(user)
        # Looked up from the interpreter's files, which the user may not read.
        Guest.of(the_kernel(name))
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                # Everything has been imported by now: the user may not read this interpreter.
                os.setgroups([])
                os.setgid(who.pw_gid)
                os.setuid(who.pw_uid)
                os.environ |= {"XDG_CACHE_HOME": folder, "HOME": folder, "TMPDIR": folder}
                tempfile.tempdir = folder
                found = repetitions(Guest.of(the_kernel(name)), count)
                os.write(writing, json.dumps(found).encode())
                status = 0
            except Exception:
                traceback.print_exc()
            finally:
                os._exit(status)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            text = pipe.read()
        if os.waitpid(child, 0)[1] != 0:
            raise SystemExit(f"write_kernels: the runs by {user} failed")
    return dict(json.loads(text))


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


def _having(data: Mapping[str, Any], part: str) -> dict[str, Any]:
    """The kernels for which a part has been run, in order of their versions."""
    kernels = data["kernels"]
    return {name: kernels[name] for name in KERNELS if part in kernels.get(name, {})}


def settings_table(data: Mapping[str, Any]) -> str:
    """Goodput at each setting: every kernel with the same seed, and simulated."""
    kernels = _having(data, "settings")
    names = list(kernels)
    head = ["link", "sender", *names, "simulated"]
    lines = [
        "| " + " | ".join([*head, *(f"{name} / simulated" for name in names)]) + " |",
        "|---|---|" + "---:|" * (len(head) - 2 + len(names)),
    ]
    tables = [kernels[name]["settings"] for name in names]
    for row in zip(*tables, strict=True):
        link, stack = row[0]["link"], row[0]["stack"]
        goodputs = [one["kernel"]["goodput_bps"] for one in row]
        cells = [
            *(f"{fmean(values) / 1e6:.3f}" for values in goodputs),
            f"{fmean(row[0]['simulated']['goodput_bps']) / 1e6:.3f}",
            *(f"{one['ratio']:.3f}" for one in row),
        ]
        lines.append("| " + " | ".join([link, stack, *cells]) + " |")
    return "\n".join(lines)


def speed_table(data: Mapping[str, Any]) -> str:
    """The cost of a second of the guest."""
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
        "| kernel | release | SHA-256 | runs | another user's runs | different results |",
        "|---|---|---|---:|---:|---:|",
    ]
    kernels = _having(data, "repetitions")
    for name, one in kernels.items():
        again, other = one["repetitions"], one["repetitions"]["other_user"]
        results = again["results"] + (other["results"] - 1)
        results += other["sha256"] != again["sha256"]
        lines.append(
            f"| {name} | {one['release']} | `{one['sha256'][:16]}` | {again['runs']} "
            f"| {other['runs']} | {results} |"
        )
    low = min(one["repetitions"]["load"][0] for one in kernels.values())
    high = max(one["repetitions"]["load"][1] for one in kernels.values())
    load = f"{low:.0f} to {high:.0f} on two processors"
    return "\n".join([*lines, "", f"The machine's load during the runs was {load}."])


def remedies_of(guest: Any) -> dict[str, dict[str, Any]]:
    """For each remedy at an end, the steps by which this kernel has it, or why it has not."""
    from airtcp.core.catalogue import remedies
    from airtcp.kernel.guests.protocol import Job

    names = [one["name"] for one in remedies() if one["place"] in {"sender", "receiver"}]
    files = {"/wifi.toml": (ROOT / "scenarios" / "wifi-suspension.toml").read_bytes()}
    command = ("", "measure", "/wifi.toml", "--check", "--deviation", "5", "--remedy")
    found: dict[str, dict[str, Any]] = {}
    for name, done in zip(
        names, guest.run([Job((*command, name)) for name in names], files), strict=True
    ):
        if done.status == 0:
            told = json.loads(done.out)
            found[name] = {"steps": told["steps"], "instead": told["instead"]}
        else:
            found[name] = {"refused": done.err.strip().rpartition("has no way to it. ")[2]}
    return found


def remedies_table(data: Mapping[str, Any]) -> str:
    """Which remedy each kernel has, by which steps."""
    kernels = _having(data, "remedies")
    names = list(next(iter(kernels.values()))["remedies"])
    lines = ["| remedy | " + " | ".join(kernels) + " |", "|---|" + "---|" * len(kernels)]
    refused = []
    for name in names:
        told = [one["remedies"][name] for one in kernels.values()]
        if all("refused" in one for one in told):
            refused.append(f"`{name}`")
            continue
        lines.append(f"| `{name}` | " + " | ".join(_steps(one) for one in told) + " |")
    return "\n".join(
        [
            *lines,
            "",
            f"No kernel here has {', '.join(refused)}; `airtcp list remedies NAME` has the reason.",
        ]
    )


def _steps(told: Mapping[str, Any]) -> str:
    if "refused" in told:
        return "no"
    steps = "; ".join(f"`{step}`" for step in told["steps"]) or "by itself"
    return steps + (" (the nearest thing)" if told["instead"] else "")


def agreement() -> dict[str, Any]:
    """How near the simulation is to the kernels' runs of the oracles."""
    sys.path.insert(0, str(ROOT))
    from tests.oracles.kernels import agreement as oracle

    found = oracle.pairs()

    def told(members: Sequence[Any]) -> dict[str, Any]:
        return {
            "row": oracle.row(members),
            "mean": oracle.mean_ratio(members),
            "kernels": oracle.between_kernels(members),
        }

    return {
        "made_by": oracle.head(),
        "rows": {
            group: {words: told(members) for words, members in oracle.grouped(found, group).items()}
            for group in oracle.TOLD
        },
        "all": told(found),
    }


def agreement_table(data: Mapping[str, Any]) -> str:
    """Shares of the oracles' runs that the simulation is near to, by group."""
    told = data["agreement"]
    lines = [
        "| group | runs | mean | within 3 % | 6.1 and 6.12 | within 10 % | 6.1 and 6.12 "
        "| median distance | retransmissions equal | 6.1 and 6.12 |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]

    def line(words: str, group: Mapping[str, Sequence[float]]) -> str:
        count, near, within, distance, equal = group["row"]
        _, kernels_near, kernels_within, _, kernels_equal = group["kernels"]
        ratio, half = group["mean"]
        cells = [f"{100 * share:.0f} %" for share in (near, kernels_near, within, kernels_within)]
        return (
            f"| {words} | {count} | {100 * ratio:+.1f} % "
            f"± {100 * half:.1f} % | {' | '.join(cells)} "
            f"| {100 * distance:.1f} % | {100 * equal:.0f} % | {100 * kernels_equal:.0f} % |"
        )

    lines.append(line("**all**", told["all"]))
    for rows in told["rows"].values():
        lines += [line(words, row) for words, row in rows.items()]
    return "\n".join(lines)


def written(text: str, data: Mapping[str, Any]) -> str:
    """The page, as it must be after the run."""
    text = put(text, "kernels-same", kernels_table(data))
    text = put(text, "kernels-speed", speed_table(data))
    text = put(text, "kernels-remedies", remedies_table(data))
    text = put(text, "kernels-agreement", agreement_table(data))
    return put(text, "kernels-settings", settings_table(data))


PARTS = ("repetitions", "speed", "remedies", "settings", "agreement")
SIMULATED = {
    "remedies": "kernels-remedies",
    "settings": "kernels-settings",
    "agreement": "kernels-agreement",
}
"""The tables of the parts that record the engine they were made with."""


def main() -> None:
    """Runs the requested parts, keeps the data, and writes the page."""
    from airtcp._core import AirtcpError

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "kernels")
    parser.add_argument("--part", action="append", choices=PARTS, help="default: all")
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--user", default="nobody", help="who repeats the run too")
    parser.add_argument("--kernel", action="append", choices=KERNELS, help="default: all")
    parser.add_argument("--jobs", type=int, default=2, help="guests at the same time")
    arguments = parser.parse_args()
    try:
        data = json.loads(DATA.read_text("utf-8"))
        for part in arguments.part or PARTS:
            _run(part, data, arguments)
            DATA.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    except AirtcpError as error:
        raise SystemExit(f"write_kernels: {error}") from error
    PAGE.write_text(written(PAGE.read_text("utf-8"), data), encoding="utf-8")
    if made := [SIMULATED[part] for part in arguments.part or PARTS if part in SIMULATED]:
        stamp(ROOT, *made)


def _run(part: str, data: dict[str, Any], arguments: argparse.Namespace) -> None:
    """Runs one part, and puts its results into the data."""
    from airtcp.kernel.guests import Guest, the_kernel

    if part == "agreement":
        data["agreement"] = agreement()
        return
    if part == "speed":
        data["speed"] = speed(Guest.of(the_kernel(SPEED_OF)))
        return
    for name in arguments.kernel or KERNELS:
        guest = Guest.of(the_kernel(name))
        kept = data["kernels"].setdefault(name, {})
        kept["release"] = guest.kernel.release
        kept["sha256"] = guest.kernel.digest
        if part == "repetitions":
            kept["repetitions"] = repetitions(guest, arguments.repetitions) | {
                "guest": guest.digest,
                "other_user": by_another_user(
                    arguments.user, name, max(1, arguments.repetitions // 10)
                ),
            }
        elif part == "remedies":
            kept["remedies"] = remedies_of(guest)
        else:
            kept["settings"] = _settings(guest, arguments)


def _settings(guest: Any, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    from airtcp.comparison.grid import load_grid
    from airtcp.kernel.grid import document, run_both

    def told(done: int, runs: int, words: str) -> None:
        print(f"{done} of {runs} {words}", file=sys.stderr, flush=True)

    runs = run_both(
        load_grid(GRID), guest=guest, out=arguments.out, jobs=arguments.jobs, progress=told
    )
    found: list[dict[str, Any]] = document(runs)["settings"]  # type: ignore[assignment]
    return found


if __name__ == "__main__":
    main()
