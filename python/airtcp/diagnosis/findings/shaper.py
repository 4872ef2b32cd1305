"""A rate before the capture: a shaper, pacing or a program that lets the data out evenly.

A token bucket spaces a backlog by its tokens: bytes sent rise with time along a straight line.
Acknowledgments space the data of a window: as much as it holds, then a pause for the rest of each
round trip, unless the window just fills the link.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from airtcp.core.quantities import format_bit_rate
from airtcp.diagnosis.capture import Capture
from airtcp.diagnosis.findings.finding import CaptureFinding
from airtcp.diagnosis.link import FittedLink
from airtcp.diagnosis.observed import Observed
from airtcp.diagnosis.seconds import seconds_words

WINDOW_S = 1.0
WINDOW_PACKETS = 20
"""Minimum length of a window, in time and packets: fewer lie near a line by chance."""
FEWEST_WINDOWS = 3
SKIPPED = 0.2
"""Share of the flow before the first window: slow start, and the tokens of an idle bucket."""
TRAIN_S = 0.0002
"""Maximum gap within a train: of segments that leave as one, or a tick of a timer."""
UNEVEN_SEGMENTS, UNEVEN_SHARE = 0.5, 0.05
"""Maximum deviation from the line beyond a train, in segments or of the bytes in flight."""
EVEN = 0.9
"""Minimum share of the windows on a line, and of segments that are full."""
STEADY = 0.01
"""Maximum relative difference of the windows' rates."""
PAUSE_SEGMENTS = 5
"""Minimum bytes in flight, in segments: a fifth of fewer is no pause that would show."""
UNQUEUED_SEGMENTS = 1.5
"""Maximum delay over the base round trip, in segments at the rate: a sender that follows the link's
rate by its delay keeps two or more there (Vegas' alpha)."""
FIRST_SEGMENTS = 4.0
"""Maximum burst of a shaper's data where the link's rate does not show: of fewer segments than an
initial window has (RFC 6928)."""
BURSTS = (6, 12, 18)
"""Segments of bursts whose arrival shows a faster link; a longer one shows its rate better."""
MAX_TRAIN_BYTES = 65_536
"""Maximum bytes of a train: of a segment before it is cut (GSO). Programs write longer ones."""
ROOM = 1.25
"""Minimum ratio of the link's rate to the flow's, where a burst showed the link's."""
LOST = 0.001
RELEASED_S = 0.0001
"""Maximum time in which a host answers an acknowledgment with the data that it releases."""
CLOCKED = 0.5
"""Minimum share of the data that acknowledgments release."""


@dataclass(frozen=True)
class Even:
    """Data that leaves at one rate."""

    bps: float
    """Bits of IP packets a second."""
    share: float
    """Share of the windows in which it does."""


def even_rate(flow: Observed) -> Even | None:
    """The rate at which a flow's data leaves evenly; None if it does not."""
    order = np.argsort(flow.sent_s, kind="stable")
    sent_s, size = flow.sent_s[order], flow.size[order]
    begin_s = flow.begun_s + SKIPPED * (sent_s[-1] - flow.begun_s)
    kept = sent_s >= begin_s
    sent_s, size = sent_s[kept], size[kept]
    if len(sent_s) < 2 or np.mean(size >= flow.full_size) < EVEN:
        return None
    total = np.cumsum(size)
    firsts = np.flatnonzero(np.concatenate(([True], np.diff(sent_s) > TRAIN_S)))
    train = float(np.quantile(np.add.reduceat(size, firsts), 0.98))
    if train > MAX_TRAIN_BYTES:
        return None
    window_s = max(WINDOW_S, 2 * WINDOW_PACKETS * float(sent_s[-1] - begin_s) / len(sent_s))
    edges = np.searchsorted(sent_s, np.arange(begin_s, sent_s[-1], window_s))
    rates, deviations = [], []
    for first, last in pairwise(edges):
        if last - first < WINDOW_PACKETS:
            return None
        time_s, bytes_ = sent_s[first:last] - sent_s[first], total[first:last] - total[first]
        # No line goes through packets of one instant, as of a coarse clock or a single write.
        if time_s[-1] <= TRAIN_S:
            return None
        slope, level = np.polyfit(time_s, bytes_, 1)
        rates.append(8.0 * float(slope))
        deviations.append(float(np.ptp(bytes_ - slope * time_s - level)))
    if len(rates) < FEWEST_WINDOWS:
        return None
    bps = float(np.median(rates))
    if bps <= 0.0:
        return None
    in_flight = bps * flow.base_rtt_s / 8.0
    if flow.full_size < in_flight < PAUSE_SEGMENTS * flow.full_size:
        return None
    # The bytes of one train come at once.
    allowed = max(train - flow.full_size, 0.0) + max(
        UNEVEN_SEGMENTS * flow.full_size, min(UNEVEN_SHARE * in_flight, flow.full_size)
    )
    is_even = (np.array(deviations) <= allowed) & (np.abs(np.array(rates) / bps - 1.0) <= STEADY)
    share = float(np.mean(is_even))
    return Even(bps, share) if share >= EVEN else None


