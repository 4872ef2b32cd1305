#!/usr/bin/env python3
"""Runs ``wlan_aggregating.cc`` in all settings that tests compare with, and writes the results.

    benches/ns3/wlan_aggregating.py [PART ...]

``tests/oracles/ns3-aggregating.jsonl`` has one line a run; each names the program by its hash, and
a test fails when the program has changed since. A part (udp, tcp, ping) given by name replaces only
its lines. TCP's runs are written one by one, and completed runs of this program are not repeated:
an interrupted recording resumes. Takes three quarters of an hour
on one core with Debian's ns-3.37.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import peers  # noqa: E402  (in the parent folder)

SOURCE = HERE / "wlan_aggregating.cc"
RESULTS = HERE.parent.parent / "tests" / "oracles" / "ns3-aggregating.jsonl"

HT = {"standard": "n", "mode": "HtMcs7", "width": 20}
VHT = {"standard": "ac", "mode": "VhtMcs8", "width": 80}
HE = {"standard": "ax", "mode": "HeMcs11", "width": 80}

Settings = dict[str, Any]

SEGMENTS = 300
"""Segments in flight over all TCP flows: the channel is always busy, the queue of 500 never full.
The channel is to be compared, and not two senders' reactions to hundreds of losses at once."""


def udp() -> Iterator[Settings]:
    """Saturated datagrams: stations, losses, block ACK requests, modes."""
    common = {"traffic": "udp", "direction": "up", "warm-up": 1, "seconds": 10}
    for requests in (0, 1):
        for stations in (1, 2, 5, 10, 20):
            rate = 100 / stations
            yield {**HT, **common, "stations": stations, "requests": requests, "rate": rate}
            if not requests:
                yield {**HT, **common, "stations": stations, "aggregation": 0, "rate": rate}
    for loss in (0.05, 0.1, 0.2, 0.3, 0.5):
        for requests in (0, 1):
            yield {**HT, **common, "loss": loss, "requests": requests}
    short = {**common, "warm-up": 0.5, "seconds": 2}
    for mode in (0, 2, 4):
        yield {**HT, **short, "mode": f"HtMcs{mode}", "seconds": 10}
    yield {**VHT, **short, "rate": 500}
    for window in (64, 256):
        yield {**HE, **short, "window": window, "rate": 800}
        yield {**HE, **short, "window": window, "rate": 400, "stations": 5}


def tcp() -> Iterator[Settings]:
    """TCP of one and five stations, up and down, with and without aggregation and losses.

    Seed by seed through all settings: whenever a recording is interrupted, each has as many runs.
    """
    for seed in range(1, 11):
        for aggregation in (1, 0):
            for stations in (5, 1):
                for direction in ("up", "down"):
                    for loss in (0.1, 0):
                        yield {
                            **HT,
                            "traffic": "tcp",
                            "direction": direction,
                            "stations": stations,
                            "aggregation": aggregation,
                            "loss": loss,
                            "segments": SEGMENTS // stations,
                            "seconds": 30,
                            "seed": seed,
                        }


def ping() -> Iterator[Settings]:
    """Echo requests to a station while others load the channel."""
    common = {**HT, "traffic": "ping", "warm-up": 3, "seconds": 10}
    for seed in range(1, 11):
        for stations in (2, 5):
            yield {
                **common,
                "background": "tcp",
                "stations": stations,
                "segments": SEGMENTS // (stations - 1),
                "seed": seed,
            }
            rate = 100 / (stations - 1)
            saturated = {"background": "udp", "direction": "up", "rate": rate}
            yield {**common, **saturated, "stations": stations, "seed": seed}
        half = {"background": "udp", "direction": "down", "rate": 30}
        yield {**common, **half, "stations": 2, "seed": seed}
    # Here a run's median varies by half, and now and then by a second: whoever collides again and
    # again waits ever longer.
    for seed in range(11, 21):
        saturated = {"background": "udp", "direction": "up", "rate": 25}
        yield {**common, **saturated, "stations": 5, "seed": seed}


PARTS = {"udp": udp, "tcp": tcp, "ping": ping}


PRINTED_AS = {"seconds": "simulated_s", "warm-up": "warm_up_s"}


def is_of(line: Settings, settings: Settings, digest: str) -> bool:
    """Whether a line is a run of this program in these settings, as far as it records them."""
    return line["program"] == digest and all(
        line.get(PRINTED_AS.get(key, key)) == value for key, value in settings.items()
    )


def main() -> None:
    """Runs the parts that are named, all by default."""
    parts = sys.argv[1:] or list(PARTS)
    program = peers.ns3_program("wlan_aggregating")
    digest = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]
    known = (
        [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []
    )
    lines = [line for line in known if line["traffic"] not in parts]
    for part in parts:
        for settings in PARTS[part]():
            # The load offered by datagrams is not in a line: those are run again.
            line = next((line for line in known if is_of(line, settings, digest)), None)
            if line is None:
                flags = [f"--{key}={value}" for key, value in settings.items()]
                line = {**peers.printed([str(program), *flags]), "program": digest}
                print(json.dumps(line), file=sys.stderr)
            lines.append(line)
            if part == "tcp":
                write(lines)
    write(lines)


def write(lines: list[Settings]) -> None:
    """Writes the runs, by kind of traffic."""
    ordered = sorted(lines, key=lambda line: list(PARTS).index(line["traffic"]))
    RESULTS.write_text("".join(json.dumps(line) + "\n" for line in ordered))


if __name__ == "__main__":
    main()
