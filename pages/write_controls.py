"""Runs congestion controls in BPF in the interpreter and on kernels, and compares Rust twins.

    python pages/write_controls.py --part programs  # needs clang, qemu, kernels 6.1 and 6.12
    python pages/write_controls.py --part modules --linux TREE  # needs clang 18 (CLANG=...)

Parts, each kept in controls.json as it is finished: the repository's programs on the same seeds in
the interpreter, in Rust and on kernels (`programs`); Linux's modules, compiled from a kernel
tree, packet by packet against the Rust twins over random links (`modules`). The page's sentences
are computed from the data.
"""

import argparse
import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

import airtcp
from airtcp import RunError, ScenarioError
from airtcp.core.bpf import remedy
from airtcp.kernel.first_difference import Difference, Parting, first_difference
from airtcp.kernel.guests import Guest, the_kernel
from airtcp.kernel.segments import Segment, simulated_segments
from airtcp.kernel.verify import verify
from airtcp.pages.marked import put
from airtcp.pages.provenance import stamp

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "docs" / "measurements" / "controls.json"
PAGE = ROOT / "docs" / "measurements" / "controls.md"
PIPE = ROOT / "scenarios" / "lossy-pipe.toml"

KERNELS = ("6.1", "6.12")
SEEDS = 3
PROGRAMS = {
    "veno": "veno",
    "westwood": "westwood",
    "newzag": "newzag",
    "coin": "coin",
    "examples/cubic": "cubic",
    "examples/paced": None,
    "examples/learned": None,
}
"""Files of bpf/, and the remedy that is the same control in Rust."""
COMMON = {"duration": "10 s", "tcp.profile": "linux-reno", "tcp.slow_start": "standard"}
LINKS: dict[str, dict[str, object]] = {
    "no random loss": {"link.queue.packets": 50},
    "1 % random loss": {"link.loss.rate": 0.01},
}
"""The lossy pipe with these settings: 10 Mbit/s, 50 ms."""

MODULES = {
    "cubic": "",
    "htcp": "htcp",
    "hybla": "hybla",
    "illinois": "illinois",
    "vegas": "vegas",
    "veno": "veno",
    "westwood": "westwood",
    "yeah": "yeah",
    "dctcp": "dctcp",
    "bbr": "bbr",
    "bic": None,
    "highspeed": None,
    "scalable": None,
    "nv": None,
    "lp": None,
    "cdg": "cdg",
}
"""Files net/ipv4/tcp_*.c, and the remedy in Rust; without one, the profile's CUBIC."""
RANDOM_LINKS = 100
MARKING: dict[str, object] = {
    "tcp.ecn": "request",
    "link.aqm.discipline": "codel",
    "link.aqm.ecn": True,
}
"""What DCTCP needs of its link."""


def named(found: Parting, other: str) -> str:
    """The first difference in words, for one cell."""
    where = found.content or found.time
    if where is None:
        return "none"
    sides = f"{words(where.simulated)}; {other} {words(where.kernel)}"
    return f"{where.time_s:.3f} s: {sides}{in_time(where)}"


def words(segment: Segment | None) -> str:
    """A segment without its time."""
    return segment.words.split(", SACK")[0] if segment else "nothing more"


def in_time(where: Difference) -> str:
    """The distance, for segments that differ in nothing else."""
    return "" if where.is_content else f" {1e3 * where.apart_s:.1f} ms apart"


def programs(names: Sequence[str]) -> dict[str, Any]:
    """These programs in the interpreter, in Rust and on the kernels."""
    files = {name: remedy(ROOT / "bpf" / f"{name}.bpf.c") for name in names}
    twin_names = [twin for name in names if (twin := PROGRAMS[name])]
    result: dict[str, Any] = {}
    for link, own in LINKS.items():
        settings = COMMON | own
        on = {
            kernel: verify(PIPE, list(files.values()), SEEDS, settings, kernel=kernel)
            for kernel in KERNELS
        }
        twins = airtcp.compare(PIPE, twin_names, SEEDS, settings) if twin_names else None
        result[link] = {}
        for name, program in files.items():
            twin = PROGRAMS[name]
            run = airtcp.run(PIPE, 1, settings, [program], packets=True)
            segments = simulated_segments(run.packets, 0)
            heard = sum(not one.is_out and not one.is_syn for one in segments)
            row: dict[str, Any] = {
                "interpreter": on[KERNELS[0]].simulated.values(program, "goodput_bps"),
                "instructions": round(run.controls[0]["instructions"] / heard, 1),
            }
            if twin and twins:
                row["twin"] = twins.values(twin, "goodput_bps")
                run = airtcp.run(PIPE, 1, settings, [twin], packets=True)
                other = simulated_segments(run.packets, 0)
                parting = first_difference(segments, other, 0.0)
                row["from twin"] = named(parting, "the twin")
            for kernel in KERNELS:
                row[kernel] = on[kernel].goodput(program)
                (flow,) = parting(PIPE, program, 1, settings, Guest.of(the_kernel(kernel)))
                row[f"from {kernel}"] = named(flow, "the kernel")
            result[link][name] = row
            print(link, name, row, file=sys.stderr, flush=True)
    return {"release": {one: the_kernel(one).release for one in KERNELS}, "links": result}


