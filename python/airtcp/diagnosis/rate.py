"""The rate of the link: one number, a recording, or bounds."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from airtcp.diagnosis.aggregates import TOGETHER_S, Aggregates, aggregates_of
from airtcp.diagnosis.observed import FLOOR_S, Observed, Reals

WINDOW_S = 0.25
"""Long enough for some packets at a megabit a second, short beside changes of a link."""
NEAR = 0.05
"""A window within this share of the mode has the same rate."""
CONSTANT_SHARE = 0.55
"""A link whose busy windows are as often near the mode has one rate."""
OUTDONE_SHARE = 0.1
"""A rate that was exceeded in a larger share of the windows is not the link's one rate."""
DISPERSION_SHARE = 0.3
"""The same of gaps between acknowledgments, whose times hosts blur."""
FEWEST = 8
"""Windows, or pairs of acknowledgments, without which nothing is said."""
UNBOUNDED = 10.0
"""A link whose packets never showed their spacing may have this many times what it delivered."""
LONG_WINDOW_S = 2.0
HIGH_QUANTILE = 0.9
"""Of what windows delivered: the highest tenth may hold a window's own error."""
BUSIEST_S = 0.1
"""Time in which the most that was delivered bounds the rate from below."""
FEWEST_ALIKE = 3
"""Windows in a row that agree, from which on their differences are errors."""
STEP_RATIO = 1.5
"""A rate that changes by less than this factor is no step."""
STEP_SHARE = 0.75
"""Share of the busy windows near a rate for which it counts as the rate before or after a step."""
MAX_INTERPOLATED = 0.5
"""A recording that is interpolated for a larger share of the time has bounds only."""


@dataclass(frozen=True)
class Rate:
    """The link's rate, as far as it is known, in bits of IP packets a second."""

    bps: float
    """The constant rate; of a recorded link the mean."""
    steps: Reals | None
    """Of a recorded link the rate in each `WINDOW_S` from the first data on."""
    near_share: float
    """Share of the busy windows near the mode."""
    interpolated: float
    """Share of the time for which a recorded rate is a guess from its neighbours."""
    samples: Reals
    """The measured rates that it is the median of."""
    source: str
    """Its source: `queue`, `dispersion`, `bounds`, `long windows`, `policer` or `given`."""
    bounds: tuple[float, float] | None = None
    """Where the link was hardly ever full: what it has at least, and what it may have."""
    steps_at_bounds: tuple[Reals, Reals] | None = None
    """The same of a recorded link that hardly ever showed its rate."""
    step: "Step | None" = None
    """A recorded rate that changes once, and stays."""

    @property
    def is_constant(self) -> bool:
        """One number describes it."""
        return self.steps is None and self.bounds is None

    def at_bound(self, end: int) -> "Rate":
        """The rate if it is that of a bound; the same where it has none."""
        if self.bounds is None:
            return self
        steps = self.steps if self.steps_at_bounds is None else self.steps_at_bounds[end]
        return replace(self, bps=self.bounds[end], steps=steps)


@dataclass(frozen=True)
class Step:
    """A rate that changes once, in bits a second; the time is the capture's."""

    at_s: float
    before_bps: float
    after_bps: float


def fitted_rate(flow: Observed) -> Rate:
    """The rate at which the link delivers while packets wait for it.

    Windows in which every round trip shows a queue were never idle: what they delivered is the
    link's own rate. Where no queue stands, acknowledgments that come at least twice as far apart
    as their segments were sent show the link's spacing.
    """
    times, rates = busy_windows(flow)
    aggregates = delivered_in_bursts(flow)
    # What comes at once shows no spacing.
    spaced = _dispersion(flow) if aggregates is None else np.array([])
    if len(rates) >= FEWEST:
        mode = half_sample_mode(rates)
        near = float(np.mean(np.abs(rates - mode) <= NEAR * mode))
        # A rate that fell late in the capture is that of most windows all the same.
        is_one = rate_step(times, rates) is None
        if is_one and near >= CONSTANT_SHARE and _outdone(flow, mode) <= OUTDONE_SHARE:
            # The mode of few windows is coarse; the median of those beside it is not.
            beside = rates[np.abs(rates - mode) <= NEAR * mode]
            return Rate(float(np.median(beside)), None, near, 0.0, beside, "queue")
        return _recorded(flow, times, rates, near, shows_spacing=aggregates is None)
    mode, near = _mode(spaced)
    if near >= DISPERSION_SHARE:
        beside = spaced[np.abs(spaced - mode) <= NEAR * mode]
        return Rate(float(np.median(beside)), None, near, 0.0, beside, "dispersion")
    return _bounded(flow, spaced, aggregates)


