"""The uncertainty of a fit: links that other stretches of the capture would have given."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from airtcp.diagnosis.link import FittedLink
from airtcp.diagnosis.loss import Loss, loss_of
from airtcp.diagnosis.observed import Observed
from airtcp.diagnosis.stops import Stop, StopProcess

STRETCH_S = 5.0
"""Block length: long enough that a loss or stop and its aftermath are in the same block."""
FEWEST_STRETCHES = 6
"""Minimum number of blocks; with fewer the draws are too similar."""
SEED = 16
DRAWN_PACKETS = 10_000_000
FEW_LOSSES = 30
"""Below this many losses their rate is drawn: blocks of the capture only repeat observed losses."""


def drawn_links(link: FittedLink, flow: Observed, draws: int) -> Iterator[FittedLink]:
    """Links fitted to blocks of the capture drawn with replacement (a block bootstrap).

    Loss, stops and rate vary from draw to draw; the base round trip is the overall minimum and does
    not. Draws without a loss or stop are possible if the capture had few.
    """
    random = np.random.default_rng(SEED)
    count = max(FEWEST_STRETCHES, int(flow.seconds / STRETCH_S))
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
        if link.loss.lost < FEW_LOSSES:
            loss = _drawn_loss(link.loss, random)
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
            stops=_drawn_stops(link.stops, stops, random),
        )


def _drawn_stops(
    process: StopProcess, stops: tuple[Stop, ...], random: np.random.Generator
) -> StopProcess:
    """Stops of the drawn blocks, if these determine their frequency."""
    if process.is_periodic:
        # Their times are taken from the capture, and not random.
        return process
    return process.drawn(random) if process.are_few else replace(process, stops=stops)


def _drawn_loss(loss: Loss, random: np.random.Generator) -> Loss:
    """Loss rates drawn from the posterior of a few losses (Jeffreys' prior)."""
    if not loss.lost:
        return loss
    chance = random.beta(loss.lost + 0.5, loss.sent - loss.lost + 0.5)
    return Loss(DRAWN_PACKETS, round(chance * DRAWN_PACKETS), None)
