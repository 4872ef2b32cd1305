#!/usr/bin/env python3
"""Compares the downlink of scenarios/lte.toml with recordings of a saturated link.

    python recordings/cellular.py                    # with the recordings that are known
    python recordings/cellular.py --against x.down   # with a trace in mahimahi's form

Rates of 100 ms and of a second as shares of the mean, which differs by operator, bandwidth and
neighbours. The recordings are mahimahi's (Winstein et al., NSDI 2013), of phones in New England;
nothing of them is here but these figures, and no licence names them.
"""

import argparse
import itertools
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import airtcp

SECONDS = 60
STEP_S = 0.1
SEEDS = (1, 2, 3, 4)
OFFERED = "100 Mbit/s"
"""More than the link carries."""


@dataclass(frozen=True)
class Figures:
    """A downlink's rate."""

    mean_mbps: float
    low: float
    """The rate of 100 ms that 5 % are below, over the mean; then median and 95 %."""
    median: float
    high: float
    deviation: float
    """Standard deviation of a second's rate over the mean."""
    memory: float
    """Correlation of a second's rate with the next second's."""


RECORDED = {
    "TMobile-LTE-short.down, 139 s": Figures(16.7, 0.04, 0.86, 2.36, 0.59, 0.70),
    "Verizon-LTE-short.down, 140 s": Figures(5.0, 0.14, 0.86, 2.43, 0.64, 0.83),
    "ATT-LTE-driving.down, 786 s": Figures(5.2, 0.0, 1.02, 1.95, 0.56, 0.92),
}
"""By file of the set (github.com/ravinet/mahimahi, traces/)."""


def figures(mbps: Sequence[float]) -> Figures:
    """Figures of rates of `STEP_S`."""
    mean = statistics.fmean(mbps)
    ordered = sorted(mbps)
    low, median, high = (ordered[int(share * len(ordered))] / mean for share in (0.05, 0.5, 0.95))
    steps = round(1 / STEP_S)
    seconds = [
        statistics.fmean(mbps[start : start + steps])
        for start in range(0, len(mbps) - steps + 1, steps)
    ]
    memory = statistics.correlation(seconds[:-1], seconds[1:])
    return Figures(mean, low, median, high, statistics.pstdev(seconds) / mean, memory)


def of_scenario(name: str, settings: Mapping[str, object] | None = None) -> Figures:
    """A scenario's with further settings, the flow made datagrams beyond its rate."""
    found: list[float] = []
    for seed in SEEDS:
        run = airtcp.run(
            name,
            seed=seed,
            settings={
                "flows.kind": "udp",
                "flows.udp.rate": OFFERED,
                "duration": f"{SECONDS} s",
                **(settings or {}),
            },
            probes=["arrived_bytes"],
            probe_interval_s=STEP_S,
        )
        arrived = run.samples["arrived_bytes"].to_list()
        pairs = itertools.pairwise(arrived)
        # Half a second for the queue to fill.
        found += [8e-6 * (after - before) / STEP_S for before, after in pairs][5:]
    return figures(found)


def of_trace(path: Path) -> Figures:
    """A trace's, in mahimahi's form."""
    sums: dict[int, float] = {}
    times = [int(word) for word in path.read_text("utf-8").split()]
    for ms in times:
        step = ms // round(1e3 * STEP_S)
        sums[step] = sums.get(step, 0.0) + 0.012 / STEP_S
    return figures([sums.get(step, 0.0) for step in range(times[-1] // round(1e3 * STEP_S))])


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--against", type=Path, metavar="TRACE")
    against = parser.parse_args().against
    others = RECORDED if against is None else {against.name: of_trace(against)}
    print(f"{'':32} Mbit/s   5 %  50 %  95 %  1 s  next")
    for name, one in {"scenario lte": of_scenario("lte"), **others}.items():
        shares = f"{one.low:5.2f} {one.median:5.2f} {one.high:5.2f}"
        seconds = f"{one.deviation:5.2f} {one.memory:5.2f}"
        print(f"{name:32} {one.mean_mbps:6.1f} {shares} {seconds}")


if __name__ == "__main__":
    main()
