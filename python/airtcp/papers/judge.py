"""Judges claims: each part from its runs, by the rules of `rules`."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from airtcp.papers import estimates
from airtcp.papers.claims import Claim, Part
from airtcp.papers.estimates import Estimate, gain_text, number_text
from airtcp.papers.experiment import Experiment, Value
from airtcp.papers.measures import MEASURES
from airtcp.papers.outcomes import Outcomes
from airtcp.papers.paper import Paper
from airtcp.papers.rules import (
    Verdict,
    judge_larger_gain,
    judge_level,
    judge_number,
    judge_peak,
    judge_range,
    judge_share,
    judge_sign,
    judge_trend,
    together,
)

Point = Mapping[str, Value]
"""A point of an experiment: for each axis its place."""


@dataclass(frozen=True)
class Judged:
    """One comparison: ours against the paper's, and its verdict.

    `estimate` is in the unit of the words: per cent for gains. `seen` is the basis of the verdict,
    seed by seed, on a scale that all readings share: one series for a gain, two for a comparison of
    gains. `part` counts the claim's parts.
    """

    label: str
    verdict: Verdict
    ours: str
    paper: str
    estimate: Estimate | None = None
    seen: tuple[tuple[float, ...], ...] = ()
    counts: bool = True
    part: int = 0

    @property
    def value(self) -> float | None:
        """The estimate, if there is one."""
        return self.estimate.value if self.estimate else None

    @property
    def half_width(self) -> float | None:
        """Half of its interval; None if the runs cannot determine it."""
        if self.estimate is None or not math.isfinite(self.estimate.half_width):
            return None
        return self.estimate.half_width


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with its verdict, and the verdicts of its parts under the default reading.

    `under_default` is the verdict under the default reading only. `few_readings`: not every value
    of each open point that affects the claim was run.
    """

    claim: Claim
    verdict: Verdict
    parts: tuple[Judged, ...]
    under_default: Verdict
    few_readings: bool = False

    @property
    def undecided(self) -> bool:
        """Whether more seeds or readings may still show it.

        It is not shown; and few readings were tried, or it would go the paper's way if every
        comparison that is not shown did.
        """
        if self.verdict is not Verdict.NOT_SHOWN:
            return False
        if self.few_readings:
            return True
        hoped = [
            replace(one, verdict=Verdict.DIRECTION) if one.verdict is Verdict.NOT_SHOWN else one
            for one in self.parts
        ]
        return verdict_of(hoped).goes_the_papers_way

    @property
    def outcome(self) -> Verdict:
        """The verdict as reported: an undecided claim is not reported as "not shown"."""
        return Verdict.UNDECIDED if self.undecided else self.verdict

    @property
    def tally(self) -> str:
        """Number of its parts by verdict: "4 reproduced, 2 direction"."""
        counts = [
            (sum(part.verdict is verdict and part.counts for part in self.parts), verdict)
            for verdict in Verdict
        ]
        return ", ".join(f"{count} {verdict}" for count, verdict in counts if count)


def judge_paper(paper: Paper, outcomes: Outcomes) -> list[JudgedClaim]:
    """Judges every claim of a paper, in order."""
    return [judge_claim(paper, claim, outcomes) for claim in paper.claims]


def judge_claim(paper: Paper, claim: Claim, outcomes: Outcomes) -> JudgedClaim:
    """Judges a claim, from all its parts."""
    parts: list[Judged] = []
    for number, part in enumerate(claim.parts):
        for one in judge_part(paper.experiment(part.experiment), part, outcomes):
            label = one.label if part.counts else f"{one.label} (not counted)"
            parts.append(replace(one, label=label, counts=part.counts, part=number))
    verdict = verdict_of(parts)
    return JudgedClaim(claim, verdict, tuple(parts), verdict)


def verdict_of(parts: Iterable[Judged]) -> Verdict:
    """The verdict on a claim from its comparisons: first on each part, then on the parts."""
    by_part: dict[int, list[Verdict]] = {}
    for one in parts:
        if one.counts:
            by_part.setdefault(one.part, []).append(one.verdict)
    return together([together(verdicts) for verdicts in by_part.values()])


def judge_part(experiment: Experiment, part: Part, outcomes: Outcomes) -> list[Judged]:
    """One verdict for each place that the part represents."""
    judging = _Judging(experiment, part, outcomes)
    match part.kind:
        case "trend":
            return [judging.trend()]
        case "peak":
            return [judging.peak()]
        case "larger-gain":
            return [judging.larger_gain(at) for at, _ in part.comparisons()]
        case "level":
            return [judging.level(at, number) for at, number in part.comparisons()]
        case "gain":
            return [judging.gain(at, number) for at, number in part.comparisons()]


