"""The queue in front of the link: a value where it was seen to overflow, else a lower bound."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from airtcp.diagnosis.observed import Observed
from airtcp.diagnosis.stops import Stop

FEWEST_DROPS = 3


@dataclass(frozen=True)
class Queue:
    """The number of full packets that may wait."""

    packets: int
    is_known: bool
    """It was seen to overflow; else it holds `packets` at least."""


def fitted_queue(flow: Observed, stops: Sequence[Stop], shared_bps: float | None = None) -> Queue:
    """The queue in full packets: what the link delivered while a packet waited stood before it.

    A packet that is dropped finds the queue full: the packets measured just before tell how full
    that is. Without drops the longest queue is the least that it holds. Delays in stops are no
    queue's: the link stood. Of a link that others share unseen, of rate `shared_bps`, the delay
    tells the queue.
    """
    still = np.zeros(len(flow.sent_s), dtype=np.bool_)
    for stop in stops:
        until = stop.start_s + stop.length_s
        still |= (flow.sent_s < until) & (flow.acked_s > stop.start_s)
    known = np.flatnonzero(flow.sampled & ~still)
    if not len(known):
        return Queue(1, False)
    came = flow.acked_s[known]
    began = came - flow.queueing_s[known]
    before_it = np.interp(came, flow.link_ack_s, flow.link_delivered) - np.interp(
        began, flow.link_ack_s, flow.link_delivered
    )
    if shared_bps is not None:
        before_it = flow.queueing_s[known] * shared_bps / 8.0
    drops = np.flatnonzero(flow.dropped)
    if len(drops) >= FEWEST_DROPS:
        nearest = np.searchsorted(known, drops) - 1
        at_drop = before_it[nearest[nearest >= 0]]
        if len(at_drop):
            # The last that found room waited for one fewer, and for what was left of another.
            waited = float(np.median(at_drop)) / flow.full_size
            return Queue(1 + math.floor(waited), True)
    highest = float(np.quantile(before_it, 0.995))
    return Queue(max(1, round(highest / flow.full_size)), False)