def shaper(capture: Capture, flow: Observed, link: FittedLink) -> CaptureFinding | None:
    """The finding; None if acknowledgments or the link space the data."""
    facts = capture.facts
    if facts is None or facts["view"] != "sender" or float(flow.lost.mean()) > LOST:
        return None
    even = even_rate(flow)
    if even is None or _is_clocked(flow) or not _is_below_the_link(flow, link, even):
        return None
    rate = format_bit_rate(even.bps)
    sentence = (
        f"Data leaves evenly at {rate}, whatever is acknowledged, and meets no queue at a round "
        f"trip of {seconds_words(flow.base_rtt_s)}: a shaper before this capture (tc: tbf, htb, "
        "cake, fq maxrate), a pacing rate or the program sets this rate. Unless it is meant, raise "
        "it."
    )
    evidence = [
        f"In {100 * even.share:.0f} % of the seconds after the beginning the bytes sent lie on a "
        "straight line, to a segment or a train: a window's would leave with the acknowledgments, "
        "and pause.",
        "`tc -s qdisc show` at the sender, and at a router between it and this capture, names "
        "a shaper and counts its overlimits; `ss -ti` shows pacing_rate and app_limited.",
    ]
    fastest = _fastest(flow, link)
    if fastest > ROOM * even.bps:
        evidence.append(f"A burst went through the link at {format_bit_rate(fastest)} or more.")
    return CaptureFinding("shaper", sentence, tuple(evidence))


def _is_clocked(flow: Observed) -> bool:
    """Whether acknowledgments release the data."""
    came = flow.ack_s[flow.newly > 0]
    sent_s = flow.sent_s[flow.sent_s > came[0]] if len(came) else came
    if not len(sent_s):
        return False
    latest = came[np.searchsorted(came, sent_s, side="right") - 1]
    return bool(np.mean(sent_s - latest <= RELEASED_S) > CLOCKED)


def _is_below_the_link(flow: Observed, link: FittedLink, even: Even) -> bool:
    """Whether the link could carry more.

    Either a burst went through it faster, or the data left at the even rate from its beginning and
    no queue builds up. A window that fills the link to the packet lets the data out as evenly, but
    its first round trips leave in bursts, which arrive at the link's rate; a sender that follows
    that rate by its delay keeps a queue of a few packets there.
    """
    if _fastest(flow, link) > ROOM * even.bps:
        return True
    segment_s = 8.0 * flow.full_size / even.bps
    queued_s = float(np.median(flow.rtt_s[flow.sampled])) - flow.base_rtt_s
    return queued_s <= UNQUEUED_SEGMENTS * segment_s and _burst(flow, even) <= FIRST_SEGMENTS


def _fastest(flow: Observed, link: FittedLink) -> float:
    """Bits a second that the link is known to carry: its rate, or that of the fastest arrivals."""
    if link.rate.source in ("queue", "dispersion", "given"):
        return link.bps
    return max(_fastest_arrival(flow, segments) for segments in BURSTS)


def _fastest_arrival(flow: Observed, segments: int) -> float:
    """Bits a second at which the fastest burst of this length arrived; 0 without one."""
    arrived = np.concatenate(([0.0], flow.delivered[:-1]))
    last = np.searchsorted(flow.delivered, arrived + segments * flow.full_size)
    first = np.flatnonzero(last < len(flow.ack_s))
    last = last[first]
    # The first acknowledgment of a burst tells of data that has arrived before it.
    seconds = np.maximum(flow.ack_s[last] - flow.ack_s[first], 1e-6)
    # Saved tokens let the first segment of an even flow out early.
    rates = 8.0 * (flow.delivered[last] - flow.delivered[first] - flow.full_size) / seconds
    return float(rates.max(initial=0.0))


def _burst(flow: Observed, even: Even) -> float:
    """The tokens that a bucket of this rate needs to let the flow's data out, in full segments."""
    order = np.argsort(flow.sent_s, kind="stable")
    beyond = np.cumsum(flow.size[order]) - even.bps / 8.0 * flow.sent_s[order]
    before = np.concatenate(([0.0], beyond[:-1]))
    return float(np.max(beyond - np.minimum.accumulate(before))) / flow.full_size
