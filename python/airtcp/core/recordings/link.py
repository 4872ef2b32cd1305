"""Replays a ping log as a link: delay between probes, gaps, stops, isolated losses.

A packet's delay is that at its time of sending, half a round trip each way, and packets are not
reordered. Unanswered runs are gaps in which everything is lost; isolated losses are a rate. Packets
answered all at once waited for the end of a stop. The log has no rate: one is given.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import ceil, sqrt
from pathlib import Path

import numpy as np

from airtcp._core import ScenarioError
from airtcp.core.recordings.events import Events, Spans
from airtcp.core.recordings.log import PingLog, Reals

QUEUE_MS = 200
"""Length of the assumed queue, which pings do not show: between an access point's and a
router's.
"""
DELAYS = "delays.csv"
STOPS = "stops.csv"
SECONDS = 60
FINEST_S = 0.002
"""Step size of a delay that falls between two probes."""
MAX_STEPS = 16
MAX_SLEEP_S = 120.0
"""Period after which the recording of a radio with only power save repeats."""
SLEEP_STEPS = 16
"""Number of steps in which a wait for a beacon falls."""
FEWEST_SLEEP_STEPS = 4
MAX_SLEEP_ROWS = 60_000
"""Maximum number of rows: with gaps or stops the whole log is replayed, in coarser steps if
needed.
"""
HOLE_INTERVALS = 10
MIN_HOLE_S = 10.0
"""Minimum time without a probe that counts as not recorded, and is skipped."""


class Reading(StrEnum):
    """Interpretation of a run of unanswered probes, which a log leaves open."""

    LOST = "everything was lost"
    WAITED = "everything waited"


@dataclass(frozen=True)
class PlayedLink:
    """A log's link as a scenario with its files."""

    toml: str
    files: Mapping[str, str | bytes]
    """Contents by file name, relative to the scenario."""

    def write(self, folder: Path, name: str = "link.toml") -> Path:
        """Writes the scenario and its files; returns the scenario's path."""
        folder.mkdir(parents=True, exist_ok=True)
        for file, content in self.contents(name).items():
            (folder / file).write_bytes(content)
        return folder / name

    def save(self, target: Path) -> None:
        """Writes the scenario as `target`, and its files next to it.

        Files of another link there stay: its scenario would play this one's.

        Raises:
            ScenarioError: there is one with other content, and not the scenario itself.
        """
        for name, content in self.contents(target.name).items():
            file = target.parent / name
            if not target.exists() and file.exists() and file.read_bytes() != content:
                raise ScenarioError(
                    f"-o {target}: {file} is there, of another link: choose a folder for this "
                    "one, or remove the file"
                )
        self.write(target.parent, target.name)

    def contents(self, name: str = "link.toml") -> dict[str, bytes]:
        """The scenario, by this name, and its files as bytes."""
        every: dict[str, str | bytes] = {**self.files, name: self.toml}
        return {
            file: content.encode() if isinstance(content, str) else content
            for file, content in every.items()
        }


def played_link(
    log: PingLog,
    events: Events,
    rate: str,
    reading: Reading = Reading.LOST,
    seconds: float = SECONDS,
) -> PlayedLink:
    """The link of a log at a rate, such as "12 Mbit/s"; each seed starts a run at another point."""
    compact = _without_holes(log)
    every_s = float(compact[-1]) + log.interval_s
    if events.sleep_s is not None:
        has_events = len(events.gaps) or len(events.stops)
        longest_s = MAX_SLEEP_ROWS / FEWEST_SLEEP_STEPS * events.sleep_s
        every_s = min(every_s, longest_s if has_events else MAX_SLEEP_S)
    shifted = compact - log.time_s

    def moved(spans: Spans) -> list[tuple[float, float]]:
        at = np.interp(spans.start_s, log.time_s, shifted) + spans.start_s
        return list(zip(at.tolist(), spans.length_s.tolist(), strict=True))

    gaps, stops = moved(events.gaps), moved(events.stops)
    if reading is Reading.WAITED:
        gaps, stops = [], sorted(gaps + stops)
    loss = 1 - sqrt(1 - min(events.loss_rate(log), 1.0))
    delays = _delays(log, events, compact, every_s)
    files: dict[str, str | bytes] = {DELAYS: _conditions(delays, gaps, loss, every_s)}
    stopped = _joined(stops, every_s)
    name = re.sub(r"[^A-Za-z0-9-]+", "-", log.path.stem).strip("-") or "link"
    lines = [
        f'name = "{name}"',
        'description = "The link of a ping log, played by time"',
        f'duration = "{seconds:g} s"',
        "",
        "[link]",
        f'rate = "{rate}"',
        f'recorded = {{ path = "{DELAYS}", order = "in-order" }}',
    ]
    if stopped:
        files[STOPS] = "start_ms,length_ms\n" + "".join(
            f"{1e3 * start:.3f},{1e3 * length:.3f}\n" for start, length in stopped
        )
        lines.append(f'stops = {{ process = "recorded", path = "{STOPS}" }}')
    lines += [
        f'repeat = {{ every = "{every_s:.3f} s", start = "random" }}',
        f"queue = {{ packets = {queue_packets(rate)} }}",
        "",
        "[tcp]",
        'profile = "linux"',
        "",
    ]
    return PlayedLink("\n".join(lines), files)


