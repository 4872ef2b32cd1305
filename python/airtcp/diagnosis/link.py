"""Fits the whole link to a capture."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from airtcp.diagnosis.aggregates import Aggregates
from airtcp.diagnosis.beside import Beside, beside_of, hidden_beside
from airtcp.diagnosis.drops import Drops, drops_below
from airtcp.diagnosis.idle_waits import idle_beside
from airtcp.diagnosis.jitter import Jitter
from airtcp.diagnosis.late import Late
from airtcp.diagnosis.loss import Loss, fitted_loss
from airtcp.diagnosis.observed import Observed, Reals
from airtcp.diagnosis.queue import Queue, fitted_queue, is_outlasted
from airtcp.diagnosis.rate import (
    WINDOW_S,
    Rate,
    delivered_in_bursts,
    fitted_rate,
    given_rate,
    rate_of_long_windows,
    spaced_rate,
)
from airtcp.diagnosis.stops import Stop, StopProcess, found_stops
from airtcp.diagnosis.wifi import Wifi

ACK_BYTES = 52
PACKET_BYTES = 1500
ABOVE_POLICER = 3.0
"""Assumed rate of a link after a policer, as a multiple of the policer's rate or the burst rate."""
DEEP_PACKETS = 1000
"""Length of a queue that does not drop: the default of Linux."""


@dataclass(frozen=True)
class FittedLink:
    """The link as a capture shows it."""

    rate: Rate
    base_rtt_s: float
    delay_s: float
    """One-way delay, without serialization, in seconds."""
    queue: Queue
    loss: Loss
    stops: StopProcess
    drops: Drops = field(default_factory=Drops)
    beside: Beside | None = None
    """Cross traffic that shares it."""
    aggregates: Aggregates | None = None
    """Parameters of bursts, if it delivers in bursts."""
    is_shared: bool = False
    """Whether others fill its queue, too, with an unknown share: the rate is then the flow's
    remaining capacity.
    """
    late: Late | None = None
    """Packets that others overtake."""
    phases: tuple[tuple[float, float], ...] = ()
    """For a path that changes: seconds after the first data, and the one-way delay from then on."""
    jitter: Jitter | None = None
    """Delays that vary from packet to packet."""
    wifi: Wifi | None = None
    """The Wi-Fi link to simulate, instead of everything except the base round trip."""
    wifi_alike: tuple[Wifi, ...] = ()
    """Other Wi-Fi links with a similar goodput and delay."""

    @property
    def has_jitter_alone(self) -> bool:
        """Whether its jitter reorders packets, and no packet is lost."""
        reorders = self.jitter is not None and not self.jitter.keeps_order
        return reorders and not self.loss.lost

    @property
    def bps(self) -> float:
        """The rate in bits of IP packets a second; for a recorded rate its mean."""
        return self.rate.bps

    @property
    def most_bps(self) -> float:
        """Upper bound of the rate, in bits of IP packets a second."""
        policer = self.drops.policer
        if policer is not None:
            return min(policer.bps, self.bps)
        return self.rate.bounds[1] if self.rate.bounds else self.bps

    @property
    def queue_s(self) -> float:
        """The delay of a full queue, in seconds."""
        return 8.0 * self.queue.packets * PACKET_BYTES / self.bps if self.bps > 0 else math.inf

    def at_bound(self, end: int) -> "FittedLink":
        """The link with the rate of a bound, if it has bounds."""
        return replace(self, rate=self.rate.at_bound(end))


def fitted_link(
    flow: Observed,
    drops: Drops | None = None,
    known_bps: float | None = None,
    *,
    is_shared: bool = False,
    are_acks_bunched: bool = False,
) -> FittedLink:
    """Fits every part; unknowns are marked as such in the part.

    Args:
        flow: the flow from the sender's view.
        drops: drops of a policer or an AQM, by the labels.
        known_bps: the link's rate if the user knows it, in bits of IP packets a second.
        is_shared: whether others fill the queue, too, by the labels.
        are_acks_bunched: whether acknowledgments queue with reverse traffic.
    """
    drops = drops or Drops()
    beside = beside_of(flow)
    if known_bps is not None:
        rate = given_rate(known_bps)
    else:
        rate = rate_of_long_windows(flow) if are_acks_bunched else fitted_rate(flow)
    hidden = None
    if beside is None and known_bps is None and drops.policer is None and not rate.is_constant:
        hidden = hidden_beside(flow)
    if hidden is not None:
        rate, beside = spaced_rate(hidden[0]), hidden[1]
    elif beside is None and rate.is_constant and drops.policer is None and not flow.phases:
        beside = idle_beside(flow, rate.bps)
    if drops.policer is not None and known_bps is None:
        most = max(ABOVE_POLICER * drops.policer.bps, rate.bps)
        rate = Rate(most, None, 0.0, 1.0, np.array([]), "policer")
    loss = fitted_loss(flow)
    if rate.source == "queue" and rate.steps is None and loss.rate < 0.5:
        # Packets lost on the radio took time on the link, but were never reported.
        passed = 1 - loss.rate
        rate = replace(rate, bps=rate.bps / passed, samples=rate.samples / passed)
    at_base = _rate_at_base(flow, rate)
    # Without any delivery the rate is unknown, and refused as such.
    on_the_link = 8.0 * (flow.full_size + ACK_BYTES) / at_base if at_base > 0 else 0.0
    stops = found_stops(flow, rate.bps)
    process = StopProcess(tuple(stops), flow.seconds)
    if stops and process.are_held:
        # Nothing waits for the link itself: the silence begins with the stop.
        half = flow.base_rtt_s / 2
        stops = [replace(one, start_s=one.start_s + half) for one in stops]
        process = StopProcess(tuple(stops), flow.seconds)
    elif stops and rate.step is not None and rate.steps is not None:
        rate = replace(rate, steps=_without_stops(rate.steps, stops, flow.begun_s))
    queue = fitted_queue(flow, stops, rate.bps if hidden else None)
    aggregates = None if drops.policer is not None else delivered_in_bursts(flow)
    is_single = rate.is_constant and aggregates is None and beside is None and not is_shared
    if drops == Drops() and is_single and not stops and is_outlasted(flow, queue, rate.bps):
        drops = drops_below(8.0 * queue.packets * flow.full_size / rate.bps)
    return FittedLink(
        rate,
        flow.base_rtt_s,
        max(0.0, (flow.base_rtt_s - on_the_link) / 2),
        queue if drops == Drops() else Queue(DEEP_PACKETS, True),
        loss,
        process,
        drops,
        beside,
        aggregates,
        is_shared and beside is None,
        phases=tuple(
            (max(0.0, from_s - flow.begun_s), max(0.0, (base_s - on_the_link) / 2))
            for from_s, base_s in flow.phases
        ),
    )


def _without_stops(steps: Reals, stops: Sequence[Stop], begun_s: float) -> Reals:
    """A recorded rate, without the time of the link's stops."""
    begins = begun_s + WINDOW_S * np.arange(len(steps))
    still = np.zeros(len(steps))
    for stop in stops:
        until = np.minimum(begins + WINDOW_S, stop.start_s + stop.length_s)
        still += np.clip(until - np.maximum(begins, stop.start_s), 0.0, None)
    left: Reals = steps * np.clip(1.0 - still / WINDOW_S, 0.0, 1.0)
    return left


def _rate_at_base(flow: Observed, rate: Rate) -> float:
    """The rate while the minimum round trip was measured."""
    return rate.bps if rate.steps is None else float(np.max(rate.steps))
