"""Checks a fitted link against its capture: as a replay, and as a process."""

import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path

import numpy as np

from airtcp import _core
from airtcp._core import Scenario
from airtcp.comparison.statistics import student_t
from airtcp.core.summary import parse_summary
from airtcp.diagnosis.link import FittedLink
from airtcp.diagnosis.observed import Observed
from airtcp.diagnosis.scenario import SLOWEST, Stack, WrittenLink, modelled, replayed

NEAR = 0.10
MAX_OFF = 0.30
"""Maximum deviation of a replay; beyond it the link is rejected, whatever the process predicts."""
MAX_LUCK = 1.0
"""The same of the round trip where chance delays packets: another seed may double it."""
FEW_TIMEOUTS = 10
"""Below this many timeouts, a difference of one is no disagreement."""
SHIFTS = (-4, -2, 2, 4)
"""Shifts of stops and losses in further replays, in packet times, used if the first replay is off:
a stop that begins as the queue overflows acts differently a few packets later.
"""
MODEL_SEEDS = 20
FIT = 0.03
"""Relative error that a fit of rate and base round trip may have."""


@dataclass(frozen=True)
class Outcome:
    """Measures of a flow over a link."""

    goodput_bps: float
    median_rtt_s: float
    timeouts: int


@dataclass(frozen=True)
class Replay:
    """The capture compared with its simulation with the same stops and losses."""

    capture: Outcome
    simulated: Outcome
    profile: str
    is_exact: bool = True
    """Whether it met the recorded events; otherwise late packets were drawn at random."""

    @property
    def deviations(self) -> dict[str, float]:
        """Relative deviation of the simulated goodput and median round trip."""
        return {
            "goodput": self.simulated.goodput_bps / self.capture.goodput_bps - 1.0,
            "median round trip": self.simulated.median_rtt_s / self.capture.median_rtt_s - 1.0,
        }

    @property
    def timeouts_agree(self) -> bool:
        """Whether timeouts agree within a tenth, or within one if there are few."""
        distance = abs(self.simulated.timeouts - self.capture.timeouts)
        most = max(NEAR * self.capture.timeouts, 1 if self.capture.timeouts < FEW_TIMEOUTS else 0)
        return distance <= most

    @property
    def explains(self) -> bool:
        """Whether the link reproduces the capture."""
        return self.timeouts_agree and all(abs(off) <= NEAR for off in self.deviations.values())

    @property
    def may_be_a_draw(self) -> bool:
        """Whether the same link could produce the capture with other random draws.

        That concerns the round trip: one loss just before a stop rather than just after it empties
        the queue for seconds. The link's delivery hardly changes by it.
        """
        goodput, round_trip = (abs(off) for off in self.deviations.values())
        if self.is_exact:
            return goodput <= NEAR and round_trip <= MAX_OFF
        # Which packets are late decides when a window halves: the round trip is all luck.
        return goodput <= MAX_OFF and round_trip <= MAX_LUCK

    @property
    def distance(self) -> float:
        """Distance from the capture, to choose between stacks."""
        return sum(abs(off) for off in self.deviations.values()) + 0.05 * abs(
            self.simulated.timeouts - self.capture.timeouts
        )


@dataclass(frozen=True)
class Prediction:
    """The model's interval for one measure, and the captured value."""

    measure: str
    captured: float
    low: float
    high: float

    @property
    def holds(self) -> bool:
        """Whether the captured value lies in the 95 % prediction interval."""
        return self.low <= self.captured <= self.high


Played = tuple[Replay, Stack, FittedLink]
"""A replay with its sender and link."""


def nearest(played: Sequence[Played]) -> Played:
    """The replay nearest to the capture."""
    return min(played, key=lambda each: each[0].distance)


def alike(played: Sequence[Played]) -> list[Stack]:
    """Senders that explain the capture over the nearest link, the nearest first.

    A capture does not name the congestion control: if several explain it, any of them may be in
    use.
    """
    replay, stack, link = nearest(played)
    others = [one for one in played if one[2] is link and one[1] is not stack and one[0].explains]
    if not replay.explains:
        return [stack]
    return [stack, *(one[1] for one in sorted(others, key=lambda each: each[0].distance))]


def likeliest(
    played: Sequence[Played], predicted: Callable[[Played], list[Prediction]]
) -> tuple[Played, list[Prediction]]:
    """The nearest replay with what its process predicts, where it may be a draw of that.

    Where chance delays packets, the nearest replay is luck: then it is the nearest of those senders
    whose process holds.
    """
    first = nearest(played)
    if not first[0].may_be_a_draw:
        return first, []
    found = predicted(first)
    if first[0].is_exact or all(one.holds for one in found):
        return first, found
    for other in sorted(played, key=lambda each: each[0].distance):
        if other is first or not other[0].may_be_a_draw:
            continue
        again = predicted(other)
        if all(one.holds for one in again):
            return other, again
    return first, found


