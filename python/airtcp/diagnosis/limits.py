"""Limits of a flow, in the words of the first sentence."""

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from airtcp.core.quantities import format_bit_rate, format_count, format_percent
from airtcp.diagnosis.capture import Facts
from airtcp.diagnosis.ceiling import Ceiling
from airtcp.diagnosis.drops import Drops
from airtcp.diagnosis.findings.path import path_words
from airtcp.diagnosis.latency import latency
from airtcp.diagnosis.link import FittedLink
from airtcp.diagnosis.link_words import MANAGED_S
from airtcp.diagnosis.loss import Loss
from airtcp.diagnosis.observed import Observed
from airtcp.diagnosis.seconds import seconds_words
from airtcp.diagnosis.stop_words import stop_words
from airtcp.diagnosis.tables import Labels
from airtcp.diagnosis.wifi import Wifi

ENDS_SHARE = 0.1
"""Minimum share of the time for a limit at one end to be mentioned."""
MOSTLY = 0.5
"""Minimum share of the time for an end that limits the flow regardless of the link."""
LATE_SHARE = 0.2
"""Minimum share of the retransmissions that are due to reordering."""
FEWEST_LATE = 5
FEWEST_RADIO = 20
FEWEST_DROPPED = 20
RADIO_SHARE = 0.8
"""Minimum share of the retransmissions that answer losses of the radio."""
MIN_LATE = 0.001
"""Minimum share of late packets to be a limit."""
OTHERS = "others use the link, too"
MATHIS = 1.22
"""The constant of Mathis et al., Computer Communication Review 27 (1997), for periodic losses."""


def seen_limits(facts: Facts, flow: Observed, link: FittedLink, labels: Labels) -> list[str]:
    """The limits visible in the capture itself, whether the fitted link holds or not.

    Stops, packets out of order, paths, ends and a link that is mostly full are seen; a loss, a
    rate, a queue and others are inferred, and so is a small share of the time.
    """
    inferred = replace(
        link,
        rate=replace(link.rate, steps=None, step=None),
        loss=Loss(0, 0, None),
        drops=Drops(),
        queue=replace(link.queue, is_known=False),
        wifi=None,
        beside=None,
        is_shared=False,
    )
    mostly = {name: share for name, share in facts["shares"].items() if share > MOSTLY}
    shares = dict.fromkeys(facts["shares"], 0.0) | mostly
    found = limits({**facts, "shares": shares}, flow, inferred, labels)
    of_queue = [*_of_full_link(shares.get("link", 0.0), flow), *_of_aqm(link.drops, labels)]
    return found or of_queue or _of_radio(flow, labels)


def _of_aqm(drops: Drops, labels: Labels) -> list[str]:
    """The words about an AQM that drops many packets."""
    dropped = labels.count("aqm")
    if drops.aqm_target_s is None or dropped < FEWEST_DROPPED:
        return []
    return [_aqm_words(dropped)]


def _aqm_words(dropped: int) -> str:
    return f"a queue that keeps its delay short drops {format_count(dropped)} packets"


def _of_radio(flow: Observed, labels: Labels) -> list[str]:
    """The words about retransmissions that nearly all answer losses of the radio, and are many."""
    lost = labels.count("radio")
    if lost < FEWEST_RADIO or lost < RADIO_SHARE * len(labels):
        return []
    return [_loss_words(lost / len(flow.sent_s))]


def _of_full_link(share: float, flow: Observed) -> list[str]:
    """The words about a link that is full for this share of the time; empty for most flows."""
    if share <= MOSTLY or not flow.sampled.any():
        return []
    full = f"the link is full for {format_percent(100 * share, decimals=0)} of the time"
    waits = latency(flow, None)
    if not waits.is_large:
        return [full]
    return [f"{full}, and data waits {seconds_words(waits.median_s - waits.base_s)} in the median"]


