"""Measures the bound of Copa on cellular links, and writes it in docs/measurements/rivals.md.

python pages/write_copa.py --run   # runs everything
python pages/write_copa.py         # only the table, from docs/measurements/copa.json
"""

import argparse
import json
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean, median
from typing import Any

import airtcp
from airtcp._core import engine_version
from airtcp.pages.marked import put
from airtcp.pages.provenance import stamp
from airtcp.pages.steady_cells import settings_of

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "measurements" / "rivals.md"
DATA = PAGE.with_name("copa.json")
MARK = "rivals-copa"

SEGMENT_BITS = 1448 * 8
RUN_S, SKIPPED_S = 20, 5
MINIMUM_AGE_S = 10.0
"""Time for which a minimum round trip counts (Arun & Balakrishnan §2.1)."""
CASES = (
    ("lte", "copa:competes=0", 0.5),
    ("lte", "copa", 0.5),
    ("nr", "copa:competes=0", 0.5),
    ("nr", "copa", 0.5),
)


def differences_ms(round_trips: Iterable[tuple[float, float]]) -> list[float]:
    """RTTstanding less the minimum, at each sample of time in s and round trip in ms."""
    smoothed_ms = None
    standing: deque[tuple[float, float]] = deque()
    least: deque[tuple[float, float]] = deque()
    found = []
    for now, rtt_ms in round_trips:
        smoothed_ms = rtt_ms if smoothed_ms is None else smoothed_ms + (rtt_ms - smoothed_ms) / 8
        for window, age_s in ((standing, smoothed_ms / 2000), (least, MINIMUM_AGE_S)):
            while window and window[-1][1] >= rtt_ms:
                window.pop()
            window.append((now, rtt_ms))
            while window[0][0] < now - age_s:
                window.popleft()
        if now >= SKIPPED_S:
            found.append(standing[0][1] - least[0][1])
    return found


def measured(scenario: str, remedy: str, delta: float) -> dict[str, Any]:
    """One run: the delay that Copa takes for a queue, the rate that it allows, and the queue."""
    settings = settings_of(scenario, RUN_S)
    probes = ("queue",)
    run = airtcp.run(scenario, settings=settings, remedies=[remedy], probes=probes, rtts=True)
    times = run.rtts.select("time_s", "rtt_ms").iter_rows()
    difference_ms = median(differences_ms((now, rtt) for now, rtt in times))
    return {
        "scenario": scenario,
        "remedy": remedy,
        "goodput_mbps": round(run.summary["goodput_bps"] / 1e6, 2),
        "difference_ms": round(difference_ms, 1),
        "target_mbps": round(SEGMENT_BITS / (delta * difference_ms) / 1e3, 2),
        "queue_packets": round(mean(run.samples["queue_packets"]), 2),
    }


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """A row for each run."""
    lines = [
        "| scenario | remedy | RTTstanding less the minimum, median (ms) | target (Mbit/s) "
        "| goodput (Mbit/s) | packets in the queue, mean |",
        "|---|---|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {row['scenario']} | {row['remedy']} | {row['difference_ms']:.1f} "
        f"| {row['target_mbps']:.2f} | {row['goodput_mbps']:.2f} | {row['queue_packets']:.2f} |"
        for row in rows
    ]
    return "\n".join(lines)


def main() -> None:
    """Runs everything if asked to, and writes the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--run", action="store_true", help="run the simulations")
    runs = parser.parse_args().run
    if runs:
        rows = [measured(*case) for case in CASES]
        text = json.dumps({"engine": engine_version, "rows": rows}, indent=1)
        DATA.write_text(text + "\n", encoding="utf-8")
    data = json.loads(DATA.read_text("utf-8"))
    PAGE.write_text(put(PAGE.read_text("utf-8"), MARK, table(data["rows"])), encoding="utf-8")
    if runs:
        stamp(ROOT, MARK)


if __name__ == "__main__":
    main()
