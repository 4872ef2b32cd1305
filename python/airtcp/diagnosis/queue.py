"""The queue in front of the link: its length if it was seen to overflow, else a lower bound."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from airtcp.diagnosis.observed import Observed
from airtcp.diagnosis.stops import Stop

FEWEST_DROPS = 3
BEYOND = 1.5
BLUR_PACKETS = 3
"""A delay of this many full queues, and of some packets, is longer than a full queue allows."""
FEWEST_BEYOND = 20
"""Minimum number of packets in a row that met such a delay; acknowledgments delay single ones."""


@dataclass(frozen=True)
class Queue:
    """Queue length in full packets."""

    packets: int
    is_known: bool
    """Whether it was seen to overflow; otherwise `packets` is a lower bound."""


def is_outlasted(flow: Observed, queue: Queue, bps: float) -> bool:
    """Whether packets passed a far longer queue than the dropping one, on a link of one rate.

    That was not full then: an AQM lets a burst pass (RFC 8033 §4.2.1).
    """
    if not queue.is_known or bps <= 0:
        return False
    packet_s = 8.0 * flow.full_size / bps
    beyond_s = packet_s * (BEYOND * queue.packets + BLUR_PACKETS)
    is_beyond = flow.queueing_s[flow.sampled] > beyond_s
    ends = np.flatnonzero(np.diff(is_beyond, prepend=False, append=False))
    return bool(len(ends)) and int((ends[1::2] - ends[::2]).max()) >= FEWEST_BEYOND


def fitted_queue(flow: Observed, stops: Sequence[Stop], shared_bps: float | None = None) -> Queue:
    """The queue length in full packets: the link's delivery while a packet waited.

    A dropped packet meets a full queue: the packets measured just before it give its length.
    Without drops the longest queue is a lower bound. Delays during stops are not queueing: the link
    was stopped. If hidden cross traffic shares a link of rate `shared_bps`, the delay gives the
    queue length.
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
            # The last admitted packet waited for one packet fewer, and for the rest of another.
            waited = float(np.median(at_drop)) / flow.full_size
            return Queue(1 + math.floor(waited), True)
    highest = float(np.quantile(before_it, 0.995))
    return Queue(max(1, round(highest / flow.full_size)), False)
