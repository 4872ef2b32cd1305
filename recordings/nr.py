#!/usr/bin/env python3
"""Compares the downlink of scenarios/nr.toml with recordings of a commercial 5G network.

    python recordings/nr.py                        # with the recordings that are known
    python recordings/nr.py --against B_2020*.csv  # with logs of G-NetTrack Pro

The recordings are Raca's (MMSys 2020, github.com/uccmisl/5Gdataset): a phone that stands still in
Cork downloads file after file over 3.6 GHz, with LTE as anchor. The repository is under GPL-3;
nothing of it is here but these figures. Each row is a second. Every 14 s the program pings, and the
download pauses: the rows near a ping are left out of the rates, and its times are those without
load.
"""

import argparse
import csv
import itertools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import airtcp

SECONDS = 30
SEEDS = (1, 2, 3)
OFFERED = "500 Mbit/s"
"""More than a user gets next to others; alone, a user can get more."""
PING_S = 0.203
"""Prime to the cell's periods."""
ROWS_NEAR = 2
OUTAGE_MBPS = 1.0


@dataclass(frozen=True)
class Figures:
    """A downlink's rate by the second, and its round trip without load."""

    mean_mbps: float
    low: float
    """The rate that 5 % of the seconds are below, over the mean; then median and 95 %."""
    median: float
    high: float
    deviation: float
    """Standard deviation of the rate over the mean."""
    outages: float
    """Share of the seconds with less than 1 Mbit/s."""
    rtt_ms: tuple[float, float, float]
    """Quantiles of the round trip: 5 %, median, 95 %."""


RECORDED = {
    "16 December 2019, 2143 rows": Figures(65.6, 0.00, 0.59, 3.40, 1.09, 0.128, (73, 75, 119)),
    "16 January 2020, 3322 rows": Figures(88.9, 0.07, 0.63, 2.89, 0.96, 0.024, (66, 68, 72)),
    "13 February 2020, 3148 rows": Figures(56.1, 0.14, 0.36, 4.22, 1.22, 0.024, (71, 73, 82)),
    "14 February 2020, 1013 rows": Figures(160.8, 0.12, 1.17, 1.50, 0.45, 0.007, (65, 67, 71)),
    "27 February 2020, 5991 rows": Figures(95.7, 0.01, 0.70, 2.47, 0.85, 0.059, (66, 67, 95)),
}
"""By day and length. On all days but 14 February most seconds have less than 70 Mbit/s."""


def quantile(values: Sequence[float], share: float) -> float:
    """The value at this share of the sorted list."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def figures(mbps: Sequence[float], rtt_ms: Sequence[float]) -> Figures:
    """Figures of rates by the second, and of round trips."""
    mean = statistics.fmean(mbps)
    low, median, high = (quantile(mbps, share) / mean for share in (0.05, 0.5, 0.95))
    first, middle, last = (quantile(rtt_ms, share) for share in (0.05, 0.5, 0.95))
    outages = sum(rate < OUTAGE_MBPS for rate in mbps) / len(mbps)
    deviation = statistics.pstdev(mbps) / mean
    return Figures(mean, low, median, high, deviation, outages, (first, middle, last))


def of_log(path: Path) -> Figures:
    """Those of a log of G-NetTrack Pro."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    pinged = [number for number, row in enumerate(rows) if row["PINGAVG"] not in ("", "-")]
    near = {number + step for number in pinged for step in range(-ROWS_NEAR, ROWS_NEAR + 1)}
    mbps = [
        float(row["DL_bitrate"]) / 1e3
        for number, row in enumerate(rows)
        if number not in near and row["State"] == "D"
    ]
    return figures(mbps, [float(rows[number]["PINGAVG"]) for number in pinged])


def of_scenario(name: str) -> Figures:
    """Those of a scenario: datagrams beyond its rate, and pings alone."""
    mbps: list[float] = []
    rtt_ms: list[float] = []
    for seed in SEEDS:
        run = airtcp.run(
            name,
            seed=seed,
            settings={
                "flows.kind": "udp",
                "flows.udp.rate": OFFERED,
                "duration": f"{SECONDS} s",
            },
            probes=["arrived_bytes"],
            probe_interval_s=1.0,
        )
        arrived = run.samples["arrived_bytes"].to_list()
        mbps += [8e-6 * (after - before) for before, after in itertools.pairwise(arrived)]
        run = airtcp.run(
            name,
            seed=seed,
            settings={
                "flows.kind": "ping",
                "flows.ping.interval": f"{1e3 * PING_S:g} ms",
                "flows.ping.size": "56 B",
                "duration": f"{SECONDS} s",
            },
        )
        flow = run.summary["flows"][0]
        rtt_ms += [flow["min_rtt_ms"], flow["rtt_p50_ms"], flow["rtt_p95_ms"]]
    return figures(mbps, rtt_ms)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--against", type=Path, nargs="+", metavar="LOG")
    against = parser.parse_args().against
    others = RECORDED if against is None else {path.name: of_log(path) for path in against}
    print(f"{'':28} Mbit/s   5 %  50 %  95 %  1 s   outages  ms: 5, 50, 95 %")
    rows = others if against else {"scenario nr": of_scenario("nr"), **others}
    for name, one in rows.items():
        shares = f"{one.low:5.2f} {one.median:5.2f} {one.high:5.2f} {one.deviation:5.2f}"
        times = " ".join(f"{time:5.0f}" for time in one.rtt_ms)
        print(f"{name:28} {one.mean_mbps:6.1f} {shares} {one.outages:7.1%}  {times}")


if __name__ == "__main__":
    main()
