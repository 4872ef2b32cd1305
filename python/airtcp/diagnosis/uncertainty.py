"""The uncertainty of a fit: links that other stretches of the capture would have shown."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from airtcp._core import Scenario
from airtcp.diagnosis.check import loaded
from airtcp.diagnosis.link import FittedLink
from airtcp.diagnosis.loss import loss_of
from airtcp.diagnosis.observed import Observed
from airtcp.diagnosis.scenario import Stack, modelled, with_queue
from airtcp.diagnosis.stops import StopProcess
from airtcp.diagnosis.trials import DRAWS, Ends

STRETCH_S = 5.0
"""Long enough that what follows a loss or a stop is in the same stretch."""
SEED = 16
LONGEST_S = 30.0
SHORTEST_S = 20.0
QUEUE_FACTORS = (1, 3)


def ends_of(link: FittedLink, flow: Observed, stack: Stack) -> Ends:
    """The scenarios that remedies are tried on: links drawn from the fit, at each end of the queue.

    A queue that the capture shows no end of may be as long as it was seen, or three times that.
    """
    seconds = min(max(flow.seconds, SHORTEST_S), LONGEST_S)
    links = list(drawn_links(link, flow, DRAWS))

    def drawn(factor: int) -> tuple[Scenario, ...]:
        packets = factor * link.queue.packets
        return tuple(
            loaded(modelled(with_queue(one, packets), stack, seconds, (draw + 0.5) / DRAWS))
            for draw, one in enumerate(links)
        )

    if link.queue.is_known:
        return Ends(None, (drawn(1),))
    return Ends("the queue, which this capture does not show", tuple(map(drawn, QUEUE_FACTORS)))


def drawn_links(link: FittedLink, flow: Observed, draws: int) -> Iterator[FittedLink]:
    """Links fitted to stretches of the capture drawn with replacement (a block bootstrap).

    Loss, stops and rate vary from draw to draw; the base round trip is the least of all and does
    not. Draws without a loss or stop are possible where the capture had few.
    """
    random = np.random.default_rng(SEED)
    count = max(1, int(flow.seconds / STRETCH_S))
    length = flow.seconds / count
    kept = flow.shows_link
    lost = flow.lost[kept]
    stretch = np.minimum(((flow.sent_s[kept] - flow.begun_s) / length).astype(int), count - 1)
    of_stop = [
        min(count - 1, max(0, int((stop.start_s - flow.begun_s) / length)))
        for stop in link.stops.stops
    ]
    for _ in range(draws):
        chosen = random.integers(0, count, count)
        loss = loss_of(np.concatenate([lost[stretch == one] for one in chosen]))
        stops = tuple(
            stop
            for one in np.sort(chosen)
            for stop, place in zip(link.stops.stops, of_stop, strict=True)
            if place == one
        )
        rate = link.rate
        if rate.steps is None and len(rate.samples):
            resampled = random.choice(rate.samples, len(rate.samples))
            rate = replace(rate, bps=float(np.median(resampled)))
        yield replace(
            link,
            rate=rate,
            loss=loss,
            # Periodic stops are no matter of luck: their times are those of the capture.
            stops=link.stops if link.stops.is_periodic else StopProcess(stops, flow.seconds),
        )
