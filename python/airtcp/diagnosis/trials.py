"""Trials of remedies on the fitted link: their effects, with the uncertainty of the fit."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from airtcp._core import Scenario
from airtcp.comparison.ranking import Candidate, Ranking, Reach, State, rank
from airtcp.comparison.ranking.harm import harm_state
from airtcp.comparison.ranking.state import state
from airtcp.comparison.statistics import PairedDifference, student_t

WORTH_PERCENT = 3.0
"""Minimum effect to recommend; smaller ones are within the error of a fit."""
CALM_PERCENT = 20.0
"""Minimum reduction of the round trip by a remedy for latency."""
COSTLY_PERCENT = 10.0
"""Maximum loss of goodput by a remedy for latency."""


@dataclass(frozen=True)
class Effect:
    """The effect of a remedy, in per cent of the goodput without it."""

    percent: float
    low: float
    high: float
    """Upper bound of the 95 % interval, over seeds and the uncertainty of the fit."""
    is_identical: bool = False
    """Whether every run was identical to the run without it."""

    def within(self, most_percent: float) -> "Effect":
        """The effect, limited to the gain that the link permits."""
        return replace(
            self,
            percent=min(self.percent, most_percent),
            low=min(self.low, most_percent),
            high=min(self.high, most_percent),
        )

    @property
    def sign(self) -> int:
        """1 if shown to help, -1 if shown to hurt, else 0."""
        return 1 if self.low > 0 else -1 if self.high < 0 else 0


@dataclass(frozen=True)
class Cost:
    """Other changes, as means over all runs: with the remedy minus without."""

    retransmitted_points: float
    """Share of the segments sent that are retransmissions, in per cent points."""
    timeouts: float
    """Difference per run."""
    srtt_ms: float
    """The smoothed round trip at the end of a run."""


@dataclass(frozen=True)
class Trial:
    """A remedy over the fitted link."""

    remedy: str
    place: str
    effect: Effect
    at_ends: tuple[Effect, ...]
    """The effect at each end of the open question; one if there is no open question."""
    cost: Cost
    goodput_bps: float
    round_trip: Effect = Effect(0.0, 0.0, 0.0, is_identical=True)
    """Change of the 95th percentile of the round trip, over all ends."""

    @property
    def calms(self) -> bool:
        """Whether it is shown to shorten that round trip much, at little cost of goodput."""
        # A proxy ends the connection midway: its round trip covers a part of the path.
        is_whole = self.place != "proxy"
        return (
            is_whole
            and self.round_trip.high <= -CALM_PERCENT
            and all(one.low >= -COSTLY_PERCENT for one in self.at_ends)
        )

    @property
    def least(self) -> float:
        """The smallest gain at any end of the open question, in per cent."""
        return min(one.percent for one in self.at_ends)

    @property
    def depends(self) -> bool:
        """Whether it helps at one end of the open question, and not at the other."""
        helps = [one.sign > 0 and one.percent >= WORTH_PERCENT for one in self.at_ends]
        signs = {one.sign for one in self.at_ends}
        return (any(helps) and not all(helps)) or {1, -1} <= signs


@dataclass(frozen=True)
class Ends:
    """Scenarios to try remedies on: for each end of the open question, links drawn from the fit."""

    open_point: str | None
    """The open question in words; None without one."""
    drawn: tuple[tuple[Scenario, ...], ...]
    """For each end as many scenarios. Senders that explain the capture equally well alternate."""
    most_percent: tuple[float, ...] = ()
    """For each end the largest gain that its link permits; empty without a bound."""
    senders: int = 1
    """Number of alternating senders."""
    in_use: frozenset[str] = frozenset()
    """Remedies that one of these senders already has."""


@dataclass(frozen=True)
class Trials:
    """Remedies with any effect, and their ranking for the asker."""

    rows: tuple[Trial, ...]
    """Trials, the largest effect first."""
    open_point: str | None
    baseline_bps: float
    runs: int
    reach: Reach
    worth_percent: float = WORTH_PERCENT
    """The smallest effect worth having, in per cent."""
    harms: Mapping[str, PairedDifference | None] = field(default_factory=dict)
    """Harm of remedies to an unchanged competing flow, where measured."""
    stopped: str = ""
    """The bound that ended the runs before all contenders were measured; empty if no bound did."""

    @cached_property
    def ranking(self) -> Ranking:
        """The ranking, within the resolution of the fit: less than `worth_percent` is excluded.

        A remedy that harms others much comes after one that is nearly as good and does not.
        """
        worth = self.worth_percent
        every = (candidate(row, self.harms.get(row.remedy), worth) for row in self.rows)
        return rank(every, self.reach, self.worth_percent)

    @cached_property
    def calmest(self) -> Trial | None:
        """The deployable remedy that shortens the round trip under load most."""
        calm = (self.of(one.remedy) for one in self.ranking.deployable)
        shown = [row for row in calm if row.calms]
        return min(shown, key=lambda row: row.round_trip.percent, default=None)

    @property
    def winner(self) -> Trial | None:
        """The best deployable remedy that helps at every end of the open question."""
        best = self.ranking.best
        return None if best is None else self.of(best.remedy)

    def of(self, remedy: str) -> Trial:
        """The trial of a remedy that was tried."""
        return next(row for row in self.rows if row.remedy == remedy)


def candidate(
    row: Trial, harm: PairedDifference | None = None, worth_percent: float = WORTH_PERCENT
) -> Candidate:
    """A trial as a candidate for the ranking: shown or excluded only if so at every end."""
    states = {
        state(one.percent, (one.low, one.high), worth_percent, is_exact=one.is_identical)
        for one in row.at_ends
    }
    signs = {one.sign for one in row.at_ends}
    known = states.pop() if len(states) == 1 else State.UNDECIDED
    if known is State.SHOWN and (len(signs) > 1 or 0 < row.least < worth_percent):
        known = State.UNDECIDED
    return Candidate(
        row.remedy,
        row.effect.percent,
        (row.effect.low, row.effect.high),
        known,
        harm=None if harm is None else harm.mean_percent,
        harm_state=None
        if harm is None
        else harm_state(harm.mean_percent, harm.interval_percent, is_exact=harm.is_exact),
    )


def effect(before: NDArray[np.float64], after: NDArray[np.float64]) -> Effect:
    """The effect over links (rows) and their seeds (columns), in per cent of `before`.

    Ratios are taken run by run, in logarithms: a link with more losses makes the unchanged flow
    slower, and the gain larger. The links differ by the uncertainty of the fit, which more links do
    not reduce: their variance counts in full. The variance over seeds averages out over all runs
    (one-way random effects, Searle, Casella and McCulloch, Variance Components, 1992, §3.6). The
    difference of two noisy variances is often zero although the links differ: a third of the
    variance of their means is attributed to them at least, with which the interval covers 93 % and
    more (the test computes it).
    """
    if not (after - before).any() or not before.any():
        return Effect(0.0, 0.0, 0.0, is_identical=not (after - before).any())
    # A run that delivered nothing has no logarithm: it counts as a millionth of the mean.
    least = 1e-6 * float(before.mean())
    ratio = np.log(np.maximum(after, least) / np.maximum(before, least))
    links, seeds = ratio.shape
    of_links = float(ratio.mean(axis=1).var(ddof=1))
    # A single seed does not separate seeds from the fit's uncertainty: all counts as the latter.
    luck = float(ratio.var(axis=1, ddof=1).mean()) / seeds if seeds > 1 else 0.0
    between = max(of_links / 3, of_links - luck)
    half = student_t(links - 1) * (between * (1 + 1 / links) + luck / links) ** 0.5
    mean = float(ratio.mean())
    percent, low, high = (100.0 * (math.exp(at) - 1.0) for at in (mean, mean - half, mean + half))
    return Effect(percent, low, high)


def over(ends: Sequence[Effect]) -> Effect:
    """The effect at every end: the mean, and an interval that covers all."""
    return Effect(
        float(np.mean([one.percent for one in ends])),
        min(one.low for one in ends),
        max(one.high for one in ends),
    )
