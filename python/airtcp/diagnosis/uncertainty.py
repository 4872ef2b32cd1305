"""What a fit leaves open: the links that remedies are tried on."""

from dataclasses import replace
from itertools import cycle

from airtcp._core import Scenario
from airtcp.diagnosis.check import loaded
from airtcp.diagnosis.draws import drawn_links
from airtcp.diagnosis.link import FittedLink
from airtcp.diagnosis.observed import Observed
from airtcp.diagnosis.scenario import Stack, modelled, with_queue
from airtcp.diagnosis.trials import DRAWS, Ends

LONGEST_S = 30.0
SHORTEST_S = 20.0
AIR_DRAWS = 10
AIR_PACKETS = 50_000
AIR_SHORTEST_S = 3.0
"""A fast radio shows within seconds what a slow line does in a minute."""
QUEUE_FACTORS = (1, 3)


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
        ended = (with_queue(one.at_bound(end), packets) for one in links)
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
