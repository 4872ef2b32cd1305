"""The fitted link against its capture: played back, and as a process."""

import math
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
FEW_TIMEOUTS = 10
"""Of fewer timeouts than this, one more or less is no disagreement."""
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


def best_replay(
    link: FittedLink, flow: Observed, stacks: Sequence[Stack], timeouts: int
) -> tuple[Replay, Stack, FittedLink]:
    """The stack whose simulation over the played-back link is nearest to the capture.

    Where the capture leaves the rate or the holding of packets open, that of the link, too: the
    link is returned as it is nearest.
    """
    # How flows of TCP share a link is luck; what they have together is not.
    together = link.beside is not None and link.beside.give_way
    share = flow.link_share if together else 1.0
    captured = Outcome(flow.goodput_bps / share, flow.median_rtt_s, timeouts)
    found = []
    for tried in _left_open(link):
        for stack in stacks:
            scenario = loaded(replayed(tried, flow, stack))
            by_time = link.beside is not None or link.wifi is not None
            longest = flow.seconds if by_time else SLOWEST * flow.seconds
            outcome = simulated(scenario, 1, longest, together=together)
            found.append((Replay(captured, outcome, stack.profile), stack, tried))
    return min(found, key=lambda each: each[0].distance)


def _left_open(link: FittedLink) -> list[FittedLink]:
    if link.wifi is not None:
        return [link]
    rates = link.rate.bounds or (link.bps,)
    links = [link if bps == link.bps else link.with_rate(bps) for bps in rates]
    if link.stops.stops and not link.stops.shows_release:
        held = [replace(one, stops=replace(one.stops, is_taken_for_held=True)) for one in links]
        links += held
    return links


def predictions(link: FittedLink, flow: Observed, stack: Stack, replay: Replay) -> list[Prediction]:
    """Goodput, median round trip and timeouts of 20 seeds of the process.

    How far the simulation is from the kernel on the very same stops and losses is known from the
    replay, and is no fault of the process: the interval is wider by that.
    """
    seconds = flow.seconds + flow.base_rtt_s
    together = link.beside is not None and link.beside.give_way
    runs = [
        simulated(
            loaded(modelled(link, stack, seconds, (seed - 0.5) / MODEL_SEEDS)),
            seed,
            flow.seconds,
            together=together,
        )
        for seed in range(1, MODEL_SEEDS + 1)
    ]
    before, after = replay.capture, replay.simulated
    return [
        _predicted(name, of(before), of(after), [of(run) for run in runs]) for name, of in _MEASURES
    ]


_MEASURES: tuple[tuple[str, Callable[[Outcome], float]], ...] = (
    ("goodput", lambda outcome: outcome.goodput_bps),
    ("median round trip", lambda outcome: outcome.median_rtt_s),
    ("timeouts", lambda outcome: float(outcome.timeouts)),
)


def _predicted(name: str, captured: float, replayed: float, drawn: list[float]) -> Prediction:
    """The interval in which one further draw lies: it varies as the draws and their mean do."""
    values = np.array(drawn)
    n = len(values)
    half = student_t(n - 1) * float(values.std(ddof=1)) * (1 + 1 / n) ** 0.5
    # Nor is a fit finer than what is asked of its rate and base round trip.
    half = math.hypot(half, replayed - captured, FIT * captured)
    if name == "timeouts":
        half += 0.5  # whole numbers (continuity correction)
    mean = float(values.mean())
    return Prediction(name, captured, mean - half, mean + half)


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
        8.0 * sum(one["delivered_bytes"] for one in counted) / seconds,
        float(median) / 1e3 if isinstance(median, float) else 0.0,
        flow["timeouts"],
    )
