"""Paper 2's delay injection in ns-3 and in airtcp: two programs that share only the paper.

    .venv/bin/python benches/injection.py           # prints the table
    .venv/bin/python benches/injection.py --docs  # and writes it into papers-real.md

A wired delay of 20 ms, segments of 1000 B, an acknowledgment for each, data frames counted on the
channel, the timer and go-back-N of ns-2. Without ns-3 it says so and ends with status 0.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from peers import ROOT, AbsentError, ns3_program

import airtcp
from airtcp.pages.provenance import stamp
from airtcp.papers.estimates import gain, gain_text

DOCS = ROOT / "docs" / "measurements" / "papers-real.md"
BEGIN, END = "<!-- injection: begin -->", "<!-- injection: end -->"
DAMAGED = (5, 10, 15, 20, 25, 30)
SECONDS = 60


@dataclass(frozen=True)
class Reading:
    """A parameter that the paper leaves open, set alike in both programs."""

    name: str
    settings: dict[str, Any]
    arguments: tuple[str, ...]


READINGS = (
    Reading(
        "window 20, queue 50",
        {"tcp.max_window": 20, "wlan.queue.packets": 50},
        ("--window=20", "--queue=50", "--threshold=20"),
    ),
    Reading(
        "window 200, queue 500",
        {
            "tcp.max_window": 200,
            "wlan.queue.packets": 500,
            "tcp.initial_ssthresh": "unlimited",
        },
        ("--window=200", "--queue=500", "--threshold=0"),
    ),
)
SETTINGS = {
    "duration": f"{SECONDS} s",
    "wired.delay": "20 ms",
    "tcp.mss": 1000,
    "wlan.loss.counted": "channel",
}


def ours(reading: Reading, damaged: int, inject: bool, seed: int) -> tuple[float, float]:
    """Goodput in bit/s and timeouts a minute."""
    settings = {**SETTINGS, **reading.settings, "wlan.loss.lost": damaged}
    remedy = "inf-retry+delay-injection" if inject else "inf-retry"
    scenario = airtcp.load_scenario(ROOT / "papers/delay-injection/upload.toml", settings)
    summary = airtcp.run(scenario.with_remedies(remedy), seed=seed).summary
    timeouts = sum(flow["timeouts"] for flow in summary["flows"])
    return summary["goodput_bps"], timeouts * 60 / SECONDS


def theirs(
    program: Path, reading: Reading, damaged: int, inject: bool, seed: int
) -> tuple[float, float]:
    """The same of ns-3. Unlimited retries are a thousand attempts."""
    command = [
        *(str(program), "--retry=1000", f"--inject={int(inject)}", f"--damaged={damaged}"),
        *(f"--seconds={SECONDS}", f"--seed={seed}", *reading.arguments),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)
    return result["goodput_bps"], result["timeouts"] * 60 / SECONDS


def table(program: Path, seeds: int) -> str:
    """Gain of the injection over unlimited retries, and timeouts a minute without and with it.

    Gains are mean log ratios over the seeds with their 95 % intervals.
    """
    lines = [
        "| reading | frames damaged | airtcp | ns-3 | timeouts a minute, airtcp | ns-3 |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    numbers = range(1, seeds + 1)
    with ThreadPoolExecutor() as pool:
        for reading in READINGS:
            for damaged in DAMAGED:
                runs = []
                for inject in (False, True):
                    own = pool.map(partial(ours, reading, damaged, inject), numbers)
                    other = pool.map(partial(theirs, program, reading, damaged, inject), numbers)
                    runs.append((list(own), list(other)))
                (own_off, ns3_off), (own_on, ns3_on) = runs
                cells = [
                    reading.name,
                    f"{damaged} %",
                    gain_text(gain([one for one, _ in own_off], [one for one, _ in own_on])),
                    gain_text(gain([one for one, _ in ns3_off], [one for one, _ in ns3_on])),
                    *(
                        f"{statistics.fmean(t for _, t in off):.0f} → "
                        f"{statistics.fmean(t for _, t in on):.0f}"
                        for off, on in ((own_off, own_on), (ns3_off, ns3_on))
                    ),
                ]
                lines.append("| " + " | ".join(cells) + " |")
                print(lines[-1], file=sys.stderr)
    return "\n".join(lines)


def main() -> None:
    """Runs both programs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=6, help="seeds of each program (default 6)")
    parser.add_argument(
        "--docs", action="store_true", help="writes the table into docs/measurements/papers-real.md"
    )
    arguments = parser.parse_args()
    try:
        program = ns3_program("delay_injection")
    except AbsentError as absent:
        print(f"skipped: {absent}")
        return
    found = table(program, arguments.seeds)
    print(found)
    if arguments.docs:
        text = DOCS.read_text(encoding="utf-8")
        before, _, rest = text.partition(BEGIN)
        _, _, after = rest.partition(END)
        DOCS.write_text(f"{before}{BEGIN}\n{found}\n{END}{after}", encoding="utf-8")
        stamp(ROOT, "injection")


if __name__ == "__main__":
    main()
