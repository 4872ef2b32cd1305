"""Searches by simulation for Wi-Fi links that reproduce a capture."""

import math
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from airtcp import _core
from airtcp._core import Scenario
from airtcp.diagnosis.aggregates import TOGETHER_S
from airtcp.diagnosis.check import Played, loaded, nearest, replays
from airtcp.diagnosis.link import FittedLink
from airtcp.diagnosis.observed import Observed, Reals
from airtcp.diagnosis.scenario import Stack, WrittenLink, on_the_air
from airtcp.diagnosis.wifi import AIR_S, LADDER, Wifi, mode_near

OTHERS = (0, 1, 3)
DAMAGED = (0.0, 0.15)
WARM_S = 1.0
"""Time excluded as slow start, in seconds."""
PACKETS = 50_000
MIN_S, MAX_S = 3.0, 10.0
FEWEST_LOST = 10
"""Minimum number of losses without a queue that are not chance."""
ATTEMPTS = 7
"""Transmissions of a frame, the first included (`wlan.retry_limit`)."""
ROUNDS = 3
EFFICIENCY = 0.7
"""Share of a mode's rate that an aggregating link delivers, as the start of the search."""
NEAR = 0.10
MAX_DAMAGED = 0.6
BURST_WEIGHT = 0.3
"""Weight of the burst frequency: lower than that of goodput and delay, since drivers differ in the
number of frames per aggregate.
"""
KEPT = 10
PLAYED = 3
"""Number of the nearest candidates that are simulated for the capture's whole duration."""


@dataclass(frozen=True)
class Shape:
    """Measures for the comparison of the capture with each simulation."""

    goodput_bps: float
    median_rtt_s: float
    pause_s: float
    """Pause between bursts beyond which half of the time lies, in seconds."""

    def distance(self, other: "Shape") -> float:
        """Relative distance to another; no single term can compensate for the others."""
        return (
            abs(math.log(other.goodput_bps / self.goodput_bps))
            + abs(math.log(other.median_rtt_s / self.median_rtt_s))
            + BURST_WEIGHT * abs(math.log(other.pause_s / self.pause_s))
        )

    def is_near(self, other: "Shape") -> bool:
        """Whether goodput and round trip are within a tenth."""
        return all(
            abs(one / own - 1.0) <= NEAR
            for own, one in (
                (self.goodput_bps, other.goodput_bps),
                (self.median_rtt_s, other.median_rtt_s),
            )
        )


@dataclass(frozen=True)
class Fitted:
    """A link, and the measures of its simulation."""

    wifi: Wifi
    shape: Shape
    distance: float


def fitted_wifi(
    flow: Observed, queue_packets: int, stack: Stack, load: Callable[[WrittenLink], Scenario]
) -> list[Fitted]:
    """Links whose simulation approximately reproduces the capture, the nearest first.

    If no link is within a tenth in goodput and round trip, only the nearest.

    Args:
        flow: the flow as its sender saw it.
        queue_packets: length of its queue in packets, for links without per-station queues.
        stack: the sender.
        load: makes a scenario of a written link.

    Raises:
        RunError: a simulation could not be finished.
    """
    captured = _captured(flow)
    pace = captured.goodput_bps / (8 * stack.mss)
    seconds = float(np.clip(PACKETS / pace, MIN_S, MAX_S))
    delay_s = max(0.0, (flow.base_rtt_s - AIR_S) / 2)

    simulated: dict[Wifi, Shape | None] = {}

    def shapes(links: Sequence[Wifi]) -> list[Shape | None]:
        # A search that has found its mode asks for the same link again.
        new = [one for one in dict.fromkeys(links) if one not in simulated]
        scenarios = [load(on_the_air(one, stack, seconds)) for one in new]
        simulated.update(zip(new, _simulated(scenarios, seconds), strict=True))
        return [simulated[one] for one in links]

    found: list[Fitted] = []
    for fifo in (None, queue_packets):
        begun = [
            Wifi(LADDER[0], damaged, others, is_download, delay_s, fifo)
            for others in OTHERS
            for damaged in DAMAGED
            for is_download in (False, True)
        ]
        found += _matched(begun, captured, shapes)
        if any(captured.is_near(one.shape) for one in found):
            break
    found.sort(key=lambda one: one.distance)
    near = [one for one in found if captured.is_near(one.shape)]
    return near[:KEPT] or found[:1]


