"""A ping log: the time of each probe, and its round trip, if answered."""

import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from airtcp._core import ScenarioError
from airtcp.core.recordings.fields import fields

Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]
FEWEST = 30
MIN_DURATION_S = 0.1
"""Minimum duration of a log that is played by time, in seconds."""
USUAL_INTERVAL_S = 1.0
"""Default interval of ping, in seconds (iputils, BSD, busybox, Windows)."""
CUT = "The file is longer than"
"""Beginning of the core's remark on a file that it read in part."""
MAX_STEP, MAX_STEP_RATIO = 1_000, 3
"""Maximum step of the numbers between two stamps: these many, and this ratio to the due one."""
MAX_GAP = 1_000_000
"""Maximum run of unanswered probes; a longer one is not a log of one link."""


@dataclass(frozen=True)
class PingLog:
    """All probes of a log in the order of sending."""

    path: Path
    time_s: Reals
    """Time of sending, since the first probe."""
    rtt_s: Reals
    """Round trip; NaN without an answer."""
    interval_s: float
    """The usual probe interval."""
    clock: str
    """Source of the times: `stamps`, `statistics`, `asked` or `assumed`."""
    unplaced: int = 0
    """Further unanswered probes, by the closing statistics, with unknown times."""
    began_unix_s: float | None = None
    """Time of the first probe, since 1970 (UTC); None if the log has no date."""
    hosts: tuple[str, ...] = ()
    """Addresses and names that were probed, if recorded."""
    is_asked: bool = False
    """Whether an interval was given."""
    cut: str = ""
    """The remark on a file that was read in part; empty for a whole one."""
    duplicates: int = 0
    """Answers to probes that had been answered before."""

    @cached_property
    def answered(self) -> Reals:
        """The round trips of answered probes."""
        answered: Reals = self.rtt_s[~np.isnan(self.rtt_s)]
        return answered

    def last_probes(self, count: int) -> "PingLog":
        """The end of the log, as a log: the last probes, from their own beginning."""
        if count >= len(self.rtt_s):
            return self
        time_s = self.time_s[-count:]
        began = self.began_unix_s
        return replace(
            self,
            time_s=time_s - time_s[0],
            rtt_s=self.rtt_s[-count:],
            unplaced=0,
            began_unix_s=None if began is None else began + float(time_s[0]),
        )

    @property
    def sent(self) -> int:
        """Number of probes."""
        return len(self.rtt_s) + self.unplaced

    @property
    def lost(self) -> int:
        """Number of probes without an answer: they or their replies were lost."""
        return self.sent - len(self.answered)

    @property
    def loss_rate(self) -> float:
        """Share of lost probes."""
        return self.lost / self.sent

    @cached_property
    def median_s(self) -> float:
        """The median round trip."""
        return float(np.median(self.answered))

    @cached_property
    def least_s(self) -> float:
        """The 5th percentile of the round trip: one without any queue."""
        return float(np.quantile(self.answered, 0.05))

    @property
    def duration_s(self) -> float:
        """Time from the first probe until one interval after the last."""
        return float(self.time_s[-1]) + self.interval_s

    @property
    def clock_words(self) -> str:
        """The source of the times, as a sentence; empty if nothing is assumed or unused."""
        every = f"{self.interval_s:.3g} s"
        match self.clock:
            case "stamps":
                if self.is_asked:
                    return f"The log has time stamps, {every} apart: --interval was not used."
                return ""
            case "statistics":
                return f"The probes were sent every {every}, by the statistics of the log."
            case "asked":
                return f"The probes were sent every {every}, as given by --interval."
            case _:
                return (
                    f"The log has no time stamps: the probes are assumed to be {every} apart, "
                    "ping's default; pass --interval for another one (ping -D writes time stamps)."
                )

    @cached_property
    def refusal(self) -> str | None:
        """The reason to refuse trials, and a log that would help; None if there is no reason."""
        if len(self.answered) < FEWEST:
            count = len(self.answered)
            held = f"{count} round trip{'' if count == 1 else 's'}"
            return (
                f"The log holds {held}, and {FEWEST} are needed: "
                "ping -D -i 0.2 -c 1500 HOST > link.ping takes five minutes."
            )
        if self.duration_s < MIN_DURATION_S:
            return (
                f"The probes span {1e3 * self.duration_s:.3g} ms, and {1e3 * MIN_DURATION_S:.0f} "
                "ms are needed: ping -D -i 0.2 -c 1500 HOST > link.ping takes five minutes."
            )
        return None


