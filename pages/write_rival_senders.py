"""Measures PCC and Verus on the links of their papers, and writes docs/measurements/rivals.md.

    python pages/write_rival_senders.py traces   # runs everything; `traces` has the recordings
    python pages/write_rival_senders.py          # only the tables, from rival-senders.json

The recordings are as for write_rivals.py.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
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
DATA = PAGE.with_name("rival-senders.json")
MARKS = ("rivals-random-loss", "rivals-short-queue", "rivals-scavenger", "rivals-verus")

SEGMENT_BYTES, PACKET_BYTES = 1448, 1500
SEEDS = range(1, 3)

SENDERS = {
    "Vivace": ("linux", "vivace"),
    "Vivace, code's losses": ("linux", "vivace:mild=0.03"),
    "Proteus-P": ("linux", "proteus-p"),
    "BBR": ("linux-bbr", ""),
    "CUBIC": ("linux", ""),
}
LOSS_RATES = (0.0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06)
QUEUES = (2, 5, 9, 25, 50, 125, 250)
QUEUE = 250
"""A bandwidth-delay product at 100 Mbit/s and 30 ms, in packets."""

SCAVENGERS = ("proteus-s", "ledbat", "proteus-p")
PRIMARIES = {"CUBIC": "linux", "BBR": "linux-bbr"}
SHARED_QUEUES = (50, 250)
"""75 and 375 kB, at 50 Mbit/s and 30 ms."""

RECORDINGS = ("Verizon-LTE-short", "ATT-LTE-driving-2016", "TMobile-UMTS-driving")
OVER_RECORDINGS = {
    "CUBIC": "",
    "Copa": "copa",
    "Verus, R = 2": "verus:r=2",
    "Verus, R = 4": "verus:r=4",
    "Verus, R = 6": "verus:r=6",
}
RECORDED_S = 120
RECORDED_MS = 20.0
"""One-way delay of the path without the queue."""


def pipe(mbps: int, queue: int, profile: str, **more: Any) -> dict[str, Any]:
    """Settings of a path of 30 ms."""
    return {
        "tcp.profile": profile,
        "tcp.receive_buffer": "16 MB",
        "link.rate": f"{mbps} Mbit/s",
        "link.delay": "15 ms",
        "link.queue.packets": queue,
        "link.loss.rate": 0,
        "duration": "60 s",
    } | more


def share(flow: Mapping[str, Any], mbps: float) -> float:
    """The flow's packets as a share of the link."""
    return float(flow["goodput_bps"]) / SEGMENT_BYTES * PACKET_BYTES / mbps / 1e6


def alone(sender: str, loss: float, queue: int) -> dict[str, Any]:
    """One flow at 100 Mbit/s: utilization, delay, timeouts."""
    profile, remedy = SENDERS[sender]
    settings = pipe(100, queue, profile, **{"link.loss.rate": loss})
    flows = [
        airtcp.run(
            "lossy-pipe", seed=seed, settings=settings, remedies=[remedy] if remedy else []
        ).summary["flows"][0]
        for seed in SEEDS
    ]
    return {
        "sender": sender,
        "loss": loss,
        "queue": queue,
        "utilization": round(mean(share(flow, 100) for flow in flows), 3),
        "delay_p95_ms": round(mean(flow["delay_p95_ms"] or 0.0 for flow in flows), 1),
        "timeouts": sum(flow["timeouts"] for flow in flows),
    }


def shared(primary: str, scavenger: str, queue: int) -> dict[str, Any]:
    """One flow of each at 50 Mbit/s, and both."""
    settings = pipe(50, queue, PRIMARIES[primary])
    two = settings | {"flows.count": 2, "flows.unchanged": 1}
    rows = []
    for seed in SEEDS:
        before = airtcp.run("lossy-pipe", seed=seed, settings=settings).summary["flows"][0]
        both = airtcp.run("lossy-pipe", seed=seed, settings=two, remedies=[scavenger])
        only = airtcp.run("lossy-pipe", seed=seed, settings=settings, remedies=[scavenger])
        changed, unchanged = both.summary["flows"]
        rows.append((before, unchanged, changed, only.summary["flows"][0]))
    names = ("before", "with_second", "scavenger", "alone")
    return {"primary": primary, "remedy": scavenger, "queue": queue} | {
        name: round(mean(share(row[place], 50) for row in rows), 3)
        for place, name in enumerate(names)
    }


def recorded(folder: Path, recording: str, way: str, sender: str) -> dict[str, Any]:
    """A sender over a recording of a cellular link, in a deep queue."""
    remedy = OVER_RECORDINGS[sender]
    file = folder / f"{recording}.{way}"
    settings = {
        "tcp.receive_buffer": "16 MB",
        "link.trace": f'{{ down = {json.dumps(str(file))}, data = "down" }}',
        "link.delay": f"{RECORDED_MS:g} ms",
        "link.queue.packets": 1000,
        "duration": f"{RECORDED_S} s",
    }
    run = airtcp.run("cellular", settings=settings, remedies=[remedy] if remedy else [])
    flow = run.summary["flows"][0]
    return {
        "recording": recording,
        "way": way,
        "sender": sender,
        "goodput_mbps": round(flow["goodput_bps"] / 1e6, 3),
        "delay_p50_ms": round(flow["delay_p50_ms"] or 0.0, 1),
        "delay_p95_ms": round(flow["delay_p95_ms"] or 0.0, 1),
    }


