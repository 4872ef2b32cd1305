"""The rate of the link: one number, a recording, or bounds."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from airtcp.diagnosis.aggregates import TOGETHER_S, Aggregates, aggregates_of
from airtcp.diagnosis.observed import FLOOR_S, Observed, Reals

WINDOW_S = 0.25
"""Long enough for some packets at a megabit a second, short compared with changes of a link."""
NEAR = 0.05
"""Maximum relative distance from the mode for an equal rate."""
CONSTANT_SHARE = 0.55
"""Minimum share of the busy windows near the mode for a constant rate."""
OUTDONE_SHARE = 0.1
"""Maximum share of windows that exceed the mode for a constant rate."""
DISPERSION_SHARE = 0.3
"""The same for gaps between acknowledgments, with times blurred by hosts."""
FEWEST = 8
"""Minimum number of windows, or pairs of acknowledgments."""
UNBOUNDED = 10.0
"""Assumed upper bound as a multiple of the delivery, for a link that never showed its spacing."""
LONG_WINDOW_S = 2.0
HIGH_QUANTILE = 0.9
"""Quantile of the windows' delivery: the top tenth may contain errors of the windows."""
BUSIEST_S = 0.1
"""Length of the window with the largest delivery, which bounds the rate from below."""
FEWEST_ALIKE = 3
"""Minimum number of consecutive windows with agreeing rates; their differences are then errors."""
STEP_RATIO = 1.5
"""Minimum factor between the rates before and after a step."""
STEP_SHARE = 0.75
"""Minimum share of the busy windows near a rate, for it to be the rate before or after a step."""
MAX_INTERPOLATED = 0.5
"""Maximum interpolated share of a recorded rate; beyond it only bounds are given."""


@dataclass(frozen=True)
class Rate:
    """The link's rate, as far as it is known, in bits of IP packets a second."""

    bps: float
    """The constant rate; for a recorded link the mean."""
    steps: Reals | None
    """For a recorded link the rate in each `WINDOW_S` from the first data on."""
    near_share: float
    """Share of the busy windows near the mode."""
    interpolated: float
    """Share of the time for which a recorded rate is a guess from its neighbours."""
    samples: Reals
    """The measured rates; the rate is their median."""
    source: str
    """Its source: `queue`, `dispersion`, `bounds`, `long windows`, `policer` or `given`."""
    bounds: tuple[float, float] | None = None
    """Lower and upper bound, if the link was hardly ever full."""
    steps_at_bounds: tuple[Reals, Reals] | None = None
    """The same for a recorded link that hardly ever showed its rate."""
    step: "Step | None" = None
    """A recorded rate that changes exactly once."""

    @property
    def is_constant(self) -> bool:
        """Whether one number describes it."""
        return self.steps is None and self.bounds is None

    def at_bound(self, end: int) -> "Rate":
        """The rate with one of its bounds; unchanged without bounds."""
        if self.bounds is None:
            return self
        steps = self.steps if self.steps_at_bounds is None else self.steps_at_bounds[end]
        return replace(self, bps=self.bounds[end], steps=steps)


@dataclass(frozen=True)
class Step:
    """A rate that changes once, in bits a second; the time is that of the capture."""

    at_s: float
    before_bps: float
    after_bps: float


def fitted_rate(flow: Observed) -> Rate:
    """The rate at which the link delivers while packets wait for it.

    Windows in which every round trip shows a queue were never idle: their delivery is the link's
    rate. Without a standing queue, acknowledgments at least twice as far apart as their segments
    were sent show the link's spacing.
    """
    times, rates = busy_windows(flow)
    aggregates = delivered_in_bursts(flow)
    # Packets in bursts show no spacing.
    spaced = _dispersion(flow) if aggregates is None else np.array([])
    if len(rates) >= FEWEST:
        mode = half_sample_mode(rates)
        near = float(np.mean(np.abs(rates - mode) <= NEAR * mode))
        # A rate that dropped late in the capture is nevertheless that of most windows.
        is_one = rate_step(times, rates) is None
        if is_one and near >= CONSTANT_SHARE and _outdone(flow, mode) <= OUTDONE_SHARE:
            # The mode of few windows is coarse; the median of windows near it is not.
            beside = rates[np.abs(rates - mode) <= NEAR * mode]
            return Rate(float(np.median(beside)), None, near, 0.0, beside, "queue")
        return _recorded(flow, times, rates, near, shows_spacing=aggregates is None)
    mode, near = _mode(spaced)
    if near >= DISPERSION_SHARE:
        beside = spaced[np.abs(spaced - mode) <= NEAR * mode]
        return Rate(float(np.median(beside)), None, near, 0.0, beside, "dispersion")
    return _bounded(flow, spaced, aggregates)


def delivered_in_bursts(flow: Observed) -> Aggregates | None:
    """The bursts in which a link delivers; None if the pauses between them show one rate.

    Hosts that handle several packets at once make bursts as well, but preserve the link's spacing.
    """
    found = aggregates_of(flow)
    if found is None:
        return None
    _, near = _mode(_spaced(flow, TOGETHER_S)[1])
    return None if near >= DISPERSION_SHARE else found