def delivered_in_bursts(flow: Observed) -> Aggregates | None:
    """The bursts in which a link delivers; None where the pauses between show one rate.

    Hosts that handle several packets at once make bursts as well, but leave the link's spacing.
    """
    found = aggregates_of(flow)
    if found is None:
        return None
    _, near = _mode(_spaced(flow, TOGETHER_S)[1])
    return None if near >= DISPERSION_SHARE else found


def spacing_mode(flow: Observed) -> float | None:
    """The rate whose spacing acknowledgments have most often; None where none stands out."""
    if delivered_in_bursts(flow) is not None:
        return None
    mode, near = _mode(_dispersion(flow))
    return mode if near >= DISPERSION_SHARE else None


def _mode(spaced: Reals) -> tuple[float, float]:
    """The mode of rates between acknowledgments, and the share of them that is near it."""
    if len(spaced) < 10 * FEWEST:
        return 0.0, 0.0
    mode = half_sample_mode(spaced)
    return mode, float(np.mean(np.abs(spaced - mode) <= NEAR * mode))


def spaced_rate(bps: float) -> Rate:
    """The rate of a link that others share, by the spacing of its packets."""
    return Rate(bps, None, 1.0, 0.0, np.array([]), "dispersion")


def given_rate(bps: float) -> Rate:
    """The rate that the user knows."""
    return Rate(bps, None, 1.0, 0.0, np.array([]), "given")


def _bounded(flow: Observed, spaced: Reals, aggregates: Aggregates | None) -> Rate:
    """Bounds of the rate of a link that was hardly ever full, often since it loses.

    It has at least what it delivered in the busiest tenth of a second. Packets that left together
    and were acknowledged apart, as in slow start, show its spacing, if not how often it is that of
    the hosts: their mode bounds it from above. Of a link that delivers in bursts it is what these
    had over the pauses before them.
    """
    if flow.phases:
        return _bounded_by_phase(flow)
    low = _busiest(flow)
    mode = half_sample_mode(spaced) if len(spaced) >= FEWEST else 0.0
    if aggregates is not None:
        mode = aggregates.most_bps
    high = (1 + NEAR) * mode if mode > low else UNBOUNDED * low
    return Rate(low, None, 0.0, 1.0, np.array([]), "bounds", bounds=(low, high))


def _bounded_by_phase(flow: Observed) -> Rate:
    """The same of a path that changes, whose phases have a rate each."""
    edges = np.arange(flow.begun_s, flow.ended_s, WINDOW_S)
    phase = np.maximum(
        np.searchsorted([begin for begin, _ in flow.phases], edges, side="right") - 1, 0
    )
    carried = _carried(flow, edges)
    low = np.zeros(len(edges))
    for one in np.unique(phase):
        low[phase == one] = float(np.quantile(carried[phase == one], HIGH_QUANTILE))
    mean = float(np.mean(low))
    bounds = mean, UNBOUNDED * mean
    steps_at_bounds = low, UNBOUNDED * low
    return Rate(
        mean,
        low,
        0.0,
        1.0,
        np.array([]),
        "bounds",
        bounds=bounds,
        steps_at_bounds=steps_at_bounds,
    )


def rate_of_long_windows(flow: Observed) -> Rate:
    """The rate where acknowledgments come bunched, so that their spacing shows another queue's.

    Over a second or two the bunches even out: what the busiest tenth of these delivered.
    """
    edges = np.arange(flow.begun_s, flow.ended_s, LONG_WINDOW_S)
    at = np.interp(edges, flow.link_ack_s, flow.link_delivered)
    carried = 8.0 * np.diff(at) / LONG_WINDOW_S
    whole = 8.0 * float(flow.delivered[-1]) / flow.seconds
    bps = max(float(np.quantile(carried, HIGH_QUANTILE)) if len(carried) else 0.0, whole)
    return Rate(bps, None, 0.0, 0.0, carried, "long windows")