def queue_packets(rate: str) -> int:
    """Queue length in packets for `QUEUE_MS`."""
    from airtcp.core.quantities import parse_bit_rate

    bps = parse_bit_rate(rate) or 0.0
    return max(50, round(QUEUE_MS / 1000 * bps / (8 * 1500)))


def _without_holes(log: PingLog) -> Reals:
    """The times of sending, without periods in which nothing was recorded."""
    gaps = np.diff(log.time_s)
    hole = gaps > max(HOLE_INTERVALS * log.interval_s, MIN_HOLE_S)
    gaps = np.where(hole, log.interval_s, gaps)
    compact: Reals = np.concatenate(([0.0], np.cumsum(gaps)))
    return compact


def _delays(
    log: PingLog, events: Events, time_s: Reals, every_s: float
) -> list[tuple[float, float]]:
    """The times of changes of the round trip, with its new values.

    It rises abruptly at the probe that shows it, and falls linearly towards the next: a delay that
    falls by an interval in an interval is a queue released all at once. In stops and without
    answers, the usual round trip is taken.
    """
    if events.sleep_s is not None:
        return _asleep(float(log.answered.min()), events.sleep_s, every_s)
    known = ~np.isnan(log.rtt_s) & ~events.stopped
    rtt = np.where(known, np.nan_to_num(log.rtt_s, nan=0.0), events.usual_s)
    rows: list[tuple[float, float]] = []
    for n in range(len(rtt)):
        rows.append((float(time_s[n]), float(rtt[n])))
        if n + 1 == len(rtt) or rtt[n + 1] >= rtt[n]:
            continue
        steps = min(MAX_STEPS, ceil((rtt[n] - rtt[n + 1]) / FINEST_S))
        shares = np.arange(1, steps) / steps
        at = time_s[n] + shares * (time_s[n + 1] - time_s[n])
        value = rtt[n] + shares * (rtt[n + 1] - rtt[n])
        rows += list(zip(at.tolist(), value.tolist(), strict=True))
    return rows


def _asleep(base_s: float, sleep_s: float, until_s: float) -> list[tuple[float, float]]:
    """Packets that wait for the next beacon; the probes are too few to show each."""
    steps = min(SLEEP_STEPS, max(int(MAX_SLEEP_ROWS * sleep_s / until_s), FEWEST_SLEEP_STEPS))
    count = int(until_s / sleep_s * steps) + 1
    at_s = np.arange(count) * sleep_s / steps
    waits = sleep_s * (1 - np.arange(count) % steps / steps)
    return list(zip(at_s.tolist(), (base_s + waits).tolist(), strict=True))


def _conditions(
    delays: list[tuple[float, float]], gaps: list[tuple[float, float]], loss: float, every_s: float
) -> str:
    """The file of delays and losses: half of a round trip each way."""
    edges = [(start, 1.0) for start, _ in gaps]
    edges += [(start + length, loss) for start, length in gaps]
    edges.sort()
    rows: list[str] = []
    lost, rtt = loss, delays[0][1]
    changes = sorted(
        [(time, 1, value) for time, value in delays] + [(time, 0, value) for time, value in edges]
    )
    last = -1.0
    for time, is_delay, value in changes:
        if time >= every_s:
            break
        rtt, lost = (value, lost) if is_delay else (rtt, value)
        row = f"{1e3 * time:.3f},{500 * rtt:.4f},{lost:.6f}"
        if round(1e3 * time, 3) <= last and rows:
            rows[-1] = row
        else:
            rows.append(row)
        last = round(1e3 * time, 3)
    return "time_ms,delay_ms,loss\n" + "\n".join(rows) + "\n"


def _joined(stops: list[tuple[float, float]], every_s: float) -> list[tuple[float, float]]:
    """Stops in order, overlapping ones merged, within the recording."""
    joined: list[tuple[float, float]] = []
    for start, length in stops:
        end = min(start + length, every_s)
        if joined and start <= sum(joined[-1]):
            first = joined[-1][0]
            joined[-1] = (first, max(sum(joined[-1]), end) - first)
        elif end > start:
            joined.append((start, end - start))
    return joined