def spacing_mode(flow: Observed) -> float | None:
    """The rate of the most frequent spacing of acknowledgments; None without a clear mode."""
    if delivered_in_bursts(flow) is not None:
        return None
    mode, near = _mode(_dispersion(flow))
    return mode if near >= DISPERSION_SHARE else None


def _mode(spaced: Reals) -> tuple[float, float]:
    """The mode of rates between acknowledgments, and the share of them near it."""
    if len(spaced) < 10 * FEWEST:
        return 0.0, 0.0
    mode = half_sample_mode(spaced)
    return mode, float(np.mean(np.abs(spaced - mode) <= NEAR * mode))


def spaced_rate(bps: float) -> Rate:
    """The rate of a shared link, by the spacing of its packets."""
    return Rate(bps, None, 1.0, 0.0, np.array([]), "dispersion")


def given_rate(bps: float) -> Rate:
    """The rate given by the user."""
    return Rate(bps, None, 1.0, 0.0, np.array([]), "given")


def _bounded(flow: Observed, spaced: Reals, aggregates: Aggregates | None) -> Rate:
    """Bounds of the rate of a link that was hardly ever full, often because of losses.

    It has at least the delivery of the busiest tenth of a second. Packets that were sent together
    and acknowledged apart, as in slow start, show a spacing, which may be that of the hosts: its
    mode bounds the rate from above. For a link that delivers in bursts it is the rate of bursts
    over the pauses before them.
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
    """The same for a path that changes; each phase has a rate."""
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
    """The rate if acknowledgments are compressed, so that their spacing shows another queue.

    Over a second or two the compression averages out: takes the busiest tenth of such windows.
    """
    edges = np.arange(flow.begun_s, flow.ended_s, LONG_WINDOW_S)
    at = np.interp(edges, flow.link_ack_s, flow.link_delivered)
    carried = 8.0 * np.diff(at) / LONG_WINDOW_S
    whole = 8.0 * float(flow.delivered[-1]) / flow.seconds
    bps = max(float(np.quantile(carried, HIGH_QUANTILE)) if len(carried) else 0.0, whole)
    return Rate(bps, None, 0.0, 0.0, carried, "long windows")


def busy_windows(flow: Observed) -> tuple[Reals, Reals]:
    """Start and rate of each window with a queue throughout."""
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
        # A window with a stop of the link has a lower rate than the working link.
        still = float(np.diff(acks).max(initial=0.0)) > max(0.06, 0.6 * flow.base_rtt_s)
        if between < WINDOW_S / 2 or bytes_ <= 0 or still:
            continue
        rate = 8.0 * bytes_ / between
        if queueing[low:high].min() > max(FLOOR_S, 2.5 * 8.0 * flow.full_size / rate):
            times.append(begin)
            rates.append(rate)
    return np.array(times), np.array(rates)


def half_sample_mode(values: Reals) -> float:
    """The mode by halving: the densest half, its densest half, down to two or three values.

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
    """Rates between acknowledgments at least twice as far apart as their data was sent."""
    return _spaced(flow)[1]


def _spaced(flow: Observed, least_s: float = 0.0) -> tuple[Reals, Reals]:
    """`_dispersion` with times, for gaps longer than `least_s`."""
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
    """A rate for every window: measured if the link was busy or showed its spacing, else a guess.

    A guess lies between its neighbours, and is at least the link's delivery meanwhile. If most are
    guesses, the upper bound takes the highest measured rate in their place.
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
        # It is constant before and after, including windows in which it did not show.
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
    """The same rates, with runs of agreeing windows set to their median.

    A remaining error of a window would look like a rate that was higher for a moment, which BBR
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
    """The single change of a rate that is constant before and after it."""
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
    """The delivery of each window, as a rate."""
    at = np.interp(np.append(edges, edges[-1] + WINDOW_S), flow.link_ack_s, flow.link_delivered)
    carried: Reals = 8.0 * np.diff(at) / WINDOW_S
    return carried


def _outdone(flow: Observed, bps: float) -> float:
    """The share of the windows that delivered more than a link of that rate can.

    If a rate varies and there is no standing queue while it is high, the windows with a queue agree
    on the low rate only. An excess of a packet or two is due to the cut of a window.
    """
    carried = _carried(flow, np.arange(flow.begun_s, flow.ended_s, WINDOW_S))
    return float(np.mean(carried > (1 + NEAR) * bps + 2 * 8.0 * flow.full_size / WINDOW_S))


def _spaced_windows(flow: Observed, edges: Reals) -> Iterator[tuple[int, float]]:
    """Windows with enough acknowledgments of one spacing, and the rate that it implies."""
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
    """The largest delivery of a tenth of a second: a lower bound of the rate.

    Compressed acknowledgments would show more than the link carries: the highest percentile is
    excluded.
    """
    edges = np.arange(flow.begun_s, flow.ended_s + BUSIEST_S, BUSIEST_S)
    at = np.interp(edges, flow.link_ack_s, flow.link_delivered)
    carried = 8.0 * np.diff(at) / BUSIEST_S
    busiest = float(np.quantile(carried, 0.99)) if len(carried) else 0.0
    # For a flow that is mostly idle, ninety-nine in a hundred tenths deliver nothing.
    return max(busiest, 8.0 * float(flow.delivered[-1]) / flow.seconds)
