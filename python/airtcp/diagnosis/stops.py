"""Stops of the link: silences that end with the acknowledgment of data in flight."""

from dataclasses import dataclass, replace

import numpy as np

from airtcp._core import gamma_quantile
from airtcp.diagnosis.observed import Flags, Observed, Reals

MIN_S = 0.03
"""Minimum length of a stop, longer than delays of hosts. BBR keeps for seconds the queue
built by even so short a stop.
"""
SURELY_S = 0.08
"""Maximum delay of hosts."""
DELAYED_ACK_S = 0.25
"""Maximum silence that may be a receiver waiting for a second segment (RFC 9293 allows 0.5 s, Linux
waits 40 to 200 ms): then only that one packet is late.
"""
FEWEST_LATE = 4
"""Minimum number of late packets after a stop this short."""
PACKETS = 8
"""Minimum silence in packet times; shorter ones are the spacing of a slow link."""
BASE_SHARE = 0.6
"""Minimum silence as a share of the base round trip; shorter ones separate two windows."""
BURST_S = 0.01
ORDINARY_SHARE = 0.25
"""Ordinary silences are from this share of the shortest stop up to the shortest stop."""
ALWAYS = 2.0
"""Rate of ordinary silences per second from which on they are the link's usual state: jitter."""
CHANCE = 0.05
"""A silence is a stop if jitter would bring fewer than this of its length in the whole capture."""
MIN_WORKING_S = 0.001
"""Minimum time between two stops (`link.stops.working`)."""
FEW_STOPS = 5
"""Below this many stops their rate is drawn: blocks of the capture only repeat observed stops."""
FEWEST_BEFORE = 2
"""Minimum number of stops before one in which the capture ends."""
HELD_SHARE = 0.5
"""Minimum share of the waiting data in one burst after a stop that held packets."""


@dataclass(frozen=True)
class Stop:
    """An interval without delivery, in seconds from the capture's first packet."""

    start_s: float
    length_s: float
    released_share: float
    """Share of the waiting data in one burst at the end; NaN if too little waited."""
    is_cut: bool = False
    """Whether the capture ends in it, so that it lasts longer."""


@dataclass(frozen=True)
class StopProcess:
    """Times and lengths of a link's stops, as a process."""

    stops: tuple[Stop, ...]
    observed_s: float
    is_taken_for_held: bool = False
    """Whether holding is assumed: the replay with holding was nearer to the capture."""
    drawn_working_s: float | None = None
    """The mean time between stops, if drawn from its posterior because there are few."""

    @property
    def shows_release(self) -> bool:
        """Whether enough packets waited in a stop to show whether they were released at once."""
        return any(np.isfinite(stop.released_share) for stop in self.stops)

    @property
    def are_few(self) -> bool:
        """Whether their frequency is known only within a factor of about three."""
        return 0 < len(self.stops) < FEW_STOPS and not self.is_periodic

    @property
    def mean_length_s(self) -> float:
        """Mean length of the stops that end."""
        return float(np.mean(self._lengths))

    @property
    def _lengths(self) -> list[float]:
        whole = [stop.length_s for stop in self.stops if not stop.is_cut]
        return whole or [stop.length_s for stop in self.stops]

    @property
    def mean_working_s(self) -> float:
        """Mean time between the end of one and the start of the next."""
        if self.drawn_working_s is not None:
            return self.drawn_working_s
        stopped = sum(stop.length_s for stop in self.stops)
        return max((self.observed_s - stopped) / len(self.stops), MIN_WORKING_S)

    @property
    def mean_period_s(self) -> float:
        """Mean time from the start of one to the start of the next."""
        return float(np.mean(np.diff([stop.start_s for stop in self.stops])))

    @property
    def variation(self) -> float:
        """Standard deviation over mean of the times between starts: 0 periodic, 1 random."""
        between = np.diff([stop.start_s for stop in self.stops])
        mean = float(np.mean(between)) if len(between) > 1 else 0.0
        return float(np.std(between)) / mean if mean > 0 else 1.0

    @property
    def is_periodic(self) -> bool:
        """Whether they come at regular intervals."""
        is_seen = self.drawn_working_s is None and len(self.stops) >= 4
        return is_seen and self.variation < 0.15

    @property
    def often(self) -> tuple[float, float]:
        """The 95 % interval of the number of stops in the observed time (Jeffreys' prior)."""
        shape = len(self.stops) + 0.5
        return gamma_quantile(shape, 0.025), gamma_quantile(shape, 0.975)

    def drawn(self, random: np.random.Generator) -> "StopProcess":
        """Draws a process consistent with few stops: a plausible rate, and observed lengths."""
        often = random.gamma(len(self.stops) + 0.5) / (len(self.stops) * self.mean_working_s)
        whole = [one for one in self.stops if not one.is_cut] or self.stops
        chosen = random.integers(0, len(whole), len(self.stops))
        return replace(
            self,
            stops=tuple(whole[one] for one in chosen),
            drawn_working_s=max(1.0 / max(often, 1e-6), MIN_WORKING_S),
        )

    @property
    def have_one_length(self) -> bool:
        """Whether they all have the same length."""
        lengths = self._lengths
        return len(lengths) >= 4 and float(np.std(lengths)) < 0.15 * float(np.mean(lengths))

    @property
    def are_held(self) -> bool:
        """Whether packets are released all at once at the end, not at the link's rate."""
        shares = np.array([stop.released_share for stop in self.stops])
        told = shares[np.isfinite(shares)]
        if not len(told):
            return self.is_taken_for_held
        return float(np.median(told)) > HELD_SHARE


