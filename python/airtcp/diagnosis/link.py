"""The link of a capture, as a whole."""

from dataclasses import dataclass, replace

import numpy as np

from airtcp.diagnosis.loss import Loss, fitted_loss
from airtcp.diagnosis.observed import Observed
from airtcp.diagnosis.queue import Queue, fitted_queue
from airtcp.diagnosis.rate import Rate, fitted_rate
from airtcp.diagnosis.stops import Stop, StopProcess, found_stops

ACK_BYTES = 52


@dataclass(frozen=True)
class FittedLink:
    """The link as a capture shows it."""

    rate: Rate
    base_rtt_s: float
    delay_s: float
    """Each way, without the time that the packets take to be sent."""
    queue: Queue
    loss: Loss
    stops: StopProcess

    @property
    def bps(self) -> float:
        """The rate in bits of IP packets a second; of a recorded link its mean."""
        return self.rate.bps


def fitted_link(flow: Observed) -> FittedLink:
    """Fits every part; what the capture does not show is marked as such in the part."""
    rate = fitted_rate(flow)
    loss = fitted_loss(flow)
    if rate.source == "queue" and rate.steps is None and loss.rate < 0.5:
        # Packets lost on the radio had their time on the link, but were never reported.
        passed = 1 - loss.rate
        rate = replace(rate, bps=rate.bps / passed, samples=rate.samples / passed)
    at_base = _rate_at_base(flow, rate)
    # Where nothing was delivered no rate is known, and refused as such.
    on_the_link = 8.0 * (flow.full_size + ACK_BYTES) / at_base if at_base > 0 else 0.0
    stops = found_stops(flow, rate.bps)
    process = StopProcess(tuple(stops), flow.seconds)
    if stops and process.are_held:
        # Nothing waits for the link itself: the silence begins with the stop.
        half = flow.base_rtt_s / 2
        stops = [Stop(one.start_s + half, one.length_s, one.released_share) for one in stops]
        process = StopProcess(tuple(stops), flow.seconds)
    return FittedLink(
        rate,
        flow.base_rtt_s,
        max(0.0, (flow.base_rtt_s - on_the_link) / 2),
        fitted_queue(flow, stops),
        loss,
        process,
    )


def _rate_at_base(flow: Observed, rate: Rate) -> float:
    """The rate while the shortest round trip was measured."""
    return rate.bps if rate.steps is None else float(np.max(rate.steps))
