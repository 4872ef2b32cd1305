"""The uncertainty of a fit: links that other stretches of the capture would have shown."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle

import numpy as np

from airtcp._core import Scenario
from airtcp.diagnosis.check import loaded
from airtcp.diagnosis.link import FittedLink
from airtcp.diagnosis.loss import Loss, loss_of
from airtcp.diagnosis.observed import Observed
from airtcp.diagnosis.scenario import Stack, modelled, with_queue
from airtcp.diagnosis.stops import StopProcess
from airtcp.diagnosis.trials import DRAWS, Ends

STRETCH_S = 5.0
"""Long enough that what follows a loss or a stop is in the same stretch."""
SEED = 16
DRAWN_PACKETS = 10_000_000
LONGEST_S = 30.0
SHORTEST_S = 20.0
AIR_DRAWS = 10
AIR_PACKETS = 50_000
AIR_SHORTEST_S = 3.0
"""A fast radio shows within seconds what a slow line does in a minute."""
QUEUE_FACTORS = (1, 3)
FEW_LOSSES = 30
"""Fewer losses are drawn by their chance: stretches of the capture repeat what was seen."""


def ends_of(link: FittedLink, flow: Observed, stack: Stack) -> Ends:
    """Links drawn from the fit, at each end of what it leaves open, to try remedies on.

    A queue that the capture shows no end of may be as long as it was seen, or three times that; a
    link that was hardly ever full has the rate of either bound.
    """
    if link.wifi is not None:
        return Ends(None, (_on_the_air(link, flow, stack),))
    seconds = min(max(flow.seconds, SHORTEST_S), LONGEST_S)
    links = list(drawn_links(link, flow, DRAWS))
    bounds = link.rate.bounds

    def drawn(end: int) -> tuple[Scenario, ...]:
        packets = link.queue.packets * (1 if link.queue.is_known else QUEUE_FACTORS[end])
        ended = (
            with_queue(one if bounds is None else one.with_rate(bounds[end]), packets)
            for one in links
        )
        if link.beside is not None and is_hidden:
            beside = replace(link.beside, give_way=end == 1)
            ended = (replace(one, beside=beside) for one in ended)
        return tuple(
            loaded(modelled(one, stack, seconds, (draw + 0.5) / DRAWS))
            for draw, one in enumerate(ended)
        )

    is_hidden = link.beside is not None and not link.beside.is_seen
    is_open = [] if bounds is None else ["the rate"]
    is_open += ["whether others give way"] if is_hidden else []
    is_open += [] if link.queue.is_known else ["the queue"]
    if not is_open:
        return Ends(None, (drawn(0),))
    what = " and ".join(is_open)
    return Ends(f"{what}, which this capture does not show", (drawn(0), drawn(1)))


def _on_the_air(link: FittedLink, flow: Observed, stack: Stack) -> tuple[Scenario, ...]:
    """Wi-Fi links that all bring what the capture has: which one it was does not show.

    Of approximate Bayesian computation this is the plainest form: what was drawn, simulated and
    found near (Beaumont, Zhang and Balding, Genetics 162 (2002)).
    """
    pace = flow.goodput_bps / (8 * stack.mss)
    seconds = min(max(AIR_PACKETS / pace, AIR_SHORTEST_S), SHORTEST_S)
    alike = cycle(link.wifi_alike)
    return tuple(
        loaded(modelled(replace(link, wifi=one), stack, seconds))
        for one, _ in zip(alike, range(AIR_DRAWS), strict=False)
    )


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
            # Periodic stops are no matter of luck: their times are those of the capture.
            stops=link.stops if link.stops.is_periodic else StopProcess(stops, flow.seconds),
        )


def _drawn_loss(loss: Loss, random: np.random.Generator) -> Loss:
    """Losses of a chance drawn from what few of them tell (Jeffreys' prior)."""
    if not loss.lost:
        return loss
    chance = random.beta(loss.lost + 0.5, loss.sent - loss.lost + 0.5)
    return Loss(DRAWN_PACKETS, round(chance * DRAWN_PACKETS), None)
