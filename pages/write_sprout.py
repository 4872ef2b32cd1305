"""Measures Sprout on the links of its paper, and writes its tables in docs/measurements/rivals.md.

    python pages/write_sprout.py traces   # runs everything; `traces` has the recordings
    python pages/write_sprout.py          # only the tables, from docs/measurements/sprout.json

The recordings are not part of this project: they lie in the folder `traces` of mahimahi's public
repository (github.com/ravinet/mahimahi), as NAME.down and NAME.up.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from os import cpu_count
from pathlib import Path
from statistics import mean
from typing import Any

import airtcp
from airtcp._core import engine_version
from airtcp.pages.marked import put
from airtcp.pages.provenance import stamp

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "measurements" / "rivals.md"
DATA = PAGE.with_name("sprout.json")
MARKS = ("rivals-sprout", "rivals-sprout-mean")

SEGMENT_BYTES, PACKET_BYTES = 1448, 1500
RUN_S, SKIPPED_S = 960, 60
"""Length of a run, and its beginning that does not count (the authors' `scorer`)."""
PATH_MS = 20.0
"""One-way delay of the path without the queue (the authors' cellsim)."""
FIGURES = ("Sprout", "Sprout-EWMA", "CUBIC", "Vegas")


@dataclass(frozen=True)
class Link:
    """A link of the paper."""

    name: str
    recording: str
    figure: tuple[tuple[int, int], ...]
    """Throughput in kbit/s and self-inflicted delay in ms of `FIGURES`: the points from which the
    authors drew figure 7."""


LINKS = (
    Link(
        "AT&T LTE down",
        "ATT-LTE-driving.down",
        ((2304, 52), (3822, 161), (1208, 5426), (1025, 197)),
    ),
    Link(
        "AT&T LTE up",
        "ATT-LTE-driving.up",
        ((412, 127), (862, 350), (841, 24262), (693, 374)),
    ),
    Link(
        "T-Mobile UMTS down",
        "TMobile-UMTS-driving.down",
        ((680, 331), (1600, 487), (668, 8350), (762, 499)),
    ),
    Link(
        "T-Mobile UMTS up",
        "TMobile-UMTS-driving.up",
        ((370, 136), (833, 252), (971, 32640), (693, 551)),
    ),
    Link(
        "Verizon 1xEV-DO down",
        "Verizon-EVDO-driving.down",
        ((209, 1287), (402, 1608), (521, 97631), (300, 1771)),
    ),
    Link(
        "Verizon 1xEV-DO up",
        "Verizon-EVDO-driving.up",
        ((239, 199), (628, 355), (166, 12379), (311, 994)),
    ),
)
SENDERS: Mapping[str, tuple[str, ...]] = {
    "Sprout": ("sprout",),
    "Sprout-EWMA": ("sprout-ewma",),
    "CUBIC": (),
    "Vegas": ("vegas",),
    "CUBIC+CoDel": ("codel",),
}
MEANS: Mapping[str, tuple[float, float]] = {
    "Sprout": (42.1, 317),
    "Sprout-EWMA": (79.7, 525),
    "CUBIC": (61.7, 25164),
    "CUBIC+CoDel": (61.1, 497),
}
"""Mean utilization in per cent and self-inflicted delay in ms over the paper's eight links: the
points of its comparison with CoDel."""


def measured(folder: Path, link: Link, sender: str) -> dict[str, Any]:
    """One run over a recording: deep queue, acknowledgments at the path's delay."""
    file = folder / link.recording
    settings = {
        "tcp.receive_buffer": "256 MB",
        "link.trace": f'{{ down = {json.dumps(str(file))}, data = "down" }}',
        "link.delay": f"{PATH_MS:g} ms",
        "link.queue.packets": 1_000_000,
        "duration": f"{RUN_S} s",
    }
    remedies = SENDERS[sender]
    run = airtcp.run("cellular", settings=settings, remedies=remedies, events=False, packets=True)
    rows = run.packets.select("time_s", "is_data", "offset", "bytes", "acknowledges", "sack")
    newest = arrivals(rows.iter_rows())
    inherent = delay_p95_ms((ms, ms) for ms in opportunities_ms(file))
    counted = sum(1 for ms in opportunities_ms(file) if ms >= 1000 * SKIPPED_S)
    flow = run.summary["flows"][0]
    carried_bps = flow["goodput_bps"] / SEGMENT_BYTES * PACKET_BYTES
    capacity_bps = counted * PACKET_BYTES * 8 / (RUN_S - SKIPPED_S)
    return {
        "link": link.name,
        "sender": sender,
        "throughput_kbps": round(carried_bps / 1e3, 1),
        "utilization": round(carried_bps / capacity_bps, 3),
        "delay_ms": round(delay_p95_ms(newest) - inherent),
        "timeouts": flow["timeouts"],
    }


def opportunities_ms(file: Path) -> Iterable[int]:
    """The times in ms at which a packet may cross, over and over for a run."""
    times_ms = [int(line) for line in file.read_text("ascii").split()]
    lap_ms = 0
    while lap_ms < 1000 * RUN_S:
        for time_ms in times_ms:
            if lap_ms + time_ms >= 1000 * RUN_S:
                return
            yield lap_ms + time_ms
        lap_ms += times_ms[-1]


def arrivals(rows: Iterable[tuple[Any, ...]]) -> Iterable[tuple[float, float]]:
    """The times in ms at which packets arrived, and at which they were sent."""
    sent_ms: dict[int, float] = {}
    acknowledged = 0
    for time_s, is_data, offset, size, acknowledges, sack in rows:
        if is_data:
            if size:
                sent_ms[offset + size] = 1000 * time_s
            continue
        ends = [int(block.split("-")[1]) for block in (sack or "").split()]
        newest = max([acknowledges or 0, *ends])
        # Every packet that this reports: the newest of them in the order of sending.
        reported = [sent_ms.pop(end, 0.0) for end in covered(sent_ms, acknowledged, acknowledges)]
        reported += [sent_ms.get(newest, 0.0)]
        acknowledged = max(acknowledged, acknowledges or 0)
        # A copy that was sent meanwhile is not the packet that arrived.
        arrived_ms = 1000 * time_s - PATH_MS
        yield arrived_ms, min(max(reported), arrived_ms - PATH_MS)


def covered(sent_ms: Mapping[int, float], before: int, acknowledges: int | None) -> list[int]:
    """Ends of the packets that an acknowledgment covers first; they were sent in order."""
    ends = []
    for end in sent_ms:
        if end > (acknowledges or 0):
            break
        if end > before:
            ends.append(end)
    return ends


def delay_p95_ms(newest: Iterable[tuple[float, float]]) -> float:
    """95 % over time of the age of the packet sent last of all that have arrived (§5.1)."""
    ages = [0] * (2000 * RUN_S)
    known = [(0.0, 0.0)]
    for arrived, sent in newest:
        known.append((arrived, max(sent, known[-1][1])))
    known.append((1000.0 * RUN_S, known[-1][1]))
    for (arrived, sent), (following, _) in pairwise(known):
        start = max(arrived, 1000.0 * SKIPPED_S)
        if following > start:
            # One more of each age from here, one less from there on.
            ages[round(start - sent)] += 1
            ages[round(following - sent)] -= 1
    total, running, counts = 0, 0, []
    for change in ages:
        running += change
        total += running
        counts.append(total)
    return float(next(age for age, count in enumerate(counts) if count >= 0.95 * total))


def collected(folder: Path) -> dict[str, Any]:
    """Every run."""
    missing = [link.recording for link in LINKS if not (folder / link.recording).exists()]
    if missing:
        sys.exit(f"{folder}: {', '.join(missing)}: not there")
    with ThreadPoolExecutor(cpu_count()) as pool:
        rows = pool.map(
            lambda one: measured(folder, *one), [(link, name) for link in LINKS for name in SENDERS]
        )
        return {"engine": engine_version, "rows": list(rows)}


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """A row for each link: the points of figure 7 and ours."""
    ours = {(row["link"], row["sender"]): row for row in rows}
    heads = " | ".join(f"{name}: figure 7 | ours" for name in FIGURES)
    lines = [f"| link | {heads} |", "|---|" + "---:|" * (2 * len(FIGURES))]
    for link in LINKS:
        cells = []
        for name, (kbps, ms) in zip(FIGURES, link.figure, strict=True):
            row = ours[link.name, name]
            cells += [f"{kbps} / {ms}", f"{row['throughput_kbps']:.0f} / {row['delay_ms']}"]
        lines.append(f"| {link.name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def means(rows: Sequence[Mapping[str, Any]]) -> str:
    """A row for each sender: utilization and delay, the paper's mean and ours."""
    lines = [
        "| sender | utilization: paper, 8 links | ours, 6 | self-inflicted delay (ms): paper "
        "| ours |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, (share, delay) in MEANS.items():
        found = [row for row in rows if row["sender"] == name]
        use = 100 * mean(row["utilization"] for row in found)
        ours = mean(row["delay_ms"] for row in found)
        lines.append(f"| {name} | {share:.0f} % | {use:.0f} % | {delay:.0f} | {ours:.0f} |")
    return "\n".join(lines)


def written(text: str, data: Mapping[str, Any]) -> str:
    """The page as it must be with these data."""
    for mark, content in zip(MARKS, (table(data["rows"]), means(data["rows"])), strict=True):
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