def replays(
    link: FittedLink, flow: Observed, stacks: Sequence[Stack], timeouts: int
) -> list[Played]:
    """Replays the link with each stack.

    If the capture leaves the rate, the holding of packets or an AQM's discipline open, over each
    such link.
    """
    # The shares of TCP flows on a link are random; their sum is not.
    together = link.beside is not None and link.beside.give_way
    share = flow.link_share if together else 1.0
    captured = Outcome(flow.goodput_bps / share, flow.median_rtt_s, timeouts)
    found: list[Played] = []
    for tried in _left_open(link):
        for stack in stacks:
            by_time = link.beside is not None or link.wifi is not None
            longest = flow.seconds if by_time else SLOWEST * flow.seconds

            def outcome(
                shift: int, tried: FittedLink = tried, stack: Stack = stack, most: float = longest
            ) -> Outcome:
                scenario = loaded(replayed(tried, flow, stack, shift))
                return simulated(scenario, 5 + shift, most, together=together)

            is_exact = link.late is None and link.jitter is None
            replay = Replay(captured, outcome(0), stack.profile, is_exact)
            if not replay.explains and _has_luck(tried, flow):
                outcomes = [replay.simulated, *(outcome(shift) for shift in SHIFTS)]
                replay = replace(replay, simulated=_median(outcomes))
            found.append((replay, stack, tried))
    return found


def _has_luck(link: FittedLink, flow: Observed) -> bool:
    """Whether small shifts in time change which packets stops or losses hit."""
    is_moved = link.late is not None or link.jitter is not None
    is_open = is_moved or link.stops.stops or (flow.lost & ~flow.dropped).any()
    return link.wifi is None and bool(is_open)


def _median(outcomes: Sequence[Outcome]) -> Outcome:
    """The median of each measure."""
    return Outcome(
        float(np.median([one.goodput_bps for one in outcomes])),
        float(np.median([one.median_rtt_s for one in outcomes])),
        round(float(np.median([one.timeouts for one in outcomes]))),
    )


def _left_open(link: FittedLink) -> list[FittedLink]:
    if link.wifi is not None:
        return [link]
    links = [link] if link.rate.bounds is None else [link.at_bound(0), link.at_bound(1)]
    if link.drops.aqm_target_s is not None and not link.drops.marks:
        links += [replace(one, drops=replace(one.drops, discipline="pie")) for one in links]
    if link.stops.stops and not link.stops.shows_release:
        held = [replace(one, stops=replace(one.stops, is_taken_for_held=True)) for one in links]
        links += held
    return links


def predictions(
    links: Sequence[FittedLink], flow: Observed, stack: Stack, replay: Replay
) -> list[Prediction]:
    """Predicts goodput, median round trip and timeouts from 20 seeds, each with another link.

    The links reflect the uncertainty of the fit: five stops give little information on their rate.

    The deviation of the simulation from the kernel with identical stops and losses is known from
    the replay and is not the process's error: the interval is widened by it. If the replay does not
    reproduce the capture, the process must do so without that allowance.
    """
    seconds = flow.seconds + flow.base_rtt_s
    first = links[0]
    together = first.beside is not None and first.beside.give_way
    runs = [
        simulated(
            loaded(modelled(link, stack, seconds, (seed - 0.5) / MODEL_SEEDS)),
            seed,
            flow.seconds,
            together=together,
        )
        for seed, link in zip(range(1, MODEL_SEEDS + 1), cycle(links), strict=False)
    ]
    before = replay.capture
    after = replay.simulated if replay.explains else replay.capture
    # For a Wi-Fi link, all candidates within a tenth are kept.
    fit = FIT if first.wifi is None else NEAR
    return [
        _predicted(name, of(before), of(after), [of(run) for run in runs], fit)
        for name, of in _MEASURES
    ]


_MEASURES: tuple[tuple[str, Callable[[Outcome], float]], ...] = (
    ("goodput", lambda outcome: outcome.goodput_bps),
    ("median round trip", lambda outcome: outcome.median_rtt_s),
    ("timeouts", lambda outcome: float(outcome.timeouts)),
)


def _predicted(
    name: str, captured: float, replayed: float, drawn: list[float], fit: float
) -> Prediction:
    """The interval for one further draw: it varies as much as the draws and their mean."""
    values = np.array(drawn)
    n = len(values)
    half = student_t(n - 1, len(_MEASURES)) * float(values.std(ddof=1)) * (1 + 1 / n) ** 0.5
    # Nor is a fit more precise than required of its rate and base round trip.
    half = math.hypot(half, replayed - captured, fit * captured)
    if name == "timeouts":
        half += 0.5  # whole numbers (continuity correction)
    mean = float(values.mean())
    # A skewed distribution has draws outside: the interval extends to them.
    low, high = min(mean - half, float(values.min())), max(mean + half, float(values.max()))
    return Prediction(name, captured, low, high)


def loaded(written: WrittenLink) -> Scenario:
    """The scenario of a link that is not on disk; one without other files needs no folder."""
    if not written.files:
        return Scenario.parse(written.toml)
    with tempfile.TemporaryDirectory() as folder:
        return Scenario.load(written.write(Path(folder), "link.toml"))


def simulated(scenario: Scenario, seed: int, seconds: float, *, together: bool = False) -> Outcome:
    """One run of `seconds` of sending; for a replay, of the time until all data had arrived.

    `together` counts the delivery of all flows.
    """
    result = _core.run(scenario, seed, rtts=True)
    flows = parse_summary(result.summary())["flows"]
    flow = flows[0]
    done_s = flow["completed_s"]
    if done_s is not None:
        # The handshake took a round trip before.
        seconds = done_s - flow["started_s"] - (flow["min_rtt_ms"] or 0.0) / 1e3
    samples = result.rtts()
    rtts_ms = samples.reals("rtt_ms")[samples.wholes("flow") == 0]
    counted = flows if together else [flow]
    return Outcome(
        8.0 * sum(one["arrived_bytes"] for one in counted) / seconds,
        float(np.median(rtts_ms)) / 1e3 if len(rtts_ms) else 0.0,
        flow["timeouts"],
    )
