"""How fast an upload over 802.11b is simulated, with one station and with several."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

from peers import Upload

STATIONS = (1, 5, 20)
# Long enough to be timed, short enough for ns-3.
SECONDS = {"airtcp": 600.0, "ns-3": 5.0, "ns-2": 20.0}
TARGETS = {"ns-3": 100.0, "ns-2": 20.0}


def measure(
    peers: dict[str, Any], repetitions: int, progress: Callable[[str], None]
) -> dict[str, dict[int, dict[str, float]]]:
    """For each peer and number of stations: packets a second (median), goodput (mean)."""
    rates: dict[tuple[str, int], list[float]] = {}
    goodputs: dict[tuple[str, int], list[float]] = {}
    for repetition in range(repetitions):
        for stations in STATIONS:
            for name, peer in peers.items():
                progress(f"upload: round {repetition + 1} of {repetitions}, {stations}, {name}")
                result = peer.upload(Upload(stations, SECONDS[name], repetition + 1))
                rate = result["delivered_packets"] / result["wall_s"]
                rates.setdefault((name, stations), []).append(rate)
                goodputs.setdefault((name, stations), []).append(result["goodput_bps"])
    progress("")
    return {
        name: {
            stations: {
                "packets_per_second": statistics.median(rates[name, stations]),
                "goodput_bps": statistics.fmean(goodputs[name, stations]),
            }
            for stations in STATIONS
        }
        for name in peers
    }
