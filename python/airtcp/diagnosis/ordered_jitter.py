"""Delays that vary from packet to packet while the order is kept: packets wait for late ones.

A full link of one rate delivers a packet's time apart. An acknowledgment that comes later shows
jitter, of the data or of itself. The tail of an exponential delay is memoryless: the mean excess
over any high quantile is the mean of the delay, whichever packet the times are counted from, and
however many packets wait for another.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from airtcp.diagnosis.jitter import Jitter
from airtcp.diagnosis.link import FittedLink
from airtcp.diagnosis.observed import FLOOR_S, Observed, Reals
from airtcp.diagnosis.queue import fitted_queue
from airtcp.diagnosis.rate import NEAR, Rate

WINDOW_S = 2.0
"""Long enough for a rate within one per cent at jitter of 15 ms."""
FEWEST_WINDOWS = 5
FEWEST_REPORTS = 20
"""Minimum number of reports in a window."""
CONSTANT_SHARE = 0.75
"""Minimum share of the windows near the median rate: it is one rate."""
QUANTILES = (0.5, 0.75, 0.9)
MEMORYLESS = 1.6
"""Maximum ratio of the mean excesses over these quantiles; bursts of an even length have five."""
EVERY_PACKET = 0.5
"""Minimum lateness of the promptest quarter, relative to the mean excess: jitter meets each packet.
"""
TWO_WAYS = 1.2
"""Mean excess of two exponential delays of one mean, data's and acknowledgment's, at the upper
quartile, relative to that mean: 1 + 1 / (1 + x) at x means, where four are usual.
"""


def with_ordered_jitter(link: FittedLink, flow: Observed) -> FittedLink | None:
    """The link with one rate and jitter that keeps the order; None if these do not show."""
    windows = list(_busy(flow))
    if len(windows) < FEWEST_WINDOWS or flow.phases:
        return None
    rates = np.array([_bps(came, delivered) for came, delivered in windows])
    bps = float(np.median(rates))
    is_near = np.abs(rates - bps) <= NEAR * bps
    if is_near.mean() < CONSTANT_SHARE:
        return None
    of_rate = [window for window, near in zip(windows, is_near, strict=True) if near]
    late_s = np.concatenate([_lateness(*window, bps) for window in of_rate])
    excesses = [_mean_excess(late_s, share) for share in QUANTILES]
    packet_s = 8.0 * flow.full_size / bps
    is_memoryless = max(excesses) <= MEMORYLESS * min(excesses)
    meets_each = float(np.quantile(late_s, 0.25)) >= EVERY_PACKET * excesses[1]
    if not is_memoryless or not meets_each or excesses[1] < max(FLOOR_S, packet_s):
        return None
    rate = Rate(bps, None, float(is_near.mean()), 0.0, rates[is_near], "queue")
    mean_s = excesses[1] / TWO_WAYS
    # The shortest of few round trips without a queue has some of the jitter: of three, a mean.
    base_s = max(link.base_rtt_s - mean_s, link.base_rtt_s / 2)
    return replace(
        link,
        rate=rate,
        base_rtt_s=base_s,
        delay_s=max(0.0, link.delay_s - (link.base_rtt_s - base_s) / 2),
        queue=fitted_queue(flow, link.stops.stops),
        jitter=Jitter(mean_s, 0.0, keeps_order=True),
        beside=None,
        is_shared=False,
    )


def _busy(flow: Observed) -> Iterator[tuple[Reals, Reals]]:
    """Reports in each window with a queue throughout: their times, and the bytes delivered."""
    reports = np.flatnonzero(np.diff(flow.link_delivered, prepend=0.0) > 0)
    times, delivered = flow.link_ack_s[reports], flow.link_delivered[reports]
    order = np.argsort(flow.acked_s[flow.sampled], kind="stable")
    came = flow.acked_s[flow.sampled][order]
    queueing = flow.queueing_s[flow.sampled][order]
    for begin in np.arange(flow.begun_s, flow.ended_s - WINDOW_S, WINDOW_S / 2):
        first, behind = np.searchsorted(times, (begin, begin + WINDOW_S))
        low, high = np.searchsorted(came, (begin, begin + WINDOW_S))
        if behind - first < FEWEST_REPORTS or high - low < FEWEST_REPORTS:
            continue
        window = times[first:behind], delivered[first:behind]
        bps = _bps(*window)
        if bps > 0 and queueing[low:high].min() > max(FLOOR_S, 2.5 * 8.0 * flow.full_size / bps):
            yield window


def _bps(times: Reals, delivered: Reals) -> float:
    between = float(times[-1] - times[0])
    return 8.0 * float(delivered[-1] - delivered[0]) / between if between > 0 else 0.0


def _lateness(times: Reals, delivered: Reals, bps: float) -> Reals:
    """Lateness of each report after the promptest of its window, on a link of this rate."""
    behind = times - 8.0 * delivered / bps
    level = np.polyval(np.polyfit(times - times[0], behind, 1), times - times[0])
    above: Reals = behind - level
    late: Reals = above - above.min()
    return late


def _mean_excess(values: Reals, share: float) -> float:
    """Mean excess of the values above a quantile."""
    over = float(np.quantile(values, share))
    above = values[values > over]
    return float(above.mean()) - over if len(above) else 0.0
