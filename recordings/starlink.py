#!/usr/bin/env python3
"""Writes the synthetic downlink of scenarios/starlink.toml, and compares recordings with it.

    python recordings/starlink.py                             # writes scenarios/traces/starlink.*
    python recordings/starlink.py --against bw.txt delay.txt  # a recording in LeoReplayer's form

The model has the figures of LeoCC's example recording of 120 s (Lai et al., SIGCOMM 2025): each
15 s the terminal gets another beam, with another rate; the link stops for 60 to 135 ms; within a
beam the rate of 100 ms varies by an eighth, and the delay by 1.5 ms. Nothing of the
recording is in the files.
"""

import argparse
import gzip
import itertools
import random
from collections.abc import Sequence
from pathlib import Path
from statistics import NormalDist

TRACES = Path(__file__).resolve().parents[1] / "scenarios" / "traces"
SECONDS = 60
BEAM_S, FIRST_BEAM_S = 15.0, 8.69
"""Time of a beam, and when the first one changes."""
MEAN_MBPS = 48.7
BEAM_SPREAD = 0.2
"""Standard deviation of the beams' rates over their mean."""
SPREAD, STEP_MS, MEMORY = 0.125, 100, 0.4
"""The same of a step within a beam, its length, and the correlation of one with the next."""
STOP_MS = (59.0, 135.0)
BASE_MS, JITTER_MS, DELAY_STEP_MS, DELAY_MEMORY = 10.5, 1.5, 10, 0.72
FLOOR_MS = 7.0
SEED = 15


def beams(draw: random.Random) -> list[tuple[float, float, float]]:
    """Start and rate of each beam in seconds and Mbit/s, and the stop in front of it in ms.

    Few beams: their rates and stops are equally likely quantiles, in a random order.
    """
    starts = [0.0]
    while starts[-1] < SECONDS:
        starts.append(FIRST_BEAM_S + BEAM_S * (len(starts) - 1))
    count = len(starts) - 1
    shares = [(number + 0.5) / count for number in range(count)]
    rate_of = NormalDist(MEAN_MBPS, BEAM_SPREAD * MEAN_MBPS).inv_cdf
    rates = draw.sample([rate_of(share) for share in shares], count)
    shortest, longest = STOP_MS
    stops = draw.sample([shortest + share * (longest - shortest) for share in shares], count)
    return list(zip(starts[:-1], rates, [0.0, *stops[1:]], strict=True))


def opportunities(draw: random.Random) -> list[int]:
    """Milliseconds in which 1500 bytes may pass, in mahimahi's form."""
    every, times, held, wave = beams(draw), [], 0.0, 0.0
    for ms in range(1, 1000 * SECONDS + 1):
        start, rate, stop_ms = next(one for one in reversed(every) if 1e3 * one[0] <= ms)
        if ms % STEP_MS == 1:
            innovation = (1 - MEMORY**2) ** 0.5 * draw.gauss(0, 1)
            wave = MEMORY * wave + innovation
        if ms - 1e3 * start < stop_ms:
            continue
        held += 1e3 * rate * max(1 + SPREAD * wave, 0.1)
        while held >= 12_000:
            held -= 12_000
            times.append(ms)
    return times


def delays(draw: random.Random) -> list[int]:
    """One-way delay in whole milliseconds, each 10 ms."""
    wave, found = 0.0, []
    for _ in range(1000 * SECONDS // DELAY_STEP_MS):
        wave = DELAY_MEMORY * wave + (1 - DELAY_MEMORY**2) ** 0.5 * draw.gauss(0, 1)
        found.append(round(max(BASE_MS + JITTER_MS * wave, FLOOR_MS)))
    return found


def synthetic() -> dict[str, bytes]:
    """The files by name, before compression."""
    draw = random.Random(SEED)
    trace = "".join(f"{ms}\n" for ms in opportunities(draw))
    rows, last = ["time_ms,delay_ms,loss"], None
    for number, delay_ms in enumerate(delays(draw)):
        if delay_ms != last:
            # LeoReplayer's constant for the downlink.
            rows.append(f"{DELAY_STEP_MS * number},{delay_ms},0.0001")
        last = delay_ms
    return {"starlink.down": trace.encode(), "starlink.csv": ("\n".join(rows) + "\n").encode()}


def quantiles(values: Sequence[float], shares: Sequence[float]) -> list[float]:
    """Values at these shares of the sorted list."""
    ordered = sorted(values)
    return [ordered[min(int(share * len(ordered)), len(ordered) - 1)] for share in shares]


def figures(times: Sequence[int], delay_ms: Sequence[float]) -> dict[str, float]:
    """Figures of a trace of opportunities and a series of delays."""
    sums = [0.0] * (times[-1] // STEP_MS + 1)
    for ms in times:
        sums[ms // STEP_MS] += 12.0 / STEP_MS
    rates = sums[:-1]
    mean = 12.0 * len(times) / times[-1]
    stops = [b - a for a, b in itertools.pairwise(times) if b - a >= 50]
    low, middle, high = quantiles(rates, (0.05, 0.5, 0.95))
    first, median, last = quantiles(delay_ms, (0.05, 0.5, 0.95))
    return {
        "mean rate, Mbit/s": mean,
        "rate of 100 ms, 5 %": low,
        "rate of 100 ms, median": middle,
        "rate of 100 ms, 95 %": high,
        "stops of 50 ms and more, a minute": 60_000 * len(stops) / times[-1],
        "mean stop, ms": sum(stops) / max(len(stops), 1),
        "delay, ms, 5 %": first,
        "delay, ms, median": median,
        "delay, ms, 95 %": last,
    }


def of_synthetic() -> dict[str, float]:
    """Figures of the synthetic link."""
    draw = random.Random(SEED)
    return figures(opportunities(draw), delays(draw))


def main() -> None:
    """Writes the files, or compares a recording with them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", nargs=2, type=Path, metavar=("RATES", "DELAYS"))
    arguments = parser.parse_args()
    ours = of_synthetic()
    if arguments.against is None:
        files = synthetic()
        compressed = gzip.compress(files["starlink.down"], mtime=0)
        (TRACES / "starlink.down.gz").write_bytes(compressed)
        (TRACES / "starlink.csv").write_bytes(files["starlink.csv"])
        theirs = {}
    else:
        rates, delays_file = (path.read_text("utf-8").split() for path in arguments.against)
        theirs = figures([int(word) for word in rates], [float(word) for word in delays_file])
    for name, value in ours.items():
        print(f"{name:35} {value:8.1f} {theirs.get(name, float('nan')):8.1f}")


if __name__ == "__main__":
    main()