def random_links() -> Iterator[dict[str, object]]:
    """The same links for every module."""
    draw = random.Random(44)
    for _ in range(RANDOM_LINKS):
        yield {
            "link.rate": f"{draw.choice([1, 2, 5, 10, 20])} Mbit/s",
            "link.delay": f"{draw.choice([5, 10, 25, 50, 100, 200])} ms",
            "link.queue.packets": draw.choice([10, 25, 50, 100, 400]),
            "link.loss.rate": draw.choice([0, 0, 0.001, 0.005, 0.01, 0.02]),
            "duration": "10 s",
            "tcp.profile": "linux",
        }


def module(tree: Path, name: str) -> dict[str, Any]:
    """A module over all links, compared with its twin if there is one."""
    twin = MODULES[name]
    own = MARKING if name == "dctcp" else {}
    row: dict[str, Any] = {"same": 0, "ratios": [], "parted_s": [], "goodputs": []}
    try:
        program = remedy(tree / "net" / "ipv4" / f"tcp_{name}.c")
        for number, link in enumerate(random_links()):
            settings = link | own
            ours = airtcp.run(PIPE, 1, settings, [program], packets=True)
            row["goodputs"].append(round(ours.summary["goodput_bps"]))
            if twin is None:
                continue
            theirs = airtcp.run(PIPE, 1, settings, [twin] if twin else [], packets=True)
            sides = (simulated_segments(run.packets, 0) for run in (theirs, ours))
            found = first_difference(*sides, 0.0)
            ratio = theirs.summary["goodput_bps"] / ours.summary["goodput_bps"]
            row["ratios"].append(round(ratio, 4))
            where = found.time or found.content
            if where is None:
                row["same"] += 1
                continue
            row["parted_s"].append(round(where.time_s, 4))
            if "first" not in row:
                row["first"] = f"link {number + 1}, {named(found, 'the module')}"
    except (RunError, ScenarioError) as error:
        row["error"] = str(error).splitlines()[0].rpartition("): ")[2]
    print(name, {k: v for k, v in row.items() if k not in ("ratios", "parted_s", "goodputs")})
    return row


def megabits(values: Sequence[float] | None) -> str:
    """The mean of runs, in Mbit/s."""
    return f"{fmean(values) / 1e6:.2f}" if values else "-"


def programs_table(data: Mapping[str, Any]) -> str:
    """Goodput of every program, and first differences."""
    kernels = [f"kernel {name}" for name in KERNELS]
    head = ["link", "program", "interpreter", "Rust twin", *kernels, "instructions an ACK"]
    rows = [head, ["---", "---", *["---:"] * (len(head) - 2)]]
    named_rows = [
        ["link", "program", "from the twin", *(f"from {kernel}" for kernel in kernels)],
        ["---"] * (3 + len(kernels)),
    ]
    ratios: dict[str, list[float]] = {"twin": []} | {kernel: [] for kernel in KERNELS}
    for link, found in data["links"].items():
        for name, row in found.items():
            cells = [megabits(row.get(side)) for side in ("interpreter", "twin", *KERNELS)]
            rows.append([link, name, *cells, f"{row['instructions']:.0f}"])
            firsts = [row.get(f"from {side}", "no twin") for side in ("twin", *KERNELS)]
            named_rows.append([link, name, *firsts])
            for side, known in ratios.items():
                if side in row:
                    known.append(fmean(row["interpreter"]) / fmean(row[side]))
    releases = ", ".join(data["release"].values())
    shares = "; ".join(
        f"{min(known):.2f} to {max(known):.2f} of "
        f"{'the twin' if side == 'twin' else f'kernel {side}'}"
        for side, known in ratios.items()
    )
    sentence = (
        f"Means of {SEEDS} seeds in Mbit/s, kernels {releases} in virtual time with the object "
        f"that is interpreted. Goodput in the interpreter is {shares}."
    )
    firsts = [cell for row in named_rows[2:] for cell in row[-len(KERNELS) :]]
    heard = sum(": hears ACK" in cell for cell in firsts)
    receivers = (
        f"Of {len(firsts)} first differences from a kernel {heard} are an acknowledgment that "
        "arrives: the receiver's, not the control's."
    )
    return "\n".join([sentence, "", *map(line, rows), "", receivers, "", *map(line, named_rows)])


