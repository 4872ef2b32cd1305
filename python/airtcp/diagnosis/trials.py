"""Remedies tried on the fitted link: what they bring, with the fit's own uncertainty."""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from airtcp import _core
from airtcp._core import RunError, Scenario, ScenarioError
from airtcp.catalogue import Remedy, remedies
from airtcp.ranking import Candidate, Ranking, Reach, State, rank
from airtcp.ranking.deployable import needs
from airtcp.ranking.harm import harm_state
from airtcp.ranking.state import state
from airtcp.study.perturbation import perturbed
from airtcp.study.statistics import PairedDifference, student_t
from airtcp.summary import RunSummary, parse_summary, retransmitted_share, total

DRAWS = 20
SEEDS = 2
"""Seeds of each drawn link, to tell its own luck from the fit's uncertainty."""
WORTH_PERCENT = 3.0
"""A smaller effect is within the error of a fit, and is not recommended."""
CALM_PERCENT = 20.0
"""A round trip that is shorter by less is no remedy for latency."""
COSTLY_PERCENT = 10.0
"""A remedy for latency may not cost more of the goodput than this."""
Progress = Callable[[int, int], object]


@dataclass(frozen=True)
class Effect:
    """The effect of a remedy, in per cent of the goodput without it."""

    percent: float
    low: float
    high: float
    """The 95 % interval: seeds and the uncertainty of the fit."""
    is_identical: bool = False
    """Every run was as without it."""

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
    """For each end as many scenarios."""


@dataclass(frozen=True)
class Trials:
    """The remedies that change anything, and their ranking for who asks."""

    rows: tuple[Trial, ...]
    """The largest effect first."""
    open_point: str | None
    baseline_bps: float
    runs: int
    reach: Reach
    harms: Mapping[str, PairedDifference | None] = field(default_factory=dict)
    """What remedies take from an unchanged flow beside them, where that was measured."""

    @cached_property
    def ranking(self) -> Ranking:
        """The ranking, by what an unsure fit can tell: less than `WORTH_PERCENT` is excluded.

        A remedy that harms others much comes after one that is nearly as good and does not.
        """
        every = (candidate(row, self.harms.get(row.remedy)) for row in self.rows)
        return rank(every, self.reach, WORTH_PERCENT)

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


def candidate(row: Trial, harm: PairedDifference | None = None) -> Candidate:
    """A trial as the ranking takes it: shown or excluded only if it is so at every end."""
    states = {
        state(one.percent, (one.low, one.high), WORTH_PERCENT, is_exact=one.is_identical)
        for one in row.at_ends
    }
    signs = {one.sign for one in row.at_ends}
    known = states.pop() if len(states) == 1 else State.UNDECIDED
    if known is State.SHOWN and (len(signs) > 1 or 0 < row.least < WORTH_PERCENT):
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


def candidates() -> list[Remedy]:
    """The remedies that are deployable."""
    return [entry for entry in remedies() if needs(entry["name"])]


def tried(ends: Ends, reach: Reach, progress: Progress | None = None) -> Trials:
    """Simulates every candidate on the drawn links, each remedy on the same seeds.

    Raises:
        RunError: a run could not be finished.
    """
    names = ["", *(entry["name"] for entry in candidates())]
    place_of = {entry["name"]: entry["place"] for entry in remedies()}
    cells, usable = _cells(ends, names)
    summaries = _run(cells, progress)
    factors = ends.drawn
    shape = (len(usable), len(factors), len(factors[0]), SEEDS)
    goodput = _array(summaries, lambda one: one["flows"][0]["goodput_bps"], shape)
    resent = _array(summaries, retransmitted_share, shape)
    timeouts = _array(summaries, lambda one: float(total(one, "timeouts")), shape)
    srtt = _array(summaries, lambda one: one["flows"][0]["srtt_ms"] or 0.0, shape)
    high_rtt = _array(summaries, lambda one: one["flows"][0]["rtt_p95_ms"] or 0.0, shape)
    rows = []
    for index, name in enumerate(usable[1:], 1):
        effects = tuple(effect(goodput[0, end], goodput[index, end]) for end in range(len(factors)))
        calms = tuple(effect(high_rtt[0, end], high_rtt[index, end]) for end in range(len(factors)))
        if all(one.is_identical for one in effects):
            continue
        cost = Cost(
            100.0 * float((resent[index] - resent[0]).mean()),
            float((timeouts[index] - timeouts[0]).mean()),
            float((srtt[index] - srtt[0]).mean()),
        )
        whole = _over(effects)
        mean = float(goodput[index].mean())
        rows.append(Trial(name, place_of[name], whole, effects, cost, mean, _over(calms)))
    rows.sort(key=lambda row: -row.effect.percent)
    return Trials(tuple(rows), ends.open_point, float(goodput[0].mean()), len(cells), reach)


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
    luck = float(ratio.var(axis=1, ddof=1).mean()) / seeds
    between = max(of_links / 3, of_links - luck)
    half = student_t(links - 1) * (between * (1 + 1 / links) + luck / links) ** 0.5
    mean = float(ratio.mean())
    percent, low, high = (100.0 * (math.exp(at) - 1.0) for at in (mean, mean - half, mean + half))
    return Effect(percent, low, high)


def _over(ends: Sequence[Effect]) -> Effect:
    """The effect whichever end is true: the mean, and an interval that holds all."""
    return Effect(
        float(np.mean([one.percent for one in ends])),
        min(one.low for one in ends),
        max(one.high for one in ends),
    )


def _cells(ends: Ends, names: Sequence[str]) -> tuple[list[tuple[Scenario, int]], list[str]]:
    """Remedy by end by draw by seed, and the remedies that this link and stack can have."""
    cells: list[tuple[Scenario, int]] = []
    usable = []
    drawn = [[perturbed(one) for one in end] for end in ends.drawn]
    for name in names:
        try:
            remedied = [[one.with_remedies(name) if name else one for one in end] for end in drawn]
        except ScenarioError:
            continue  # not for this kind of link or stack
        usable.append(name)
        for end in remedied:
            for draw, scenario in enumerate(end):
                cells += [(scenario, 1 + SEEDS * draw + seed) for seed in range(SEEDS)]
    return cells, usable


def _run(cells: list[tuple[Scenario, int]], progress: Progress | None) -> list[RunSummary]:
    done = 0

    def told(_index: int, _result: object) -> None:
        nonlocal done
        done += 1
        if progress:
            progress(done, len(cells))

    threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    summaries = []
    for result in _core.run_many(cells, threads, told):
        if isinstance(result, RunError):
            raise result
        summaries.append(parse_summary(result.summary()))
    return summaries


def _array(
    summaries: Sequence[RunSummary], value: Callable[[RunSummary], float], shape: tuple[int, ...]
) -> NDArray[np.float64]:
    return np.array([value(one) for one in summaries], dtype=np.float64).reshape(shape)
