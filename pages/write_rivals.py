"""Measures rivals on the links of their sources, and writes docs/measurements/rivals.md.

    python pages/write_rivals.py traces   # runs everything; `traces` has the recordings
    python pages/write_rivals.py          # only the tables, from docs/measurements/rivals.json

The recordings are not part of this project: they lie in the folder `traces` of mahimahi's public
repository (github.com/ravinet/mahimahi), as NAME.down and NAME.up.
"""

import argparse
import json
import math
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from os import cpu_count
from pathlib import Path
from statistics import mean
from typing import Any

import airtcp
from airtcp._core import engine_version
from airtcp.pages.marked import put
from airtcp.pages.provenance import stamp
from airtcp.pages.steady_cells import settings_of

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "measurements" / "rivals.md"
DATA = PAGE.with_suffix(".json")
MARKS = ("rivals-figure", "rivals-recordings", "rivals-shipped", "rivals-fec")

SEGMENT_BYTES, PACKET_BYTES = 1448, 1500
RUN_S = 140
PATH_MS = 50.0
"""One-way delay of the path without the queue (exp.sh: mm-delay 50)."""
REFERENCE = "CUBIC+CoDel"
PAPERS_TRACE = "Verizon-LTE-short"
RECORDINGS = (PAPERS_TRACE, "ATT-LTE-driving-2016")


@dataclass(frozen=True)
class Sender:
    """A sender, with the queue before the link."""

    name: str
    remedies: tuple[str, ...] = ()
    profile: str = "linux"
    figure: tuple[tuple[float, float], ...] = ()
    """Utilization and 95 % of the packets' delay in ms, as read off figures 2a and 2b of the
    authors' first paper (HotNets 2017) by a public reproduction."""


SENDERS = (
    Sender("CUBIC", figure=((0.980, 446), (0.974, 557))),
    Sender("BBR", profile="linux-bbr", figure=((0.940, 487), (0.932, 580))),
    Sender("Vegas", ("vegas",), figure=((0.911, 342), (0.930, 592))),
    Sender("Copa", ("copa",)),
    Sender(REFERENCE, ("codel:target=50 ms",), figure=((0.619, 178), (0.621, 208))),
    Sender("CUBIC+PIE", ("pie",), figure=((0.528, 154), (0.551, 173))),
    Sender("ABC", ("abc",), figure=((0.890, 192), (0.857, 195))),
)
SHIPPED = ("cellular", "lte", "nr", "geo-satellite", "lossy-pipe", "laptop-download")
CHOICES = ("", "codel", "copa", "abc")
SHIPPED_SEEDS = range(1, 3)
LOSS_RATES = (0.0, 0.01, 0.02, 0.05)
BLOCK, REPAIR = 20, 2
"""The defaults of the remedy `fec`."""
CODES = ("", "fec", "fec:repair=8,adaptive=1")


def measured(folder: Path, recording: str, way: str, sender: Sender) -> dict[str, Any]:
    """One run over a recording, with the authors' settings (exp.sh)."""
    file = folder / f"{recording}.{way}"
    settings = {
        "tcp.profile": sender.profile,
        "tcp.receive_buffer": "16 MB",
        "link.trace": f'{{ down = {json.dumps(str(file))}, data = "down" }}',
        "link.delay": f"{PATH_MS:g} ms",
        "link.queue.packets": 250,
        "duration": f"{RUN_S} s",
    }
    run = airtcp.run("cellular", settings=settings, remedies=sender.remedies, events=False)
    flow = run.summary["flows"][0]
    carried = flow["goodput_bps"] / SEGMENT_BYTES * PACKET_BYTES
    return {
        "recording": recording,
        "way": way,
        "sender": sender.name,
        "utilization": round(carried / capacity_bps(file), 3),
        "delay_p95_ms": round(flow["delay_p95_ms"], 1),
        "timeouts": flow["timeouts"],
    }


def capacity_bps(file: Path) -> float:
    """Bits a second that the link could have carried during the run."""
    times_ms = [int(line) for line in file.read_text("ascii").split()]
    laps, rest_ms = divmod(RUN_S * 1000, times_ms[-1])
    count = laps * len(times_ms) + sum(time <= rest_ms for time in times_ms)
    return count * PACKET_BYTES * 8 / RUN_S


