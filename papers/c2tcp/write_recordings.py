"""Compares the paper's recordings with its numbers, and writes the table of papers/c2tcp/README.md.

    python papers/c2tcp/write_recordings.py traces     # runs the recordings in it, in seconds
    python papers/c2tcp/write_recordings.py            # only the table, from recordings.json

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
from typing import Any

import airtcp
from airtcp._core import engine_version
from airtcp.pages.marked import put
from airtcp.pages.provenance import stamp

PAPER = Path(__file__).resolve().parent
ROOT = PAPER.parent.parent
PAGE, DATA = PAPER / "README.md", PAPER / "recordings.json"
MARKS = ("recordings", "recordings by reading")
WAYS_MS = {"20 ms each way": 20.0, "20 ms in all": 10.0}
"""Delay of the path without the queue, by the paper's readings of a delay of 20 ms."""
UPLINKS = ("over the uplink's trace", "without a limit")
READINGS = tuple((way, uplink) for way in WAYS_MS for uplink in UPLINKS)


@dataclass(frozen=True)
class Sender:
    """A column of the paper's table, and its counterpart here."""

    name: str
    settings: Mapping[str, object]
    remedies: tuple[str, ...] = ()


SENDERS = (
    Sender("CUBIC", {}),
    Sender("NewReno", {"tcp.profile": "linux-reno"}),
    Sender("Vegas", {"tcp.congestion_control": "vegas"}),
    Sender("BBR", {"tcp.profile": "linux-bbr"}),
    Sender("C2TCP", {"tcp.congestion_control": "c2tcp"}),
    Sender("CoDel", {}, ("codel",)),
)
RECORDINGS = {
    "TMobile-UMTS-driving": (
        930,
        "2.02/8609/23114 2.02/6949/18348 1.55/35/88 1.86/112/246 1.75/50/108 1.69/30/65",
    ),
    "Verizon-EVDO-driving": (
        1065,
        "0.52/33166/86570 0.52/25916/50569 0.36/108/340 0.44/226/689 0.38/104/309 0.37/82/236",
    ),
    "ATT-LTE-driving-2016": (
        120,
        "4.37/3209/9524 4.40/3040/7415 3.86/41/147 4.05/132/449 3.54/41/120 3.15/23/72",
    ),
}
"""Seconds, and for each sender Mbit/s, mean and 95 % of the queue's delay in ms, as published
(repository Soheil-ab/C2TCP-IFIP, `c2tcp/plot/avg_norm`)."""


def measured(
    folder: Path, recording: str, reading: tuple[str, str], sender: Sender
) -> dict[str, Any]:
    """One run over a recording of that folder."""
    way, uplink = reading
    files = {"down": str(folder / f"{recording}.down"), "data": "down"}
    if uplink == UPLINKS[0]:
        files["up"] = str(folder / f"{recording}.up")
    inline = ", ".join(f"{key} = {json.dumps(value)}" for key, value in files.items())
    settings = {
        "link.trace": f"{{ {inline} }}",
        "link.delay": f"{WAYS_MS[way]:g} ms",
        "duration": f"{RECORDINGS[recording][0]} s",
        "flows.start_spread": "1 ms",
    }
    run = airtcp.run(
        PAPER / "link.toml",
        settings=settings | dict(sender.settings),
        remedies=sender.remedies,
        events=False,
    )
    flow = run.summary["flows"][0]
    return {
        "recording": recording,
        "way": way,
        "uplink": uplink,
        "sender": sender.name,
        "goodput_mbps": round(flow["goodput_bps"] / 1e6, 3),
        "queue_p50_ms": round((flow["delay_p50_ms"] or 0.0) - WAYS_MS[way], 1),
        "queue_p95_ms": round((flow["delay_p95_ms"] or 0.0) - WAYS_MS[way], 1),
    }


def collected(folder: Path) -> dict[str, Any]:
    """Every sender over every recording that lies in that folder."""
    there = [name for name in RECORDINGS if (folder / f"{name}.down").exists()]
    if not there:
        sys.exit(f"{folder}: none of {', '.join(f'{name}.down' for name in RECORDINGS)} is there")
    with ThreadPoolExecutor(cpu_count()) as pool:
        rows = pool.map(
            lambda one: measured(folder, *one),
            [(name, how, who) for name in there for how in READINGS for who in SENDERS],
        )
        return {"engine": engine_version, "rows": list(rows)}


def published(row: Mapping[str, Any]) -> tuple[float, float, float]:
    """Mbit/s, mean and 95 % of the queue's delay in ms."""
    place = [sender.name for sender in SENDERS].index(row["sender"])
    rate, mean, highest = RECORDINGS[row["recording"]][1].split()[place].split("/")
    return float(rate), float(mean), float(highest)


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """A row for each recording and sender, under the default reading: ours and the paper's."""
    lines = [
        "| downlink | sender | Mbit/s | paper | ours over it | queue's delay, median, 95 % (ms) "
        "| paper, mean, 95 % | 95 %, ours over it |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        if (row["way"], row["uplink"]) != READINGS[0]:
            continue
        rate, mean, highest = published(row)
        lines.append(
            f"| {row['recording']} | {row['sender']} | {row['goodput_mbps']:.2f} | {rate:.2f} "
            f"| {row['goodput_mbps'] / rate:.2f} "
            f"| {row['queue_p50_ms']:.0f}, {row['queue_p95_ms']:.0f} "
            f"| {mean:.0f}, {highest:.0f} | {row['queue_p95_ms'] / highest:.2f} |"
        )
    return "\n".join(lines)


def by_reading(rows: Sequence[Mapping[str, Any]]) -> str:
    """How far each joint reading is from the paper, over all senders of a recording."""
    lines = [
        "| downlink | delay | uplink | goodput, off by a factor of | 95 % of the queue's delay |",
        "|---|---|---|---:|---:|",
    ]
    for recording in RECORDINGS:
        for way, uplink in READINGS:
            those = [
                row
                for row in rows
                if (row["recording"], row["way"], row["uplink"]) == (recording, way, uplink)
            ]
            goodput = _factor([row["goodput_mbps"] / published(row)[0] for row in those])
            delay = _factor([row["queue_p95_ms"] / published(row)[2] for row in those])
            lines.append(f"| {recording} | {way} | {uplink} | {goodput:.2f} | {delay:.2f} |")
    return "\n".join(lines)


def _factor(ratios: Sequence[float]) -> float:
    """The root mean square of the ratios' logarithms, as a factor."""
    return math.exp(math.sqrt(sum(math.log(ratio) ** 2 for ratio in ratios) / len(ratios)))


def written(text: str, data: Mapping[str, Any]) -> str:
    """The page as it must be with these data."""
    return put(put(text, MARKS[0], table(data["rows"])), MARKS[1], by_reading(data["rows"]))


def main() -> None:
    """Runs the recordings of a folder if one is given, and writes the page."""
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
