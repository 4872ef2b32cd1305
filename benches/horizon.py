"""Goodput by four definitions, over the instant at which a run ends.

    python benches/horizon.py [--page]

Each link runs once, for 60 s, and is read as if it had ended at each second from 20 s on. A
definition is good if these readings lie on a + b/T: the long-run rate, less the one-time cost of
slow start. The residue is random. Writes docs/measurements/horizon.json and the
table of validation.md.
"""

import argparse
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from sentence_links import Settings, links

import airtcp
from airtcp.pages.marked import put
from airtcp.pages.provenance import stamp

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs" / "measurements"
DATA = DOCS / "horizon.json"
SECONDS, FIRST_END, STEP_S = 60, 20, 0.1
PROBES = ("delivered_bytes", "arrived_bytes", "sent_bytes")
ADDED: Mapping[str, tuple[str, Settings]] = {
    "deep-5mbit": ("lossy-pipe", {"link.queue.packets": 2000, "link.rate": "5 Mbit/s"}),
    "deep-2mbit": ("lossy-pipe", {"link.queue.packets": 1000, "link.rate": "2 Mbit/s"}),
    "cellular": ("cellular", {}),
}
"""Links with deep queues, on which goodput in order swings."""

Samples = Mapping[str, np.ndarray]
"""A probe's readings summed over the flows, from 0 s on."""


def in_order(samples: Samples, end: int) -> float:
    """Bytes that the applications have read."""
    return float(samples["delivered_bytes"][end] / (end * STEP_S))


def arrived(samples: Samples, end: int) -> float:
    """Bytes that have arrived, each counted once."""
    return float(samples["arrived_bytes"][end] / (end * STEP_S))


def slope(samples: Samples, end: int) -> float:
    """Bytes in order, over the time until the last of them came."""
    delivered = samples["delivered_bytes"][: end + 1]
    last = int(np.argmax(delivered == delivered[-1]))
    return float(delivered[-1] / (max(last, 1) * STEP_S))


def drained(samples: Samples, end: int) -> float:
    """Bytes sent, over the time until the last of them is in order."""
    sent = samples["sent_bytes"][end]
    done = np.flatnonzero(samples["delivered_bytes"] >= sent)
    return float(sent / (done[0] * STEP_S)) if len(done) else float("nan")


DEFINITIONS: Mapping[str, Callable[[Samples, int], float]] = {
    "in order": in_order,
    "arrived": arrived,
    "slope of in-order marks": slope,
    "drained": drained,
}


def sampled(scenario: str, settings: Settings) -> Samples:
    """One run of a link, long enough that its end is never sampled."""
    whole = {**settings, "duration": f"{SECONDS + 10} s"}
    run = airtcp.run(scenario, 1, whole, probes=PROBES, probe_interval_s=STEP_S, events=False)
    rows = run.samples.group_by("time_s").sum().sort("time_s")
    return {name: np.concatenate(([0], rows[name].to_numpy())) for name in PROBES}


def swing(samples: Samples, define: Callable[[Samples, int], float]) -> tuple[float, float]:
    """Standard deviation and largest deviation from a + b/T, in per cent of the mean."""
    ends = np.arange(FIRST_END, SECONDS + 1)
    rates = np.array([define(samples, round(end / STEP_S)) for end in ends])
    known = np.isfinite(rates)
    if known.sum() < len(ends) // 2:
        return float("nan"), float("nan")
    terms = np.column_stack([np.ones(known.sum()), 1.0 / ends[known]])
    (level, cost), *_ = np.linalg.lstsq(terms, rates[known], rcond=None)
    left = 100.0 * (rates[known] - level - cost / ends[known]) / rates[known].mean()
    return float(left.std()), float(np.abs(left).max())


def measure() -> dict[str, dict[str, tuple[float, float]]]:
    """Swings of each link by definition."""
    found = {}
    for name, (scenario, settings) in {**links(), **ADDED}.items():
        samples = sampled(scenario, settings)
        found[name] = {key: swing(samples, define) for key, define in DEFINITIONS.items()}
        print(name, found[name], flush=True)
    return found


def summary(found: Mapping[str, Mapping[str, tuple[float, float]]]) -> str:
    """The definitions over all links."""
    lines = [
        f"{len(found)} links, ends from {FIRST_END} to {SECONDS} s; per cent of the rate.",
        "",
        "| definition | median of the standard deviations | 90th percentile | largest deviation |",
        "|---|---:|---:|---:|",
    ]
    for name in DEFINITIONS:
        spread = np.array([one[name][0] for one in found.values()])
        worst = np.nanmax([one[name][1] for one in found.values()])
        middle, high = np.nanpercentile(spread, [50, 90])
        lines.append(f"| {name} | {middle:.2f} | {high:.2f} | {worst:.1f} |")
    return "\n".join(lines)


def main() -> None:
    """Measures, and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true", help="the page from the data alone")
    if not parser.parse_args().page:
        DATA.write_text(json.dumps(measure(), indent=1) + "\n")
    found = json.loads(DATA.read_text())
    page = DOCS / "validation.md"
    page.write_text(put(page.read_text(), "horizon", f"\n{summary(found)}\n"))
    stamp(ROOT, "horizon")


if __name__ == "__main__":
    main()