def shipped(scenario: str, remedy: str) -> dict[str, Any]:
    """A shipped scenario with a remedy: goodput, delay, and a second flow that stays as it is."""
    remedies = [remedy] if remedy else []
    seeds = SHIPPED_SEEDS
    settings = settings_of(scenario, 20)
    alone = [
        airtcp.run(scenario, seed=seed, settings=settings, remedies=remedies) for seed in seeds
    ]
    shared = settings | {"flows.count": 2, "flows.unchanged": 1}
    beside = [airtcp.run(scenario, seed=seed, settings=shared, remedies=remedies) for seed in seeds]
    return {
        "scenario": scenario,
        "remedy": remedy,
        "goodput_mbps": round(mean(run.summary["goodput_bps"] for run in alone) / 1e6, 3),
        "delay_p95_ms": round(mean(run.summary["flows"][0]["delay_p95_ms"] for run in alone), 1),
        "goodputs_mbps": [
            round(mean(run.summary["flows"][flow]["goodput_bps"] for run in beside) / 1e6, 3)
            for flow in (0, 1)
        ],
    }


def coded(rate: float, remedy: str) -> dict[str, Any]:
    """The shipped lossy pipe with this loss rate and repair packets."""
    runs = [
        airtcp.run(
            "lossy-pipe",
            seed=seed,
            settings={"link.loss.rate": rate, "duration": "60 s"},
            remedies=[remedy] if remedy else [],
        ).summary["flows"][0]
        for seed in range(1, 5)
    ]
    sent, lost = (sum(run[key] for run in runs) for key in ("segments_sent", "segments_lost_link"))
    return {
        "rate": rate,
        "remedy": remedy,
        "goodput_mbps": round(mean(run["goodput_bps"] for run in runs) / 1e6, 3),
        "delay_p95_ms": round(mean(run["delay_p95_ms"] for run in runs), 1),
        "residual": lost / sent,
    }


def residual(rate: float) -> float:
    """Probability that a packet stays lost.

    It is lost, and at least as many others of its block, repair packets included, as there are
    repair packets.
    """
    others = BLOCK + REPAIR - 1
    fewer = sum(
        math.comb(others, lost) * rate**lost * (1 - rate) ** (others - lost)
        for lost in range(REPAIR)
    )
    return rate * (1 - fewer)


def collected(folder: Path) -> dict[str, Any]:
    """Every run."""
    files = [(name, way) for name in RECORDINGS for way in ("down", "up")]
    missing = [f"{name}.{way}" for name, way in files if not (folder / f"{name}.{way}").exists()]
    if missing:
        sys.exit(f"{folder}: {', '.join(missing)}: not there")
    with ThreadPoolExecutor(cpu_count()) as pool:
        rows = pool.map(
            lambda one: measured(folder, *one),
            [(name, way, sender) for name, way in files for sender in SENDERS],
        )
        ours = pool.map(lambda one: shipped(*one), [(s, c) for s in SHIPPED for c in CHOICES])
        codes = pool.map(lambda one: coded(*one), [(r, c) for r in LOSS_RATES for c in CODES])
        return {
            "engine": engine_version,
            "rows": list(rows),
            "shipped": list(ours),
            "codes": list(codes),
        }


def _relative(value: float, reference: float) -> str:
    return f"{100 * (value / reference - 1):+.0f} %"