def busy_windows(flow: Observed) -> tuple[Reals, Reals]:
    """Beginnings and rates of the windows in which a queue stood throughout."""
    queueing = flow.queueing_s
    came = flow.acked_s[flow.sampled]
    order = np.argsort(came, kind="stable")
    came, queueing = came[order], queueing[flow.sampled][order]
    times, rates = [], []
    edges = np.arange(flow.begun_s, flow.ended_s - WINDOW_S, WINDOW_S)
    for begin in edges:
        low, high = np.searchsorted(came, (begin, begin + WINDOW_S))
        first, last = np.searchsorted(flow.link_ack_s, (begin, begin + WINDOW_S))
        if high - low < 4 or last - first < 4:
            continue
        acks = flow.link_ack_s[first:last]
        bytes_ = float(flow.link_delivered[last - 1] - flow.link_delivered[first])
        between = float(acks[-1] - acks[0])
        # A link that stood still within the window has another rate in it than while it worked.
        still = float(np.diff(acks).max(initial=0.0)) > max(0.06, 0.6 * flow.base_rtt_s)
        if between < WINDOW_S / 2 or bytes_ <= 0 or still:
            continue
        rate = 8.0 * bytes_ / between
        if queueing[low:high].min() > max(FLOOR_S, 2.5 * 8.0 * flow.full_size / rate):
            times.append(begin)
            rates.append(rate)
    return np.array(times), np.array(rates)


def half_sample_mode(values: Reals) -> float:
    """The mode by halving: the densest half, of that the densest half, down to two or three.

    Bickel and Frühwirth, Computational Statistics & Data Analysis 50 (2006), §4.
    """
    kept = np.sort(values)
    while len(kept) > 3:
        half = (len(kept) + 1) // 2
        widths = kept[half - 1 :] - kept[: len(kept) - half + 1]
        begin = int(np.argmin(widths))
        kept = kept[begin : begin + half]
    if len(kept) == 3:
        kept = kept[:2] if kept[1] - kept[0] <= kept[2] - kept[1] else kept[1:]
    return float(kept.mean())


def _dispersion(flow: Observed) -> Reals:
    """Rates between acknowledgments that came twice as far apart as their data was sent."""
    return _spaced(flow)[1]


def _spaced(flow: Observed, least_s: float = 0.0) -> tuple[Reals, Reals]:
    """The same with their times, of gaps longer than `least_s`."""
    order = np.argsort(flow.acked_s, kind="stable")
    order = order[flow.sampled[order]]
    came, sent = flow.acked_s[order], flow.sent_s[order]
    last = np.flatnonzero(np.diff(came, append=np.inf) > 0)
    if len(last) < 2:
        return np.array([]), np.array([])
    at = np.searchsorted(flow.link_ack_s, came[last])
    known = at < len(flow.link_ack_s)
    at, last = at[known], last[known]
    gaps, sends = np.diff(flow.link_ack_s[at]), np.diff(sent[last])
    bytes_ = np.diff(flow.link_delivered[at])
    spread = (
        (gaps > least_s) & (bytes_ > 0) & (gaps >= 2 * np.abs(sends)) & (gaps < flow.base_rtt_s / 2)
    )
    rates: Reals = 8.0 * bytes_[spread] / gaps[spread]
    return flow.link_ack_s[at[1:]][spread], rates


def _recorded(
    flow: Observed, times: Reals, rates: Reals, near: float, *, shows_spacing: bool
) -> Rate:
    """A rate for every window: seen where the link was busy or showed its spacing, else a guess.

    A guess lies between its neighbours, and is no less than what the link delivered meanwhile.
    Where most are guesses, the link may have the highest rate that was seen in their place.
    """
    edges = np.arange(flow.begun_s, flow.ended_s, WINDOW_S)
    seen = np.searchsorted(edges, times + WINDOW_S / 2) - 1
    steps = np.full(len(edges), np.nan)
    if shows_spacing:
        for window, rate in _spaced_windows(flow, edges):
            steps[window] = rate
    steps[seen] = rates
    is_seen = np.isfinite(steps)
    guessed = np.interp(edges, edges[is_seen], steps[is_seen])
    carried = _carried(flow, edges)
    step = rate_step(times, rates) or rate_step(edges[is_seen], steps[is_seen])
    most = np.where(is_seen, steps, np.maximum(float(np.quantile(steps[is_seen], 0.9)), carried))
    steps = _levelled(np.where(is_seen, steps, np.maximum(guessed, carried)))
    interpolated = 1.0 - float(is_seen.mean())
    if step is not None:
        # It is constant before and after, also where it did not show.
        steps = np.where(edges < step.at_s, step.before_bps, step.after_bps)
        interpolated = 0.0
    mean = float(np.mean(steps))
    found = Rate(mean, steps, near, interpolated, rates, "queue", step=step)
    if interpolated <= MAX_INTERPOLATED:
        return found
    most = _levelled(most)
    bounds = mean, max(mean, float(np.mean(most)))
    return replace(found, bounds=bounds, steps_at_bounds=(steps, most))


