"""A wireless link in user space: the fate of a packet between two TUN devices.

The link has a rate, a propagation delay and a drop-tail queue each way. Frames are lost on the
air by a channel that is good or bad for random times (Gilbert 1960, Elliott 1963), and the link
repeats a lost frame until it arrives, in order: TCP sees no loss but delay spikes.
At intervals the link is suspended, as a station's radio is that scans other channels.

Times are seconds as floats since the link was made; the caller owns the clock, so that the same
link runs in real time (``record.py record``) and in virtual time (``record.py predict``).
"""

from __future__ import annotations

import bisect
import random
from collections import deque
from dataclasses import dataclass


@dataclass(frozen=True)
class Channel:
    """When frames are lost: two states with exponential durations, a loss rate in each."""

    good_s: float
    bad_s: float
    loss_good: float
    loss_bad: float


@dataclass(frozen=True)
class Suspension:
    """The link stops for ``length_s`` about every ``period_s`` (each start moves by ± 10 %)."""

    period_s: float
    length_s: float


@dataclass(frozen=True)
class Direction:
    """One way across the link.

    ``retry_s`` is the time before a lost frame is retransmitted (detection of the loss, back-off,
    scheduling), over and above its transmission.
    """

    rate_bps: int
    delay_s: float
    queue_packets: int
    retry_s: float


@dataclass(frozen=True)
class Link:
    """Both ways. The radio is one, so both ways meet the same channel and suspensions."""

    uplink: Direction
    downlink: Direction
    channel: Channel
    suspension: Suspension | None


class Weather:
    """The channel's states and the suspensions over time: a function of the seed only.

    Drawn ahead as far as asked for, never in an order that traffic could change.
    """

    def __init__(self, link: Link, seed: int) -> None:
        self._channel = link.channel
        self._suspension = link.suspension
        self._states = random.Random(f"{seed} states")
        self._scans = random.Random(f"{seed} suspensions")
        # Even entries begin a good state, odd ones a bad one.
        self._changes = [0.0]
        self._suspended: list[float] = []

    def loss(self, at: float) -> float:
        """Probability that a frame sent at this time is lost."""
        while self._changes[-1] <= at:
            good = len(self._changes) % 2 == 1
            mean = self._channel.good_s if good else self._channel.bad_s
            self._changes.append(self._changes[-1] + self._states.expovariate(1 / mean))
        good = bisect.bisect_right(self._changes, at) % 2 == 1
        return self._channel.loss_good if good else self._channel.loss_bad

    def resumes(self, at: float) -> float:
        """The first time from ``at`` on at which the link is not suspended."""
        if self._suspension is None:
            return at
        period, length = self._suspension.period_s, self._suspension.length_s
        while not self._suspended or self._suspended[-1] <= at:
            nominal = (len(self._suspended) + 1) * period
            self._suspended.append(nominal + self._scans.uniform(-0.1, 0.1) * period)
        index = bisect.bisect_right(self._suspended, at) - 1
        if index < 0:
            return at
        return max(at, self._suspended[index] + length)


class Way:
    """One direction at work: packets in, the time at which each comes out."""

    def __init__(self, direction: Direction, weather: Weather, seed: str) -> None:
        self._direction = direction
        self._weather = weather
        self._losses = random.Random(seed)
        self._departures: deque[float] = deque()
        self.dropped = 0
        self.retries = 0

    def accept(self, now: float, ip_bytes: int) -> float | None:
        """When a packet that enters now arrives at the far end; None when the queue is full.

        Service is first in first out, so the whole future of a packet is known on entry.
        """
        while self._departures and self._departures[0] <= now:
            self._departures.popleft()
        # The one being sent is no longer in the queue.
        if len(self._departures) > self._direction.queue_packets:
            self.dropped += 1
            return None
        at = max(now, self._departures[-1] if self._departures else now)
        while True:
            at = self._weather.resumes(at)
            lost = self._losses.random() < self._weather.loss(at)
            at += ip_bytes * 8 / self._direction.rate_bps
            if not lost:
                break
            self.retries += 1
            at += self._direction.retry_s
        self._departures.append(at)
        return at + self._direction.delay_s


def ways(link: Link, seed: int) -> tuple[Way, Way]:
    """Uplink and downlink of one link, under one weather."""
    weather = Weather(link, seed)
    return (
        Way(link.uplink, weather, f"{seed} uplink"),
        Way(link.downlink, weather, f"{seed} downlink"),
    )