def _matched(
    links: Sequence[Wifi],
    captured: Shape,
    shapes: Callable[[Sequence[Wifi]], list[Shape | None]],
) -> Iterable[Fitted]:
    """Each link with the mode, and then the share of damaged frames, that gives the goodput."""
    wanted = [
        captured.goodput_bps * (1 + one.others) / (EFFICIENCY * (1 - one.damaged)) for one in links
    ]
    best: dict[int, Fitted] = {}

    def judged(tried: Sequence[Wifi]) -> list[float]:
        """Goodput of each relative to the capture; keeps the nearest of each."""
        ratios = []
        for place, (one, shape) in enumerate(zip(tried, shapes(tried), strict=True)):
            ratios.append(shape.goodput_bps / captured.goodput_bps if shape else 0.0)
            if shape is None:
                continue
            new = Fitted(one, shape, captured.distance(shape))
            if place not in best or new.distance < best[place].distance:
                best[place] = new
        return ratios

    tried = list(links)
    for _ in range(ROUNDS):
        tried = [
            replace(one, mode=LADDER[mode_near(bps)])
            for one, bps in zip(tried, wanted, strict=True)
        ]
        ratios = judged(tried)
        wanted = [
            one.mode.bps / min(max(ratio, 0.25), 4.0)
            for one, ratio in zip(tried, ratios, strict=True)
        ]
    # Modes are discrete: the share of damaged frames fills the gap between two of them.
    tried = [
        replace(
            one, damaged=float(np.clip(1 - (1 - one.damaged) / max(ratio, 0.1), 0, MAX_DAMAGED))
        )
        for one, ratio in zip(tried, ratios, strict=True)
    ]
    judged(tried)
    return best.values()


def _captured(flow: Observed) -> Shape:
    reports = np.diff(flow.delivered, prepend=0.0) > 0
    came, newly = flow.ack_s[reports], flow.newly[reports]
    warm = came >= flow.begun_s + WARM_S
    if warm.sum() < 2:
        warm[:] = True
    span = float(came[warm][-1] - came[warm][0])
    goodput = 8.0 * float(newly[warm][1:].sum()) / span if span > 0 else flow.goodput_bps
    return Shape(goodput, flow.median_rtt_s, pause_of(came[warm]))


def _simulated(scenarios: Sequence[Scenario], seconds: float) -> list[Shape | None]:
    threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1

    def shape(scenario: Scenario) -> Shape | None:
        return _shape(_core.run(scenario, 1, rtts=True, packets=True), seconds)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(shape, scenarios))


def _shape(result: _core.RunResult, seconds: float) -> Shape | None:
    packets, rtts = result.packets(), result.rtts()
    times = packets.reals("time_s")
    is_ack = (packets.wholes("flow") == 0) & ~packets.flags("is_data") & (times >= WARM_S)
    order = np.flatnonzero(is_ack)[np.argsort(times[is_ack], kind="stable")]
    came, acked = times[order], packets.reals("acknowledges")[order]
    rising = np.diff(acked, prepend=np.inf) > 0
    came, acked = came[rising], acked[rising]
    is_warm = (rtts.wholes("flow") == 0) & (rtts.reals("time_s") >= WARM_S)
    warm_ms = rtts.reals("rtt_ms")[is_warm]
    if len(came) < 2 or not len(warm_ms) or came[-1] <= came[0]:
        return None
    goodput = 8.0 * float(acked[-1] - acked[0]) / (min(seconds, float(came[-1])) - float(came[0]))
    return Shape(goodput, float(np.median(warm_ms)) / 1e3, pause_of(came))


def _may_lose(damaged: float, flow: Observed) -> bool:
    """Whether the radio would fail as many packets as the link lost, in spite of its retries.

    `damaged` is the share of frames that arrive damaged.

    Half as many suffice, to allow for chance.
    """
    lost = int((flow.lost & ~flow.dropped).sum())
    given_up = damaged**ATTEMPTS * len(flow.sent_s)
    return lost < FEWEST_LOST or 2 * given_up >= lost


def pause_of(came: Reals) -> float:
    """The pause between bursts beyond which half of the time lies."""
    gaps = np.diff(came)
    pauses = np.sort(gaps[gaps > TOGETHER_S])
    if not len(pauses):
        return TOGETHER_S
    whole = np.cumsum(pauses)
    return float(pauses[np.searchsorted(whole, whole[-1] / 2)])


def on_wifi(
    link: FittedLink, flow: Observed, stacks: Sequence[Stack], timeouts: int
) -> list[Played] | None:
    """Replays over the Wi-Fi link that is nearest to the capture, one for each sender.

    None if there are stops, which this channel model has only at fixed times, and if more was lost
    than any of its radios would fail.

    Raises:
        RunError: a simulation could not be finished.
    """
    if len(link.stops.stops) > 1 or not _may_lose(MAX_DAMAGED, flow):
        return None
    found: list[list[Played]] = []
    # The limit of a window depends on the sender: BBR's queue is not CUBIC's.
    for searched in (stacks[0], stacks[-1]):
        fits = fitted_wifi(flow, link.queue.packets, searched, loaded)
        alike = tuple(one.wifi for one in fits)
        for one in alike[:PLAYED]:
            if not _may_lose(one.damaged, flow):
                continue
            played = replace(link, wifi=one, wifi_alike=alike, beside=None, is_shared=False)
            found.append(replays(played, flow, stacks, timeouts))
        if any(nearest(one)[0].explains for one in found):
            break
    return min(found, key=lambda each: nearest(each)[0].distance, default=None)