def found_stops(flow: Observed, rate_bps: float) -> list[Stop]:
    """Silences of the acknowledgments in which the link, not the sender, was stopped.

    Jitter that keeps the order also makes silences: all packets after a delayed one wait for it. A
    stop is longer than these explain.
    """
    packet_s = 8.0 * flow.full_size / rate_bps
    floor = max(PACKETS * packet_s, BASE_SHARE * flow.base_rtt_s)
    shortest, surely = max(MIN_S, floor), max(SURELY_S, floor)
    begun, ended = _silences(flow, packet_s, ORDINARY_SHARE * shortest)
    waited = _waits_back(flow, begun, ended, shortest)
    begun, ended = joined(flow, begun[~waited], ended[~waited])
    lengths = ended - begun
    is_stop = np.zeros(len(lengths), dtype=np.bool_)
    # Frequent short silences of hosts and jitter hide short stops, but not long ones.
    for least in (shortest, surely):
        some = np.flatnonzero(lengths > ORDINARY_SHARE * least)
        long = (lengths[some] > least) & _exceeds_jitter(lengths[some], least, flow.seconds)
        is_stop[some[long]] = True
    # The silence is that of acknowledgments, which left the link half a round trip earlier.
    found = [
        Stop(
            begin - flow.base_rtt_s / 2,
            end - begin,
            _released(flow, end, end - begin, rate_bps),
        )
        for begin, end in zip(begun[is_stop].tolist(), ended[is_stop].tolist(), strict=True)
    ]
    last = _unfinished(flow, packet_s, surely, found)
    return found if last is None else [*found, last]


def _unfinished(flow: Observed, packet_s: float, least: float, found: list[Stop]) -> Stop | None:
    """The stop in which the capture ends, if there were some before; None without.

    Nothing ends the silence, and a path that is gone looks alike: it is one more of the stops while
    it lasts no longer than these.
    """
    if len(found) < FEWEST_BEFORE or not len(flow.ack_s):
        return None
    lengths = [stop.length_s for stop in found]
    answered_s, end_s = float(flow.ack_s[-1]), float(flow.sent_s[-1])
    sampled = flow.rtt_s[flow.sampled]
    due = flow.sent_s[~np.isfinite(flow.acked_s)] + float(np.median(sampled[-5:]))
    due = due[due > answered_s]
    overdue = due[due < end_s - packet_s]
    if len(overdue) < FEWEST_LATE:
        return None
    begin_s = max(answered_s + packet_s, float(overdue.min()))
    if not least < end_s - begin_s <= max(lengths):
        return None
    return Stop(begin_s - flow.base_rtt_s / 2, end_s - begin_s, float("nan"), is_cut=True)


def joined(flow: Observed, begun: Reals, ended: Reals) -> tuple[Reals, Reals]:
    """Silences with one where only a delayed acknowledgment, of one segment, parts two of them.

    Its time is the receiver's (RFC 9293 §3.8.6.3): the segment arrived before the silence.
    """
    if len(begun) < 2:
        return begun, ended
    delivered = np.concatenate(([0.0], np.cumsum(flow.newly)))
    first = np.searchsorted(flow.ack_s, ended[:-1] - 1e-9)
    behind = np.searchsorted(flow.ack_s, begun[1:] + 1e-9, side="right")
    between = delivered[np.maximum(behind, first)] - delivered[first]
    is_near = begun[1:] - ended[:-1] <= BURST_S
    is_parted = ~(is_near & (between <= flow.full_size))
    return begun[np.append(True, is_parted)], ended[np.append(is_parted, True)]