def read_ping(path: str | os.PathLike[str], interval_s: float | None = None) -> PingLog:
    """Reads the output of a ping, in any format of the registry that lists probes.

    Args:
        path: the log.
        interval_s: the probe interval, for a log that does not contain it.

    Raises:
        ScenarioError: the file cannot be read, or has no round trip.
    """
    try:
        read = fields(path)
    except ScenarioError as error:
        fault = str(error).removeprefix(f'trace "{path}"').removeprefix(",").lstrip(": ")
        fault = fault.removeprefix(f"{path}: ")
        if fault.startswith("empty: "):
            fault = f"is {fault}"
        named = fault.startswith(("is ", "cannot be read"))
        kind = "" if named else "is no capture (pcap, pcapng); as a recording: "
        raise ScenarioError(f"{path}: {kind}{fault}") from None
    if "numbers" not in read:
        raise ScenarioError(
            f"{path}: is {read['summary']}, without probes; for its link: airtcp import {path} "
            "-o link.toml"
        )
    numbers = np.array(read["numbers"], dtype=np.int64)
    round_trips = np.array(read["round_trips_ns"], dtype=np.float64) / 1e9
    clock, interval = _interval(read, interval_s)
    count = read["numbered"]
    sent_ns = read["sent_ns"]
    sent_s = None if sent_ns is None else np.array(sent_ns, dtype=np.float64) / 1e9
    if sent_s is not None and clock == "stamps":
        order = np.argsort(sent_s, kind="stable")
        as_timed = _without_jumps(numbers[order], sent_s[order])
        if as_timed is not None:
            numbers, round_trips, sent_s = as_timed, round_trips[order], sent_s[order]
            count = int(numbers[-1]) + 1
    if count - len(numbers) > MAX_GAP:
        raise ScenarioError(
            f"{path}: {count - len(numbers)} probes without an answer; expected the "
            "log of one link, with sequence numbers that go on"
        )
    rtt_s = np.full(count, np.nan)
    rtt_s[numbers] = round_trips
    if sent_s is None or clock == "asked":
        time_s = np.arange(count) * interval
    else:
        sent_s, interval = _regular(numbers, sent_s, interval)
        time_s = _sending(numbers, sent_s, interval, len(rtt_s))
    began_ns = read["began_unix_ns"]
    return PingLog(
        Path(path),
        time_s,
        rtt_s,
        interval,
        clock,
        read["unplaced"],
        None if began_ns is None else began_ns / 1e9,
        tuple(read.get("hosts", ())),
        interval_s is not None,
        next((one for one in read["remarks"] if one.startswith(CUT)), ""),
        read["duplicates"],
    )


def _interval(read: dict[str, object], asked_s: float | None) -> tuple[str, float]:
    """The source of the interval, and the interval in seconds."""
    told = read["interval_ns"]
    if isinstance(told, int) and read["clock"] == "stamps":
        return "stamps", told / 1e9
    if asked_s is not None:
        return "asked", asked_s
    if isinstance(told, int):
        return "statistics", told / 1e9
    return "assumed", USUAL_INTERVAL_S


def _without_jumps(numbers: NDArray[np.int64], sent_s: Reals) -> NDArray[np.int64] | None:
    """Numbers of probes in the order of sending, where the log's jump and its stamps do not.

    A counter that jumps by far more than the time allows was reset, or counts something else; a
    link that was down for as long would show in the stamps. None without such a jump.
    """
    steps, took_s = np.diff(numbers), np.diff(sent_s)
    usual_s = float(np.median(took_s[steps == 1])) if np.any(steps == 1) else 0.0
    if usual_s <= 0:
        return None
    due = np.maximum(1, np.rint(took_s / usual_s)).astype(np.int64)
    jumps = np.abs(steps) > MAX_STEP + MAX_STEP_RATIO * due
    if not jumps.any():
        return None
    steps = np.where(jumps, due, np.maximum(steps, 1))
    return np.concatenate([[0], np.cumsum(steps)])


def _regular(numbers: np.ndarray, sent_s: Reals, interval_s: float) -> tuple[Reals, float]:
    """Times and interval of a ping with regular times of sending, if the stamps fit.

    Stamps are late by the time until the line was written; a straight line through all is not.
    """
    if len(numbers) < 3 or numbers[-1] == numbers[0]:
        return sent_s, interval_s
    slope, first = np.polyfit(numbers, sent_s, 1)
    straight = first + slope * numbers
    if slope <= 0 or np.abs(straight - sent_s).max() >= slope:
        return sent_s, interval_s
    return straight, float(slope)


def _sending(numbers: np.ndarray, sent_s: Reals, interval_s: float, count: int) -> Reals:
    """Time of sending of each probe: as stamped, otherwise interpolated by its number."""
    every = np.arange(count)
    time_s = np.interp(every, numbers, sent_s)
    first, last = int(numbers[0]), int(numbers[-1])
    time_s[:first] = sent_s[0] - (first - every[:first]) * interval_s
    time_s[last + 1 :] = sent_s[-1] + (every[last + 1 :] - last) * interval_s
    shifted: Reals = time_s - time_s[0]
    return shifted
