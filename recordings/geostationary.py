#!/usr/bin/env python3
"""Compares scenarios/geo-satellite.toml with measurements of three geostationary operators.

    python recordings/geostationary.py

Deutschmann et al. (University of Erlangen, github.com/cs7org/ESA-QUICOPTSAT, MIT license) sent
datagrams for 30 s at each of several rates over Konnect, skyDSL and Astra, and objects by QUIC with
CUBIC over the first two. Delays are read off their box plots, to 3 ms one way and to 20 ms
of a round trip; losses are printed in them. No run shows an outage, which 30 s seldom would.
"""

import json
import statistics
from dataclasses import asdict, dataclass

import airtcp

SEEDS = (1, 2)
SECONDS = 120
"""About the time of 300 MB, the largest object."""


@dataclass(frozen=True)
class Figures:
    """A link's rates and delays. None where it was not measured."""

    down_mbps: float
    up_mbps: float
    forward_ms: tuple[float, float, float]
    """Quartiles of the one-way delay down, without a queue."""
    rtt_ms: float
    """Median round trip without load."""
    loss: float
    """Share of datagrams that are lost below the rate, at most."""
    full_queue_ms: float
    """How much the delay down grows where more is sent than the link carries."""
    loaded_rtt_ms: tuple[float, float, float] | None
    """Quartiles of the round trip in a download with CUBIC."""


RECORDED = {
    "Konnect": Figures(47, 5, (313, 319, 325), 620, 0.00005, 0, (640, 730, 890)),
    "skyDSL": Figures(45, 5, (307, 310, 314), 630, 0.017, 900, (1000, 1170, 1440)),
    "Astra": Figures(20, 2, (308, 312, 316), 600, 0.00005, 35, None),
}
"""By operator: rates that got through at saturation, and the return link's of the tariff."""


def of_scenario(name: str) -> Figures:
    """Those of a scenario."""
    scenario = {"duration": f"{SECONDS} s"}
    probe = {
        "flows.kind": "udp",
        "flows.udp.rate": "1 Mbit/s",
        "flows.udp.size": "1000 B",
    }
    light = airtcp.run(name, seed=1, settings=scenario | probe).summary["flows"][0]
    full = airtcp.run(name, seed=1, settings=scenario | probe | {"flows.udp.rate": "30 Mbit/s"})
    pings = {
        "flows.kind": "ping",
        "flows.ping.interval": "203 ms",
        "flows.ping.size": "56 B",
    }
    pinged = airtcp.run(name, seed=1, settings=scenario | pings).summary["flows"][0]
    loaded = [
        airtcp.run(name, seed=seed, settings=scenario, probes=["rtt"], probe_interval_s=0.1)
        for seed in SEEDS
    ]
    rtt_ms = [time for run in loaded for time in run.samples["rtt_ms"].drop_nulls()]
    quartiles = statistics.quantiles(rtt_ms, n=4)
    delay = light["delay_p50_ms"]
    carried = full.summary["flows"][0]["goodput_bps"] / 1e6
    return Figures(
        carried,
        3,
        (delay, delay, light["delay_p95_ms"]),
        pinged["rtt_p50_ms"],
        light["datagrams_lost"] / (SECONDS * 125),
        full.summary["flows"][0]["delay_p95_ms"] - delay,
        (quartiles[0], quartiles[1], quartiles[2]),
    )


def main() -> None:
    """Prints the figures, a line each."""
    for name, one in {"scenario geo-satellite": of_scenario("geo-satellite"), **RECORDED}.items():
        print(f"{name:24} {json.dumps(asdict(one))}")


if __name__ == "__main__":
    main()
