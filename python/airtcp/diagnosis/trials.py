"""Remedies tried on the fitted link: what they bring, with the fit's own uncertainty."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from airtcp._core import Scenario
from airtcp.ranking import Candidate, Ranking, Reach, State, rank
from airtcp.ranking.harm import harm_state
from airtcp.ranking.state import state
from airtcp.study.statistics import PairedDifference, student_t

WORTH_PERCENT = 3.0
"""A smaller effect is within the error of a fit, and is not recommended."""
CALM_PERCENT = 20.0
"""A round trip that is shorter by less is no remedy for latency."""
COSTLY_PERCENT = 10.0
"""A remedy for latency may not cost more of the goodput than this."""


@dataclass(frozen=True)
class Effect:
    """The effect of a remedy, in per cent of the goodput without it."""

    percent: float
    low: float
    high: float
    """The 95 % interval: seeds and the uncertainty of the fit."""
    is_identical: bool = False
    """Every run was as without it."""

    def within(self, most_percent: float) -> "Effect":
        """The same, no larger than the link lets through."""
        return replace(
            self,
            percent=min(self.percent, most_percent),
            low=min(self.low, most_percent),
            high=min(self.high, most_percent),
        )

    @property
    def sign(self) -> int:
        """1 where it is shown to help, -1 where it is shown to hurt, else 0."""
        return 1 if self.low > 0 else -1 if self.high < 0 else 0


@dataclass(frozen=True)
class Cost:
    """Other changes, as means over all runs: with the remedy minus without."""

    retransmitted_points: float
    """Share of the segments sent that are retransmissions, in per cent points."""
    timeouts: float
    """A run."""
    srtt_ms: float
    """The smoothed round trip at the end of a run."""


@dataclass(frozen=True)
class Trial:
    """A remedy over the fitted link."""

    remedy: str
    place: str
    effect: Effect
    at_ends: tuple[Effect, ...]
    """The effect at each end of what the capture leaves open; one where nothing is."""
    cost: Cost
    goodput_bps: float
    round_trip: Effect = Effect(0.0, 0.0, 0.0, is_identical=True)
    """The change of the round trip that one packet in twenty exceeds, over all ends."""

    @property
    def calms(self) -> bool:
        """It is shown to shorten that round trip much, and costs little goodput at any end."""
        # What ends the connection on its way has a round trip of a part of the way.
        is_whole = self.place != "proxy"
        return (
            is_whole
            and self.round_trip.high <= -CALM_PERCENT
            and all(one.low >= -COSTLY_PERCENT for one in self.at_ends)
        )

    @property
    def least(self) -> float:
        """The least that it brings at any end of what the recording leaves open, in per cent."""
        return min(one.percent for one in self.at_ends)

    @property
    def depends(self) -> bool:
        """It helps at one end of what the recording leaves open, and not at the other."""
        helps = [one.sign > 0 and one.percent >= WORTH_PERCENT for one in self.at_ends]
        signs = {one.sign for one in self.at_ends}
        return (any(helps) and not all(helps)) or {1, -1} <= signs


@dataclass(frozen=True)
class Ends:
    """Scenarios to try remedies on: at each end of what is left open, links drawn from the fit."""

    open_point: str | None
    """The open point in words; None without one."""
    drawn: tuple[tuple[Scenario, ...], ...]
    """For each end as many scenarios. Senders that explain the capture alike take turns in them."""
    most_percent: tuple[float, ...] = ()
    """For each end the largest gain that its link lets through; empty without a bound."""
    senders: int = 1
    """Senders that take turns."""
    in_use: frozenset[str] = frozenset()
    """Remedies that one of these senders has already."""


@dataclass(frozen=True)
class Trials:
    """The remedies that change anything, and their ranking for who asks."""

    rows: tuple[Trial, ...]
    """The largest effect first."""
    open_point: str | None
    baseline_bps: float
    runs: int
    reach: Reach
    worth_percent: float = WORTH_PERCENT
    """The smallest effect worth having, in per cent."""
    harms: Mapping[str, PairedDifference | None] = field(default_factory=dict)
    """What remedies take from an unchanged flow beside them, where that was measured."""
    stopped: str = ""
    """The bound that ended the runs before all contenders were measured; empty if none did."""

    @cached_property
    def ranking(self) -> Ranking:
        """The ranking, by what an unsure fit can tell: less than `worth_percent` is excluded.

        A remedy that harms others much comes after one that is nearly as good and does not.
        """
        worth = self.worth_percent
        every = (candidate(row, self.harms.get(row.remedy), worth) for row in self.rows)
        return rank(every, self.reach, self.worth_percent)

    @cached_property
    def calmest(self) -> Trial | None:
        """Of what the asker can deploy, that which shortens the round trip under load most."""
        calm = (self.of(one.remedy) for one in self.ranking.deployable)
        shown = [row for row in calm if row.calms]
        return min(shown, key=lambda row: row.round_trip.percent, default=None)

    @property
    def winner(self) -> Trial | None:
        """The best that the asker can deploy and that helps whatever the capture leaves open."""
        best = self.ranking.best
        return None if best is None else self.of(best.remedy)

    def of(self, remedy: str) -> Trial:
        """The trial of a remedy that was tried."""
        return next(row for row in self.rows if row.remedy == remedy)


def candidate(
    row: Trial, harm: PairedDifference | None = None, worth_percent: float = WORTH_PERCENT
) -> Candidate:
    """A trial as the ranking takes it: shown or excluded only if it is so at every end."""
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

    Ratios are taken run by run, in logarithms: a link that loses more makes the unchanged flow
    slower, and the gain larger. The links differ as the fit is unsure, which more of them do not
    make surer: their variance counts in full. The seeds' luck averages out over all runs (one-way
    random effects, Searle, Casella and McCulloch, Variance Components, 1992, §3.6). That the links
    do not differ at all is what the difference of two noisy variances often says wrongly: a third
    of the variance of their means is left to them, with which the interval covers 93 % and more
    (the test computes it).
    """
    if not (after - before).any() or not before.any():
        return Effect(0.0, 0.0, 0.0, is_identical=not (after - before).any())
    # A run that delivered nothing has no logarithm: a millionth of the mean stands for it.
    least = 1e-6 * float(before.mean())
    ratio = np.log(np.maximum(after, least) / np.maximum(before, least))
    links, seeds = ratio.shape
    of_links = float(ratio.mean(axis=1).var(ddof=1))
    # A single seed does not part its luck from the fit's uncertainty: all counts as the latter.
    luck = float(ratio.var(axis=1, ddof=1).mean()) / seeds if seeds > 1 else 0.0
    between = max(of_links / 3, of_links - luck)
    half = student_t(links - 1) * (between * (1 + 1 / links) + luck / links) ** 0.5
    mean = float(ratio.mean())
    percent, low, high = (100.0 * (math.exp(at) - 1.0) for at in (mean, mean - half, mean + half))
    return Effect(percent, low, high)


def over(ends: Sequence[Effect]) -> Effect:
    """The effect whichever end is true: the mean, and an interval that holds all."""
    return Effect(
        float(np.mean([one.percent for one in ends])),
        min(one.low for one in ends),
        max(one.high for one in ends),
    )
