"""The fitted link against its capture: played back, and as a process."""

import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path

import numpy as np
import polars as pl

from airtcp import _core
from airtcp._core import Scenario
from airtcp.diagnosis.link import FittedLink
from airtcp.diagnosis.observed import Observed
from airtcp.diagnosis.scenario import SLOWEST, Stack, WrittenLink, modelled, replayed
from airtcp.runs import Run
from airtcp.study.statistics import student_t

NEAR = 0.10
MAX_OFF = 0.30
"""A replay that is farther off is not of this link, whatever its process may bring."""
FEW_TIMEOUTS = 10
"""Of fewer timeouts than this, one more or less is no disagreement."""
SHIFTS = (-4, -2, 2, 4)
"""Packet times by which stops and losses come later in further replays, where the first is off: a
stop that begins as the queue overflows is another matter a few packets later."""
MODEL_SEEDS = 20
FIT = 0.03
"""The error that a fit of rate and base round trip may have."""


@dataclass(frozen=True)
class Outcome:
    """The figures of a flow over a link."""

    goodput_bps: float
    median_rtt_s: float
    timeouts: int


@dataclass(frozen=True)
class Replay:
    """The capture beside its simulation with the same stops and losses."""

    capture: Outcome
    simulated: Outcome
    profile: str
    is_exact: bool = True
    """It met what the capture met; else late packets that chance drew."""

    @property
    def deviations(self) -> dict[str, float]:
        """Simulated over captured, minus 1, of goodput and median round trip."""
        return {
            "goodput": self.simulated.goodput_bps / self.capture.goodput_bps - 1.0,
            "median round trip": self.simulated.median_rtt_s / self.capture.median_rtt_s - 1.0,
        }

    @property
    def timeouts_agree(self) -> bool:
        """Timeouts agree within a tenth, or by one where there are few."""
        distance = abs(self.simulated.timeouts - self.capture.timeouts)
        most = max(NEAR * self.capture.timeouts, 1 if self.capture.timeouts < FEW_TIMEOUTS else 0)
        return distance <= most

    @property
    def explains(self) -> bool:
        """The link gives the capture back."""
        return self.timeouts_agree and all(abs(off) <= NEAR for off in self.deviations.values())

    @property
    def may_be_a_draw(self) -> bool:
        """Near enough that the same link may bring the capture by other luck.

        That is so of the round trip: one loss just before a stop in place of just after it empties
        the queue for seconds. What the link delivers hardly changes by it.
        """
        goodput, round_trip = (abs(off) for off in self.deviations.values())
        return goodput <= (NEAR if self.is_exact else MAX_OFF) and round_trip <= MAX_OFF

    @property
    def distance(self) -> float:
        """The distance from that, to choose between stacks."""
        return sum(abs(off) for off in self.deviations.values()) + 0.05 * abs(
            self.simulated.timeouts - self.capture.timeouts
        )


@dataclass(frozen=True)
class Prediction:
    """The model's interval for one measure, and the capture's value."""

    measure: str
    captured: float
    low: float
    high: float

    @property
    def holds(self) -> bool:
        """The capture lies in the 95 % prediction interval."""
        return self.low <= self.captured <= self.high


Played = tuple[Replay, Stack, FittedLink]
"""A replay, and the sender and the link that it was of."""


def nearest(played: Sequence[Played]) -> Played:
    """The one that is nearest to the capture."""
    return min(played, key=lambda each: each[0].distance)


def alike(played: Sequence[Played]) -> list[Stack]:
    """Senders that explain the capture over the nearest link, the nearest first.

    A capture does not name the congestion control: where several explain it, any of them may be
    in use.
    """
    replay, stack, link = nearest(played)
    others = [one for one in played if one[2] is link and one[1] is not stack and one[0].explains]
    if not replay.explains:
        return [stack]
    return [stack, *(one[1] for one in sorted(others, key=lambda each: each[0].distance))]


def replays(
    link: FittedLink, flow: Observed, stacks: Sequence[Stack], timeouts: int
) -> list[Played]:
    """Each stack's simulation over the played-back link.

    Where the capture leaves the rate or the holding of packets open, over each such link.
    """
    # How flows of TCP share a link is luck; what they have together is not.
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
    """Whether stops or losses meet the replay a little sooner or later than they met the flow."""
    is_moved = link.late is not None or link.jitter is not None
    is_open = is_moved or link.stops.stops or (flow.lost & ~flow.dropped).any()
    return link.wifi is None and bool(is_open)


def _median(outcomes: Sequence[Outcome]) -> Outcome:
    """Each figure's median."""
    return Outcome(
        float(np.median([one.goodput_bps for one in outcomes])),
        float(np.median([one.median_rtt_s for one in outcomes])),
        round(float(np.median([one.timeouts for one in outcomes]))),
    )


def _left_open(link: FittedLink) -> list[FittedLink]:
    if link.wifi is not None:
        return [link]
    links = [link] if link.rate.bounds is None else [link.at_bound(0), link.at_bound(1)]
    if link.stops.stops and not link.stops.shows_release:
        held = [replace(one, stops=replace(one.stops, is_taken_for_held=True)) for one in links]
        links += held
    return links


def predictions(
    links: Sequence[FittedLink], flow: Observed, stack: Stack, replay: Replay
) -> list[Prediction]:
    """Goodput, median round trip and timeouts of 20 seeds of the process, each of another link.

    The links are as unsure as the fit: what five stops tell of how often they come is little.

    How far the simulation is from the kernel on the very same stops and losses is known from the
    replay, and is no fault of the process: the interval is wider by that. Not so where the replay
    does not give the capture back: then the process alone has to.
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
    # Of a Wi-Fi link all are kept that are within a tenth.
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
    """The interval in which one further draw lies: it varies as the draws and their mean do."""
    values = np.array(drawn)
    n = len(values)
    half = student_t(n - 1, len(_MEASURES)) * float(values.std(ddof=1)) * (1 + 1 / n) ** 0.5
    # Nor is a fit finer than what is asked of its rate and base round trip.
    half = math.hypot(half, replayed - captured, fit * captured)
    if name == "timeouts":
        half += 0.5  # whole numbers (continuity correction)
    mean = float(values.mean())
    # A skewed distribution has draws outside: another one comes where these have been, too.
    low, high = min(mean - half, float(values.min())), max(mean + half, float(values.max()))
    return Prediction(name, captured, low, high)


def loaded(written: WrittenLink) -> Scenario:
    """The scenario of a link that is not yet on disk."""
    with tempfile.TemporaryDirectory() as folder:
        return Scenario.load(written.write(Path(folder), "link.toml"))


def simulated(scenario: Scenario, seed: int, seconds: float, *, together: bool = False) -> Outcome:
    """One run of `seconds` of sending; of a replay, of the time until all data had arrived.

    `together` counts what all flows deliver.
    """
    run = Run(scenario, _core.run(scenario, seed, rtts=True))
    flow = run.summary["flows"][0]
    done_s = flow["completed_s"]
    if done_s is not None:
        # The handshake took a round trip before.
        seconds = done_s - flow["started_s"] - (flow["min_rtt_ms"] or 0.0) / 1e3
    rtts = run.rtts.filter(pl.col("flow") == 0)["rtt_ms"]
    median = rtts.median() if len(rtts) else None
    counted = run.summary["flows"] if together else [flow]
    return Outcome(
        8.0 * sum(one["arrived_bytes"] for one in counted) / seconds,
        float(median) / 1e3 if isinstance(median, float) else 0.0,
        flow["timeouts"],
    )
