"""Links that a fit leaves open, to try remedies on."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle

from airtcp._core import Scenario
from airtcp.diagnosis.ceiling import Ceiling, ceiling
from airtcp.diagnosis.check import loaded
from airtcp.diagnosis.draws import drawn_links
from airtcp.diagnosis.link import FittedLink
from airtcp.diagnosis.observed import Observed
from airtcp.diagnosis.scenario import Stack, modelled, with_queue
from airtcp.diagnosis.senders import in_use
from airtcp.diagnosis.trials import Ends

DRAWS = 20
MAX_S = 30.0
WHOLE_S = 60.0
MIN_S = 20.0
AIR_DRAWS = 10
AIR_PACKETS = 50_000
AIR_MIN_S = 3.0
"""Minimum time for a fast radio, which shows as much in seconds as a slow line in a minute."""
QUEUE_FACTORS = (1, 3)


def ends_of(link: FittedLink, flow: Observed, stacks: Sequence[Stack], most: Ceiling) -> Ends:
    """Links drawn from the fit, at each end of its open question, to try remedies on.

    A queue without an observed overflow may be as long as observed, or three times that; a link
    that was hardly ever full has the rate of either bound. Senders that explain the capture equally
    well alternate.
    """
    has = frozenset(in_use(stacks))
    if link.wifi is not None:
        drawn_on_air = _on_the_air(link, flow, stacks)
        return Ends(None, (drawn_on_air,), (most.gain_percent,), len(stacks), has)
    # A recording is played as a whole: its two halves are different links.
    longest_s = MAX_S if link.rate.steps is None and not link.phases else WHOLE_S
    seconds = min(max(flow.seconds, MIN_S), longest_s)
    links = list(drawn_links(link, flow, DRAWS))
    bounds = link.rate.bounds

    def drawn(end: int) -> tuple[Scenario, ...]:
        packets = link.queue.packets * (1 if link.queue.is_known else QUEUE_FACTORS[end])
        ended = (with_queue(one.at_bound(end), packets) for one in links)
        if link.beside is not None and is_hidden:
            beside = replace(link.beside, give_way=end == 1)
            ended = (replace(one, beside=beside) for one in ended)
        return tuple(
            loaded(modelled(one, stack, seconds, (draw + 0.5) / DRAWS))
            for draw, (one, stack) in enumerate(zip(ended, cycle(stacks), strict=False))
        )

    is_hidden = link.beside is not None and not link.beside.is_seen
    is_open = [] if bounds is None else ["the rate"]
    is_open += ["whether others give way"] if is_hidden else []
    is_open += [] if link.queue.is_known else ["the queue"]
    if not is_open:
        return Ends(None, (drawn(0),), (most.gain_percent,), len(stacks), has)
    what = " and ".join(is_open)
    gains = tuple(_most_at(link, flow, most, end).gain_percent for end in (0, 1))
    open_point = f"{what}, which this capture does not show"
    return Ends(open_point, (drawn(0), drawn(1)), gains, len(stacks), has)


def _most_at(link: FittedLink, flow: Observed, most: Ceiling, end: int) -> Ceiling:
    """The ceiling at an end of the open question about the rate."""
    if link.rate.bounds is None:
        return most
    return ceiling(replace(link, rate=replace(link.rate.at_bound(end), bounds=None)), flow)


def _on_the_air(link: FittedLink, flow: Observed, stacks: Sequence[Stack]) -> tuple[Scenario, ...]:
    """Wi-Fi links that all reproduce the capture: the actual one is not identifiable.

    The plainest form of approximate Bayesian computation: parameters drawn, simulated and accepted
    if near (Beaumont, Zhang and Balding, Genetics 162 (2002)).
    """
    pace = flow.goodput_bps / (8 * stacks[0].mss)
    seconds = min(max(AIR_PACKETS / pace, AIR_MIN_S), MIN_S)
    alike = cycle(link.wifi_alike)
    return tuple(
        loaded(modelled(replace(link, wifi=one), stack, seconds))
        for one, stack, _ in zip(alike, cycle(stacks), range(AIR_DRAWS), strict=False)
    )