def figure(rows: Sequence[Mapping[str, Any]]) -> str:
    """The source's two figures and our two directions, absolute and relative to the reference."""
    ours = {(row["sender"], row["way"]): row for row in rows if row["recording"] == PAPERS_TRACE}
    named = {sender.name: sender for sender in SENDERS}
    lines = [
        "| sender | figures 2a, 2b: utilization | ours, down, up | figures: 95 % of delay (ms) "
        f"| ours | throughput over {REFERENCE}'s: figures | ours | delay over it: figures | ours |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for sender in SENDERS:
        found = [ours[sender.name, way] for way in ("down", "up")]
        base = [ours[REFERENCE, way] for way in ("down", "up")]
        cells = {
            "use": [f"{use:.2f}" for use, _ in sender.figure],
            "our use": [f"{row['utilization']:.2f}" for row in found],
            "delay": [f"{delay:.0f}" for _, delay in sender.figure],
            "our delay": [f"{row['delay_p95_ms']:.0f}" for row in found],
        }
        for name, place in (("gain", 0), ("longer", 1)):
            key = ("utilization", "delay_p95_ms")[place]
            pairs = zip(sender.figure, named[REFERENCE].figure, strict=bool(sender.figure))
            cells[name] = [_relative(one[place], other[place]) for one, other in pairs]
            cells[f"our {name}"] = [
                _relative(row[key], other[key]) for row, other in zip(found, base, strict=True)
            ]
        text = [", ".join(cell) or "n/a" for cell in cells.values()]
        lines.append(f"| {sender.name} | {' | '.join(text)} |")
    return "\n".join([*lines, "", figure_sentence(ours, named)])


def figure_sentence(
    ours: Mapping[tuple[str, str], Mapping[str, Any]], named: Mapping[str, Sender]
) -> str:
    """The gain in throughput over the reference, the source's and ours."""

    def gains(pairs: Sequence[tuple[float, float]]) -> str:
        return " and ".join(_relative(one, other) for one, other in pairs)

    points = [
        (one[0], other[0])
        for one, other in zip(named["ABC"].figure, named[REFERENCE].figure, strict=True)
    ]
    runs = [
        (ours["ABC", way]["utilization"], ours[REFERENCE, way]["utilization"])
        for way in ("down", "up")
    ]
    return (
        f"ABC's throughput over {REFERENCE}'s: {gains(points)} in the figures, {gains(runs)} here; "
        "the abstract of the NSDI paper says 50 % more, over eight recordings."
    )


def recordings(rows: Sequence[Mapping[str, Any]]) -> str:
    """A row for each recording, a column for each sender."""
    names = [sender.name for sender in SENDERS]
    lines = [
        f"| recording | {' | '.join(names)} |",
        "|---|" + "---:|" * len(names),
    ]
    found = {(row["recording"], row["way"], row["sender"]): row for row in rows}
    for recording in RECORDINGS:
        for way in ("down", "up"):
            cells = [
                f"{row['utilization']:.2f} / {row['delay_p95_ms']:.0f}"
                for row in (found[recording, way, name] for name in names)
            ]
            lines.append(f"| {recording}.{way} | {' | '.join(cells)} |")
    return "\n".join(lines)


def shipped_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Goodput and delay of one flow on shipped scenarios, and the shares of two."""
    lines = [
        "| scenario | remedy | goodput (Mbit/s) | 95 % of delay (ms) "
        "| changed flow with an unchanged one (Mbit/s) | the unchanged one |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for row in rows:
        changed, other = row["goodputs_mbps"]
        lines.append(
            f"| {row['scenario']} | {row['remedy'] or 'none'} | {row['goodput_mbps']:.2f} "
            f"| {row['delay_p95_ms']:.0f} | {changed:.2f} | {other:.2f} |"
        )
    return "\n".join(lines)


def codes_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Goodput, delay and the losses that remain, with the closed form for the fixed code."""
    lines = [
        "| loss rate | remedy | goodput (Mbit/s) | 95 % of delay (ms) | losses that remain "
        "| binomial |",
        "|---:|---|---:|---:|---:|---:|",
    ]
    for row in rows:
        expected = {"": row["rate"], "fec": residual(row["rate"])}.get(row["remedy"])
        form = "n/a" if expected is None else f"{100 * expected:.3f} %"
        lines.append(
            f"| {100 * row['rate']:g} % | {row['remedy'] or 'none'} | {row['goodput_mbps']:.2f} "
            f"| {row['delay_p95_ms']:.0f} | {100 * row['residual']:.3f} % | {form} |"
        )
    return "\n".join(lines)


def written(text: str, data: Mapping[str, Any]) -> str:
    """The page as it must be with these data."""
    parts = (
        figure(data["rows"]),
        recordings(data["rows"]),
        shipped_table(data["shipped"]),
        codes_table(data["codes"]),
    )
    for mark, content in zip(MARKS, parts, strict=True):
        text = put(text, mark, content)
    return text


def main() -> None:
    """Runs everything if a folder is given, and writes the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", help="where the recordings lie")
    folder = parser.parse_args().folder
    if folder:
        text = json.dumps(collected(folder), indent=1)
        DATA.write_text(text + "\n", encoding="utf-8")
    data = json.loads(DATA.read_text("utf-8"))
    PAGE.write_text(written(PAGE.read_text("utf-8"), data), encoding="utf-8")
    if folder:
        stamp(ROOT, *MARKS)


if __name__ == "__main__":
    main()