def limits(
    facts: Facts,
    flow: Observed,
    link: FittedLink,
    labels: Labels,
    ceiling: Ceiling | None = None,
) -> list[str]:
    """Limits of the flow by the capture, the ends first if they dominate.

    A flow below its ceiling is held back by losses if nothing else is seen: at random they come
    close together, and cost more than their mean would.
    """
    if link.wifi is None:
        of_link = list(_of_link(flow, link))
    else:
        of_link = _of_wifi(link.wifi, link.loss, is_shown=facts["radio_frames"][0] > 0)
    if len(labels) and link.late is None and link.jitter is None:
        of_link += _of_order(labels)
    ends = {name: facts["shares"][name] for name in ("receiver_window", "application")}
    first = [_END_WORDS[name](share) for name, share in ends.items() if share > MOSTLY]
    last = [_END_WORDS[name](share) for name, share in ends.items() if ENDS_SHARE < share <= MOSTLY]
    path = path_words(facts)
    found = [*first, *([path] if path else []), *of_link, *last]
    is_slow = ceiling is not None and not ceiling.is_reached
    return found or ([_loss_words(link.loss.rate)] if is_slow and link.loss.lost else [])


_END_WORDS = {
    "receiver_window": lambda share: (
        f"the receiver's window holds it back for {format_percent(100 * share, decimals=0)} of the "
        "time"
    ),
    "application": lambda share: (
        f"the application has nothing to send for {format_percent(100 * share, decimals=0)} of the "
        "time"
    ),
}


def _of_link(flow: Observed, link: FittedLink) -> Iterator[str]:
    policer = link.drops.policer
    if policer is not None:
        yield f"a policer drops what exceeds {format_bit_rate(policer.bps)}"
    if link.is_shared or link.beside is not None:
        yield OTHERS
    if stops := stop_words(link.stops, flow.seconds):
        yield stops
    step = link.rate.step
    if step is not None:
        yield (
            f"the link's rate goes from {format_bit_rate(step.before_bps)} to "
            f"{format_bit_rate(step.after_bps)} after {step.at_s:.0f} s"
        )
    elif link.rate.steps is not None and link.rate.source != "bounds" and not link.is_shared:
        yield "the link's rate varies"
    if link.late is not None and link.late.share >= MIN_LATE:
        yield link.late.words
    if link.jitter is not None:
        yield link.jitter.words
    if loses_enough(flow, link):
        yield _loss_words(link.loss.rate)
    if link.drops.marks:
        yield "a queue that keeps its delay short marks packets"
    elif link.drops.aqm_target_s is not None:
        dropped = int(np.count_nonzero(flow.dropped))
        yield _aqm_words(dropped)
    elif policer is None and link.queue.is_known and link.queue_s < flow.base_rtt_s:
        alike = ""
        if link.queue_s <= MANAGED_S:
            alike = f", or an AQM that keeps its delay at {1e3 * link.queue_s:.0f} ms,"
        yield f"the queue of {link.queue.packets} packets{alike} is shorter than a round trip"


def _loss_words(rate: float) -> str:
    return f"the link loses {100 * rate:.2g} % of the packets"


def _of_wifi(wifi: Wifi, loss: Loss, *, is_shown: bool) -> list[str]:
    """The limits of a link that delivers as Wi-Fi does; `is_shown`: by frames of a monitor."""
    rate = format_bit_rate(wifi.mode.bps)
    damaged = format_percent(100 * wifi.damaged, decimals=0)
    # Retransmitted frames delay later ones, like jitter in order.
    repeats = f" with {damaged} of its frames damaged" if wifi.damaged > 0 else ""
    alike = f"a Wi-Fi link of {rate}{repeats} does"
    if is_shown:
        parts = [f"it delivers in bursts, as {alike}"]
    else:
        without = "" if loss.lost else " without losses"
        parts = [
            f"its delay varies{without} and it delivers in bursts, as DOCSIS, a busy virtual "
            f"machine, or {alike} (`iw dev` lists radios, and `iw dev DEV station dump` counts "
            "their retries)"
        ]
    if wifi.others:
        parts.append(
            f"{wifi.others} other {'station has' if wifi.others == 1 else 'stations have'} the "
            "channel, too"
        )
    return [", ".join(parts)]


def loses_enough(flow: Observed, link: FittedLink) -> bool:
    """Whether losses this frequent hold a Reno flow below the link's rate.

    Its window is that of Mathis et al. over the minimum round trip: a longer one makes it slower.
    """
    if not link.loss.lost:
        return False
    most_bps = MATHIS * 8.0 * flow.full_size / (flow.base_rtt_s * math.sqrt(link.loss.rate))
    return most_bps < link.most_bps


def _of_order(labels: Labels) -> list[str]:
    late = labels.count("reordering")
    if late < max(FEWEST_LATE, LATE_SHARE * len(labels)):
        return []
    return [f"packets come late, behind others, which {format_count(late)} retransmissions answer"]