def _levelled(steps: Reals) -> Reals:
    """The same rates, with windows in a row that agree at their median.

    What is left of a window's error would look like a rate that was higher for a moment, which BBR
    remembers for ten round trips.
    """
    levelled = steps.copy()
    begin = 0
    for end in range(1, len(steps) + 1):
        level = float(np.median(steps[begin:end]))
        if end < len(steps) and abs(steps[end] - level) <= NEAR * level:
            continue
        if end - begin >= FEWEST_ALIKE:
            levelled[begin:end] = level
        begin = end
    return levelled


def rate_step(times: Reals, rates: Reals) -> Step | None:
    """The one change of a rate that is constant before and after it."""
    best: tuple[float, Step] | None = None
    for at in range(FEWEST, len(rates) - FEWEST + 1):
        before, after = rates[:at], rates[at:]
        one, other = float(np.median(before)), float(np.median(after))
        if max(one, other) < STEP_RATIO * min(one, other):
            continue
        near = min(
            float(np.mean(np.abs(before - one) <= NEAR * one)),
            float(np.mean(np.abs(after - other) <= NEAR * other)),
        )
        if near >= STEP_SHARE and (best is None or near > best[0]):
            between = (float(times[at - 1]) + WINDOW_S + float(times[at])) / 2
            best = near, Step(between, one, other)
    return best[1] if best else None


def _carried(flow: Observed, edges: Reals) -> Reals:
    """What each window delivered, as a rate."""
    at = np.interp(np.append(edges, edges[-1] + WINDOW_S), flow.link_ack_s, flow.link_delivered)
    carried: Reals = 8.0 * np.diff(at) / WINDOW_S
    return carried


def _outdone(flow: Observed, bps: float) -> float:
    """The share of the windows that delivered more than a link of that rate can.

    Where a rate varies and no queue stands while it is high, the windows in which one stands agree
    on the low rate alone. A packet or two more are how well a window is cut.
    """
    carried = _carried(flow, np.arange(flow.begun_s, flow.ended_s, WINDOW_S))
    return float(np.mean(carried > (1 + NEAR) * bps + 2 * 8.0 * flow.full_size / WINDOW_S))


def _spaced_windows(flow: Observed, edges: Reals) -> Iterator[tuple[int, float]]:
    """Windows in which enough acknowledgments show one spacing, and the rate that it tells."""
    came, rates = _spaced(flow)
    first = np.searchsorted(came, edges)
    last = np.searchsorted(came, edges + WINDOW_S)
    for window, (low, high) in enumerate(zip(first, last, strict=True)):
        if high - low < FEWEST:
            continue
        mode = half_sample_mode(rates[low:high])
        beside = np.abs(rates[low:high] - mode) <= NEAR * mode
        if beside.mean() >= DISPERSION_SHARE:
            yield window, float(np.median(rates[low:high][beside]))


def _busiest(flow: Observed) -> float:
    """The most that a tenth of a second delivered: the link has that at least.

    Acknowledgments that were pushed together on their way would show more than the link has: the
    highest one in a hundred is left out.
    """
    edges = np.arange(flow.begun_s, flow.ended_s + BUSIEST_S, BUSIEST_S)
    at = np.interp(edges, flow.link_ack_s, flow.link_delivered)
    carried = 8.0 * np.diff(at) / BUSIEST_S
    busiest = float(np.quantile(carried, 0.99)) if len(carried) else 0.0
    # Of a flow that is mostly idle, ninety-nine in a hundred tenths deliver nothing.
    return max(busiest, 8.0 * float(flow.delivered[-1]) / flow.seconds)