def _silences(flow: Observed, packet_s: float, shortest: float) -> tuple[Reals, Reals]:
    """Start and end of the silences caused by the link, not the sender.

    A silence counts if the acknowledgment that ends it reports a transmission that was not lost,
    left before or early in the silence, and took that much longer than its predecessors: a loss, an
    idle application and slow start's pauses of a round trip all lack that. A sender that goes back
    after a timeout has sent all of it again by then: its round trips are ambiguous (RFC 6298 §3),
    but it arrived.
    """
    order = np.argsort(flow.acked_s, kind="stable")
    order = order[(flow.sampled | flow.survived)[order]]
    came, sent = flow.acked_s[order], flow.sent_s[order]
    certain = flow.sampled[order]
    rtt = np.where(certain, flow.rtt_s[order], came - sent)
    begun, ended = [], []
    # Any acknowledgment ends a silence, including one that reports nothing new.
    for before, after in zip(flow.ack_s[:-1], flow.ack_s[1:], strict=True):
        if after - before <= shortest:
            continue
        first = int(np.searchsorted(came, after - 1e-9))
        # As wide as at its beginning, to include packets that arrived just in time.
        until = after + BURST_S + 1e-9
        if first == 0 or first >= len(came) or came[first] >= until:
            continue
        usual = float(np.median(rtt[max(0, first - 5) : first]))
        last = int(np.searchsorted(came, until))
        due = sent[first:last] + usual
        if after - before < DELAYED_ACK_S:
            overdue = np.count_nonzero((due < after - packet_s) & certain[first:last])
            # A slow link spreads them: a receiver that waits delays one packet, a stop all.
            behind = slice(first, first + 2 * FEWEST_LATE)
            late = came[behind] - sent[behind] - usual > (after - before) / 2
            waiting = np.count_nonzero(late & certain[behind] & (sent[behind] <= before))
            if max(overdue, waiting) < FEWEST_LATE:
                continue
        expected = float(due.min())
        begin = max(before + packet_s, expected)
        if after - begin > shortest:
            begun.append(begin)
            ended.append(after)
    return np.array(begun), np.array(ended)


def _waits_back(flow: Observed, begun: Reals, ended: Reals, shortest: float) -> Flags:
    """Silences in which the acknowledgments wait for reverse data, and the data was in time."""
    waits = np.zeros(len(begun), dtype=np.bool_)
    busy = flow.busy_back
    if busy is None:
        return waits
    order = np.argsort(flow.acked_s, kind="stable")
    order = order[flow.sampled[order]]
    came = flow.acked_s[order]
    there = busy.way_there_s(flow.sent_s[order], came)
    for at, (begin, end) in enumerate(zip(begun.tolist(), ended.tolist(), strict=True)):
        if not busy.passes(begin, end, shortest):
            continue
        first, last = np.searchsorted(came, (end - 1e-9, end + BURST_S + 1e-9))
        before, after = there[max(0, first - 5) : first], there[first:last]
        if np.isfinite(before).any() and np.isfinite(after).any():
            waits[at] = float(np.nanmin(after) - np.nanmedian(before)) <= shortest
        else:
            waits[at] = True
    return waits


def _exceeds_jitter(lengths: Reals, shortest: float, seconds: float) -> Flags:
    """Silences that are too long to be the link's jitter.

    Jitter affects every packet, so that short silences come all the time, and the long ones are the
    tail of their distribution: exponential above a threshold (Pickands 1975). It is fitted to the
    ordinary silences only, which are cut off at the minimum length of a stop.
    """
    from_s = ORDINARY_SHARE * shortest
    span = shortest - from_s
    ordinary = lengths[lengths <= shortest] - from_s
    between = seconds - float(lengths[lengths > shortest].sum())
    if len(ordinary) == 0 or len(ordinary) < ALWAYS * between:
        return np.ones(len(lengths), dtype=np.bool_)
    scale = _cut_exponential(float(ordinary.mean()) / span) * span
    uncut = len(ordinary) / -np.expm1(-span / scale)
    exceeds: Flags = uncut * np.exp(-(lengths - from_s) / scale) < CHANCE
    return exceeds


def _cut_exponential(mean: float) -> float:
    """The scale of an exponential distribution truncated at 1, from the mean of its values.

    Its likelihood is largest if the mean is the expected one. A uniform distribution has a mean of
    one half; a larger mean is not expected.
    """
    flat, steep = 1e3, 2e-3

    def off(scale: float) -> float:
        return scale - 1.0 / float(np.expm1(1.0 / scale)) - mean

    if off(flat) <= 0:
        return flat
    if off(steep) >= 0:
        return steep
    low, high = steep, flat
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if off(middle) < 0 else (low, middle)
    return high


def _released(flow: Observed, end_s: float, length_s: float, rate_bps: float) -> float:
    """The share of the waiting data that came at once, beyond the link's delivery at its rate.

    Half a base round trip after the end, data held at the receiver is acknowledged. Until then,
    acknowledgments that waited on the return path arrive, of half a round trip at most. NaN if no
    more than that waited.
    """
    half_s = flow.base_rtt_s / 2
    first, last = np.searchsorted(flow.ack_s, (end_s, end_s + half_s + BURST_S))
    before = flow.delivered[first - 1] if first else 0.0
    came = float(flow.delivered[last - 1] - before) if last > first else 0.0
    under_way = (flow.sent_s < end_s) & ~(flow.acked_s < end_s) & ~flow.lost
    bytes_per_s = rate_bps / 8
    at_rate = bytes_per_s * (2 * half_s + BURST_S)
    waited = min(bytes_per_s * (length_s + half_s), float(flow.size[under_way].sum())) - at_rate
    if waited <= 4 * flow.full_size:
        return float("nan")
    return float(np.clip((came - at_rate) / waited, 0.0, 1.0))