def modules_table(data: Mapping[str, Any]) -> str:
    """Every module against its twin, and the modules that the hooks do not carry."""
    head = [
        "module",
        "links the same, packet by packet",
        "median time of the first difference, s",
        "twin's goodput of the module's",
        "least to most",
        "for example",
    ]
    rows = [head, ["---", "---:", "---:", "---:", "---:", "---"]]
    others = []
    for name, row in data["modules"].items():
        if "error" in row:
            others.append(f"- `tcp_{name}.c` is not carried: {row['error']}.")
        elif not row["ratios"]:
            mean = megabits(row["goodputs"])
            others.append(f"- `tcp_{name}.c` has no twin: {mean} Mbit/s on average of the links.")
        else:
            ratios = row["ratios"]
            rows.append(
                [
                    f"`tcp_{name}.c`",
                    f"{row['same']} of {len(ratios)}",
                    f"{median(row['parted_s']):.2f}" if row["parted_s"] else "-",
                    f"{fmean(ratios):.3f}",
                    f"{min(ratios):.2f} to {max(ratios):.2f}",
                    row.get("first", "none"),
                ]
            )
    return "\n".join([f"Linux {data['linux']}.", "", *map(line, rows), "", *others])


def line(cells: Sequence[str]) -> str:
    """A row of a table."""
    return f"| {' | '.join(cells)} |"


def version(tree: Path) -> str:
    """The version in the Makefile of a kernel tree."""
    lines = (tree / "Makefile").read_text().splitlines()
    values = dict(map(str.strip, one.split("=", 1)) for one in lines[:8] if "=" in one)
    return f"{values['VERSION']}.{values['PATCHLEVEL']}.{values['SUBLEVEL']}"


def main() -> None:
    """Runs a part, and writes the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--part", choices=("programs", "modules"), action="append", default=[])
    parser.add_argument(
        "--program",
        choices=PROGRAMS,
        action="append",
        help="only this one of the programs; the others stay as stored",
    )
    parser.add_argument(
        "--module",
        choices=MODULES,
        action="append",
        help="only this one of the modules; the others stay as stored",
    )
    parser.add_argument("--linux", type=Path, help="a kernel tree")
    arguments = parser.parse_args()
    data = json.loads(DATA.read_text("utf-8")) if DATA.is_file() else {}
    if "programs" in arguments.part:
        made = programs(arguments.program or list(PROGRAMS))
        stored = data.get("programs", {"release": made["release"], "links": {}})
        if arguments.program and stored["release"] != made["release"]:
            raise SystemExit(
                "write_controls: the stored rows are of other kernels; run all programs"
            )
        for link, rows in made["links"].items():
            known = {**stored["links"].get(link, {}), **rows}
            made["links"][link] = {name: known[name] for name in PROGRAMS if name in known}
        data["programs"] = made
    if "modules" in arguments.part:
        if arguments.linux is None:
            raise SystemExit("write_controls: --part modules needs --linux TREE")
        linux, stored = version(arguments.linux), data.get("modules", {})
        if arguments.module and stored.get("linux") != linux:
            raise SystemExit("write_controls: the stored rows are of another tree; run all modules")
        names = arguments.module or list(MODULES)
        made = {name: module(arguments.linux, name) for name in names}
        known = stored.get("modules", {}) | made
        rows = {name: known[name] for name in MODULES if name in known}
        data["modules"] = {"linux": linux, "modules": rows}
    DATA.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    text = PAGE.read_text("utf-8")
    tables = {"bpf-programs": "programs", "linux-modules": "modules"}
    renderers = {"programs": programs_table, "modules": modules_table}
    for mark, part in tables.items():
        if part in data:
            text = put(text, mark, renderers[part](data[part]))
    PAGE.write_text(text, encoding="utf-8")
    for mark, part in tables.items():
        if part in arguments.part:
            stamp(ROOT, mark)


if __name__ == "__main__":
    main()