def collected(folder: Path) -> dict[str, Any]:
    """Every run."""
    files = list(product(RECORDINGS, ("down", "up")))
    missing = [f"{name}.{way}" for name, way in files if not (folder / f"{name}.{way}").exists()]
    if missing:
        sys.exit(f"{folder}: {', '.join(missing)}: not there")
    with ThreadPoolExecutor(cpu_count()) as pool:
        losses = pool.map(lambda one: alone(one[0], one[1], QUEUE), product(SENDERS, LOSS_RATES))
        queues = pool.map(lambda one: alone(one[0], 0.0, one[1]), product(SENDERS, QUEUES))
        pairs = pool.map(lambda one: shared(*one), product(PRIMARIES, SCAVENGERS, SHARED_QUEUES))
        rows = pool.map(
            lambda one: recorded(folder, *one),
            [(name, way, sender) for (name, way), sender in product(files, OVER_RECORDINGS)],
        )
        return {
            "engine": engine_version,
            "losses": list(losses),
            "queues": list(queues),
            "pairs": list(pairs),
            "recordings": list(rows),
        }


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    lines = [
        f"| {' | '.join(head)} |",
        "|" + "---|" * left + "---:|" * (len(head) - left),
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
    return "\n".join(lines)


def _by_sender(rows: Sequence[Mapping[str, Any]], key: str, values: Sequence[float]) -> str:
    found = {(row["sender"], row[key]): row for row in rows}
    words = [f"{100 * value:g} %" if key == "loss" else f"{value}" for value in values]
    name = "loss rate" if key == "loss" else "queue (packets)"
    return _table(
        [f"sender, by {name}", *words],
        [
            [sender, *(f"{found[sender, value]['utilization']:.2f}" for value in values)]
            for sender in SENDERS
        ],
    )


def losses(rows: Sequence[Mapping[str, Any]]) -> str:
    """Utilization by loss rate."""
    return _by_sender(rows, "loss", LOSS_RATES)


def queues(rows: Sequence[Mapping[str, Any]]) -> str:
    """Utilization by length of the queue, and the first length with 90 %."""
    least = {
        sender: min(
            (row["queue"] for row in rows if row["sender"] == sender and row["utilization"] >= 0.9),
            default=None,
        )
        for sender in SENDERS
    }
    words = [f"{sender} {least[sender] or 'none of these'}" for sender in SENDERS]
    sentence = f"The first of these queues with 90 % of the link, in packets: {', '.join(words)}."
    return "\n".join([_by_sender(rows, "queue", QUEUES), "", sentence])


def scavengers(rows: Sequence[Mapping[str, Any]]) -> str:
    """The share that a primary sender keeps with each scavenger, and that of one flow of either."""
    head = [
        "primary",
        "second flow",
        "queue (packets)",
        "primary, one flow",
        "with the second",
        "it keeps",
        "the second with it",
        "the second, one flow",
    ]
    return _table(
        head,
        [
            [
                row["primary"],
                row["remedy"],
                f"{row['queue']}",
                f"{row['before']:.2f}",
                f"{row['with_second']:.2f}",
                f"{100 * row['with_second'] / row['before']:.0f} %",
                f"{row['scavenger']:.2f}",
                f"{row['alone']:.2f}",
            ]
            for row in rows
        ],
        left=2,
    )


def recordings(rows: Sequence[Mapping[str, Any]]) -> str:
    """Goodput and delay over recordings, and Verus relative to CUBIC."""
    found = {(row["recording"], row["way"], row["sender"]): row for row in rows}
    files = list(product(RECORDINGS, ("down", "up")))
    table = _table(
        ["recording", *OVER_RECORDINGS],
        [
            [
                f"{name}.{way}",
                *(
                    f"{row['goodput_mbps']:.2f} / {row['delay_p50_ms']:.0f} "
                    f"/ {row['delay_p95_ms']:.0f}"
                    for row in (found[name, way, sender] for sender in OVER_RECORDINGS)
                ),
            ]
            for name, way in files
        ],
    )
    ratios = []
    for sender in list(OVER_RECORDINGS)[2:]:
        pairs = [(found[name, way, sender], found[name, way, "CUBIC"]) for name, way in files]
        goodput = mean(one["goodput_mbps"] / other["goodput_mbps"] for one, other in pairs)
        delay = mean(other["delay_p50_ms"] / one["delay_p50_ms"] for one, other in pairs)
        words = f"{100 * goodput:.0f} % of its goodput at a median delay {delay:.1f} times shorter"
        ratios.append(f"{sender}: {words}")
    return "\n".join([table, "", f"Relative to CUBIC, over these six: {'; '.join(ratios)}."])


def written(text: str, data: Mapping[str, Any]) -> str:
    """The page as it must be with these data."""
    parts = (
        losses(data["losses"]),
        queues(data["queues"]),
        scavengers(data["pairs"]),
        recordings(data["recordings"]),
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
