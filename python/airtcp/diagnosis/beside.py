"""Cross traffic on the link, inside the capture or outside it.

Queueing delays of captured flows that share a queue rise and fall together; packets of uncaptured
traffic space out the flow's packets in the queue.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from airtcp.diagnosis.observed import Observed, Reals
from airtcp.diagnosis.rate import busy_windows, spacing_mode

WINDOW_S = 0.25
MIN_WINDOWS = 20
MIN_CORRELATION = 0.8
MIN_SPREAD_S = 0.002
"""Minimum variation of the delay that shows a queue."""
MAX_OWN = 0.8
"""Maximum share of the spacing rate in busy windows for a shared link; a larger one is unshared."""
MIN_GAPS = 100
MAX_BETWEEN = 20.0
"""Maximum number of packets between two that the resolution of a capture can show."""
NEAR_WHOLE = 0.15
MIN_WHOLE = 0.5
"""Minimum share of gaps near whole packet times; gaps of any length are as near in 30 of 100."""
MIN_BOTH = 0.5
"""Minimum share of times with cross traffic in which the flow's packets also leave back to back."""
MIN_SHARE = 0.1
"""Minimum delivery relative to the chosen flow for a flow to be included in the replay."""


@dataclass(frozen=True)
class Beside:
    """Cross traffic that shares the link with the chosen flow."""

    flows: int
    """Number of captured flows; for hidden ones, the number that would leave the flow its share."""
    share: float
    """The chosen flow's share of the link's delivery."""
    is_seen: bool
    """Whether the cross traffic is in the capture."""
    cross_bps: float
    """Their rate on the link, in bits of IP packets a second."""
    give_way: bool = True
    """Whether they are TCP, too; otherwise they send at a fixed rate regardless of the flow."""
    shown_by: str = "by the gaps between packets"


def with_beside(flow: Observed, others: Iterable[Observed]) -> Observed:
    """The flow with the other flows that share its queue.

    Packets in one queue at one time wait equally long, regardless of the sender.
    """
    own = _delays(flow, flow.begun_s, flow.ended_s)
    # A flow without a round trip shows no delay to compare.
    timed = (one for one in others if one.sampled.any())
    sharing = tuple(one for one in timed if _agree(own, _delays(one, flow.begun_s, flow.ended_s)))
    return replace(flow, beside=sharing)


def beside_of(flow: Observed) -> Beside | None:
    """Captured flows that are large enough to be included in the replay, if any."""
    own = float(flow.delivered[-1])
    large = [one for one in flow.beside if float(one.delivered[-1]) >= MIN_SHARE * own]
    if not large:
        return None
    bps = 8.0 * own / flow.seconds
    return Beside(len(large), flow.link_share, True, bps * (1 / flow.link_share - 1))


def hidden_beside(flow: Observed) -> tuple[float, Beside] | None:
    """The link's full rate and the hidden cross traffic; None if nothing shows any.

    While a queue persists, packets between two packets of the flow are cross traffic: the gaps are
    whole packet times of a rate that the flow does not get, and sometimes zero. A varying rate has
    gaps of any length, and a falling rate only has the longer gaps.
    """
    times, busy = busy_windows(flow)
    bps = spacing_mode(flow)
    if bps is None or len(busy) < MIN_WINDOWS or float(np.median(busy)) > MAX_OWN * bps:
        return None
    packet_s = 8.0 * flow.full_size / bps
    gaps, bytes_ = np.diff(flow.ack_s), np.diff(flow.delivered)
    slow = times[busy < MAX_OWN * bps]
    at = np.searchsorted(slow, flow.ack_s[1:], side="right") - 1
    within = (at >= 0) & (flow.ack_s[1:] <= slow[np.maximum(at, 0)] + WINDOW_S) & (bytes_ > 0)
    between = (gaps - 8.0 * bytes_ / bps)[within] / packet_s
    at = at[within]
    is_none = np.abs(between) < NEAR_WHOLE
    is_some = (between > 0.5) & (between < MAX_BETWEEN)
    if int(is_some.sum()) < MIN_GAPS:
        return None
    whole = np.abs(between[is_some] - np.round(between[is_some])) < NEAR_WHOLE
    # Both in the same quarter of a second: a rate that falls to an integer fraction only has the
    # longer gaps.
    both = np.intersect1d(at[is_none], at[is_some])
    if float(np.mean(whole)) < MIN_WHOLE or len(both) < MIN_BOTH * len(np.unique(at)):
        return None
    left = float(np.median(busy))
    flows = max(1, round(bps / left) - 1)
    return bps, Beside(flows, left / bps, False, bps - left, give_way=False)


def _delays(flow: Observed, begin_s: float, end_s: float) -> Reals:
    """The median queueing delay of each window; NaN in windows without a round trip."""
    count = max(1, int((end_s - begin_s) / WINDOW_S))
    known = flow.sampled
    windows = np.floor((flow.acked_s[known] - begin_s) / WINDOW_S).astype(np.int64)
    delays = flow.queueing_s[known]
    order = np.argsort(windows, kind="stable")
    windows, delays = windows[order], delays[order]
    edges = np.searchsorted(windows, np.arange(count + 1))
    medians: Reals = np.array(
        [np.median(delays[low:high]) if high > low else np.nan for low, high in pairwise(edges)]
    )
    return medians


def _agree(one: Reals, other: Reals) -> bool:
    both = np.isfinite(one) & np.isfinite(other)
    if both.sum() < MIN_WINDOWS:
        return False
    one, other = one[both], other[both]
    if min(one.std(), other.std()) < MIN_SPREAD_S:
        return False
    return float(np.corrcoef(one, other)[0, 1]) >= MIN_CORRELATION
