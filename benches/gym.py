#!/usr/bin/env python3
"""Measures the steps a second of the environments, on one core and on all.

Run it with the project's Python: ``.venv/bin/python benches/gym.py``; with ``--docs`` it also
writes the table to docs/guides/learned-control.md. A step is a monitor interval of 50 ms and more;
each packet of it costs about a microsecond. Actions are zero, so that CUBIC fills the link.
``--ns3-gym PYTHON TREE`` measures ns3-gym in the same run (benches/ns3_gym.py).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import time
from pathlib import Path

import numpy as np

from airtcp.gym import LinkEnv, LinkVectorEnv, named
from airtcp.pages.marked import put
from airtcp.pages.provenance import stamp

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "guides" / "learned-control.md"

REPETITIONS = 5
STEPS = 3000
INTERVAL_S = 0.05


def link(rate: str) -> dict[str, object]:
    """A link of 25 ms each way, with an episode for all steps."""
    return {
        "link.rate": rate,
        "link.delay": "25 ms",
        "link.loss.rate": 0,
        "link.queue.packets": 10,
        "duration": f"{STEPS} s",
    }


def alone(rate: str) -> tuple[float, float]:
    """Steps a second of processor time in one environment, and the mean length of a step in ms."""
    env = LinkEnv("lossy-pipe", settings=link(rate), least_interval_s=INTERVAL_S)
    action = np.zeros(1, dtype=np.float32)
    env.reset(seed=1)
    lengths = 0.0
    begin = time.process_time()
    for _ in range(STEPS):
        observation, *_ = env.step(action)
        lengths += named(observation)["interval_ms"]
    return STEPS / (time.process_time() - begin), lengths / STEPS


def together(rate: str, count: int) -> float:
    """Steps a second of real time in `count` environments, on all cores."""
    many = LinkVectorEnv(count, "lossy-pipe", settings=link(rate), least_interval_s=INTERVAL_S)
    actions = np.zeros((count, 1), dtype=np.float32)
    many.reset(seed=1)
    begin = time.perf_counter()
    for _ in range(STEPS // count):
        many.step(actions)
    return STEPS // count * count / (time.perf_counter() - begin)


def table() -> str:
    """The table in Markdown."""
    cores = len(os.sched_getaffinity(0))
    lines = [
        f"| link | a step, ms | steps a second, one core | 16 at once, {cores} cores |",
        "|---|---:|---:|---:|",
    ]
    for rate in ("10 Mbit/s", "100 Mbit/s"):
        each = [alone(rate) for _ in range(REPETITIONS)]
        all_cores = [together(rate, 16) for _ in range(REPETITIONS)]
        steps = statistics.median(steps for steps, _ in each)
        length = statistics.median(length for _, length in each)
        lines.append(
            f"| {rate} | {length:.0f} | {steps:,.0f} | {statistics.median(all_cores):,.0f} |"
        )
    return "\n".join(lines)


def beside_ns3_gym(python: str, tree: str) -> str:
    """Steps a second of ns3-gym's TCP example and of ours, on one link, in words."""
    program = ["benches/ns3_gym.py", tree]
    done = subprocess.run([python, *program], cwd=ROOT, check=True, stdout=subprocess.PIPE)
    theirs = json.loads(done.stdout)
    commit = subprocess.run(
        ["git", "-C", tree, "rev-parse", "--short=9", "HEAD"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    ns3 = subprocess.run(
        ["pkg-config", "--modversion", "ns3-core"], check=True, capture_output=True, text=True
    ).stdout.strip()
    steps = theirs["steps"] / theirs["cpu_s"]
    ours, _ = alone("10 Mbit/s")
    return (
        f"ns3-gym (commit {commit}, with ns-3 {ns3}) takes {steps:,.0f} steps a second of one core "
        f"on the link of 10 Mbit/s, and airtcp {ours:,.0f} in the same run, "
        f"{ours / steps:,.0f} times as many: its TCP example (`TcpRlTimeBased`) with a fixed "
        f"window, {theirs['goodput_mbps']:.1f} Mbit/s of goodput, a round trip of 50 ms and steps "
        "of 50 ms, in the processor time of both processes."
    )


def main() -> None:
    """Prints the table, and writes it with --docs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--docs", action="store_true", help="writes the page")
    parser.add_argument("--ns3-gym", nargs=2, metavar=("PYTHON", "TREE"), help="only beside it")
    given = parser.parse_args()
    if given.ns3_gym:
        mark, measured = "ns3-gym", beside_ns3_gym(*given.ns3_gym)
    else:
        mark, measured = "environments", table()
    print(measured)
    if given.docs:
        PAGE.write_text(put(PAGE.read_text("utf-8"), mark, measured), "utf-8")
        stamp(ROOT, mark)


if __name__ == "__main__":
    main()