@dataclass(frozen=True)
class _Judging:
    """A part of a claim with its runs; `at` is one of the points that it represents."""

    experiment: Experiment
    part: Part
    outcomes: Outcomes

    def gain(self, at: Point, number: float | None) -> Judged:
        """The gain of `treated` over `baseline`."""
        label, sides = self.part.label_at(at), self._sides(at)
        if sides is None:
            return _not_measured(label, self._paper_gain(number))
        seen = (estimates.changes(*sides),)
        gain = estimates.gain(*sides)
        if gain is None:  # the baseline measured nothing: it has a direction, but no per cent
            change = estimates.difference(*sides)
            verdict = judge_sign(estimates.step(*sides), self.part.sign)
            ours, paper = f"{number_text(change)}, from 0", self._paper_gain(None)
            return Judged(label, verdict, ours, paper, change, seen)
        if self.part.between:
            verdict = judge_range(gain, *self._range)
        elif number is None:
            verdict = judge_sign(gain, self.part.sign)
        else:
            verdict = judge_number(gain, number)
        ours, paper = gain_text(gain), self._paper_gain(number)
        return Judged(label, verdict, ours, paper, gain, seen)

    def level(self, at: Point, number: float | None) -> Judged:
        """The measurement itself."""
        measure, label = self.part.measure, self.part.label_at(at)
        values = self.outcomes.values(self.experiment, measure, at)
        if values is None or number is None:
            return _not_measured(label, str(number))
        ours = estimates.level(values)
        verdict = (
            judge_share(ours, number)
            if measure.endswith("_percent")
            else judge_level(ours, number, is_count=MEASURES[measure].is_count)
        )
        return Judged(label, verdict, number_text(ours), f"{number:g}", ours, (tuple(values),))

    def trend(self) -> Judged:
        """The measurement along the axis."""
        part, places = self.part, self._places
        along = f"{part.along} {places[0]} to {places[-1]}"
        label = f"{part.label}, {along}" if part.label else along
        rows = list(self._series().values())
        if len(rows) < 2:
            return _not_measured(label, part.direction)
        steps = [estimates.step(before, after) for before, after in pairwise(rows)]
        verdict = judge_trend(steps, estimates.step(rows[0], rows[-1]), part.direction)
        means = " ".join(f"{sum(values) / len(values):.3g}" for values in rows)
        seen = (estimates.changes(rows[0], rows[-1]),)
        return Judged(label, verdict, means, part.direction, seen=seen)

    def peak(self) -> Judged:
        """The place of the maximum along the axis."""
        part, values = self.part, self._series()
        means = {place: sum(series) / len(series) for place, series in values.items()}
        low, high = self._range
        inside = [place for place in means if low <= float(place) <= high]
        first_place, last_place = part.between[0], part.between[-1]
        until = "" if first_place == last_place else f" to {last_place}"
        paper = f"best at {first_place}{until}"
        if not inside:
            return _not_measured(part.label, paper)
        best = max(means, key=lambda place: means[place])
        best_inside = max(inside, key=lambda place: means[place])
        first = next(iter(values))
        rise = estimates.step(values[first], values[best_inside])
        excess = None if best in inside else estimates.gain(values[best_inside], values[best])
        above = gain_text(excess) if excess else "not"
        ours = f"best at {best}, {above} above {best_inside}" if excess else f"best at {best}"
        seen = [estimates.changes(values[first], values[best_inside])]
        outside = [place for place in means if place not in inside]
        if outside:
            best_outside = max(outside, key=lambda place: means[place])
            seen.append(estimates.changes(values[best_inside], values[best_outside]))
        return Judged(part.label, judge_peak(rise, excess), ours, paper, seen=tuple(seen))

    def larger_gain(self, at: Point) -> Judged:
        """The gain at `at` against that at `than`, both seed by seed; `along` moves both."""
        part, label = self.part, self.part.label_at(at)
        than = {part.along: at[part.along], **part.than} if part.along else part.than
        paper = "as large" if part.sign == "0" else "larger"
        smaller, larger = self._sides(than), self._sides(at)
        if smaller is None or larger is None:
            return _not_measured(label, paper)
        more = estimates.gain_difference(smaller, larger)
        gains = (estimates.gain(*larger), estimates.gain(*smaller))
        if more is None or gains[0] is None:
            return Judged(label, Verdict.NOT_SHOWN, "a run measured nothing", paper)
        ours = f"{gain_text(gains[0])} against {gain_text(gains[1])}"
        verdict = judge_sign(more, "0") if part.sign == "0" else judge_larger_gain(more, gains[0])
        this, that = estimates.changes(*larger), estimates.changes(*smaller)
        seen = (tuple(a - b for a, b in zip(this, that, strict=True)), this)
        return Judged(label, verdict, ours, paper, more, seen)

    def _sides(self, at: Point) -> tuple[list[float], list[float]] | None:
        """The measurements without and with, seed by seed; None if one side was refused."""
        part = self.part
        before = self.outcomes.values(self.experiment, part.measure, at, part.baseline)
        after = self.outcomes.values(self.experiment, part.measure, at, part.treated)
        return None if before is None or after is None else (before, after)

    @property
    def _places(self) -> list[Value]:
        return self.part.places or self.experiment.axis(self.part.along).places

    def _series(self) -> dict[Value, list[float]]:
        """The measurements at each place of the axis that was run."""
        part = self.part
        found = {
            place: self.outcomes.values(self.experiment, part.measure, part.at, {part.along: place})
            for place in self._places
        }
        return {place: values for place, values in found.items() if values is not None}

    @property
    def _range(self) -> tuple[float, float]:
        return float(self.part.between[0]), float(self.part.between[-1])

    def _paper_gain(self, number: float | None) -> str:
        if self.part.between:
            low, high = self._range
            return f"{low:+g} to {high:+g} %"
        return _SIGNS[self.part.sign] if number is None else f"{number:+g} %"


def _not_measured(label: str, paper: str) -> Judged:
    return Judged(label, Verdict.NOT_SHOWN, "not measured", paper)


_SIGNS = {
    "": "more",
    "+": "more",
    "-": "less",
    "0": "no difference",
    "+0": "not less",
    "-0": "not more",
}
