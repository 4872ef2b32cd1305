"""Judges claims: each part from its runs, by the rules of `rules`."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from airtcp.papers import estimates
from airtcp.papers.claims import Claim, Part
from airtcp.papers.estimates import Estimate, gain_text, number_text
from airtcp.papers.experiment import Experiment, Value
from airtcp.papers.measures import COUNTS
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


@dataclass(frozen=True)
class Judged:
    """One comparison: ours against the paper's, and its verdict.

    `value` and `half_width` are in the unit of the words: per cent for gains. `half_width` is None
    if the runs cannot determine it. `seen` is the basis of the verdict, seed by seed, on a scale
    that all readings share: one series for a gain, two for a comparison of gains. `part` counts the
    claim's parts.
    """

    label: str
    verdict: Verdict
    ours: str
    paper: str
    value: float | None = None
    half_width: float | None = None
    counts: bool = True
    seen: tuple[tuple[float, ...], ...] = ()
    part: int = 0


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
        judged = judge_part(paper.experiment(part.experiment), part, outcomes)
        parts += [replace(one, part=number) for one in judged]
        if not part.counts:
            parts[-len(judged) :] = [_uncounted(one) for one in parts[-len(judged) :]]
    verdict = verdict_of(parts)
    return JudgedClaim(claim, verdict, tuple(parts), verdict)


def verdict_of(parts: Iterable[Judged]) -> Verdict:
    """The verdict on a claim from its comparisons: first on each part, then on the parts."""
    by_part: dict[int, list[Verdict]] = {}
    for one in parts:
        if one.counts:
            by_part.setdefault(one.part, []).append(one.verdict)
    return together([together(verdicts) for verdicts in by_part.values()])


def _uncounted(judged: Judged) -> Judged:
    return replace(judged, label=f"{judged.label} (not counted)", counts=False)


def judge_part(experiment: Experiment, part: Part, outcomes: Outcomes) -> list[Judged]:
    """One verdict for each place that the part represents."""
    match part.kind:
        case "trend":
            return [_trend(experiment, part, outcomes)]
        case "peak":
            return [_peak(experiment, part, outcomes)]
        case "larger-gain":
            return [_larger_gain(experiment, part, at, outcomes) for at, _ in spread(part)]
        case "level":
            return [_level(experiment, part, at, number, outcomes) for at, number in spread(part)]
        case "gain":
            return [_gain(experiment, part, at, number, outcomes) for at, number in spread(part)]


def spread(part: Part) -> list[tuple[dict[str, Value], float | None]]:
    """The points that a part represents, each with the paper's number."""
    numbers: Sequence[float | None] = part.paper or [None] * max(1, len(part.places))
    if not part.along:
        return [(dict(part.at), numbers[0])]
    return [
        ({**part.at, part.along: place}, number)
        for place, number in zip(part.places, numbers, strict=True)
    ]


def _label(part: Part, at: Mapping[str, Value]) -> str:
    where = f"{part.along} {at[part.along]}" if part.along else ""
    return ", ".join(text for text in (part.label, where) if text)


def _gain(
    experiment: Experiment,
    part: Part,
    at: Mapping[str, Value],
    number: float | None,
    outcomes: Outcomes,
) -> Judged:
    sides = _sides(experiment, part, at, outcomes)
    label, paper = _label(part, at), _paper_gain(part, number)
    if sides is None:
        return Judged(label, Verdict.NOT_SHOWN, "not measured", paper)
    gain = estimates.gain(*sides)
    if gain is None:
        return _from_nothing(label, sides, part)
    verdict, seen = _verdict(part, gain, number), (estimates.changes(*sides),)
    return Judged(label, verdict, gain_text(gain), paper, gain.value, _half(gain), seen=seen)


def _sides(
    experiment: Experiment, part: Part, at: Mapping[str, Value], outcomes: Outcomes
) -> tuple[list[float], list[float]] | None:
    """The measurements without and with, seed by seed; None if one side was refused."""
    before = outcomes.values(experiment, part.measure, at, part.baseline)
    after = outcomes.values(experiment, part.measure, at, part.treated)
    return None if before is None or after is None else (before, after)


def _verdict(part: Part, gain: Estimate, number: float | None) -> Verdict:
    if part.between and part.kind == "gain":
        return judge_range(gain, float(part.between[0]), float(part.between[-1]))
    return judge_sign(gain, part.sign) if number is None else judge_number(gain, number)


def _from_nothing(label: str, sides: tuple[list[float], list[float]], part: Part) -> Judged:
    """The baseline measured nothing: per cent are undefined, but the direction is not."""
    change = estimates.difference(*sides)
    verdict = judge_sign(estimates.step(*sides), part.sign)
    ours = f"{number_text(change)}, from 0"
    paper, seen = _paper_gain(part, None), (estimates.changes(*sides),)
    return Judged(label, verdict, ours, paper, change.value, _half(change), seen=seen)


def _half(estimate: Estimate) -> float | None:
    return estimate.half_width if math.isfinite(estimate.half_width) else None


_SIGNS = {
    "": "more",
    "+": "more",
    "-": "less",
    "0": "no difference",
    "+0": "not less",
    "-0": "not more",
}


def _paper_gain(part: Part, number: float | None) -> str:
    if part.between:
        return f"{float(part.between[0]):+g} to {float(part.between[-1]):+g} %"
    return _SIGNS[part.sign] if number is None else f"{number:+g} %"


def _level(
    experiment: Experiment,
    part: Part,
    at: Mapping[str, Value],
    number: float | None,
    outcomes: Outcomes,
) -> Judged:
    values = outcomes.values(experiment, part.measure, at)
    label = _label(part, at)
    if values is None or number is None:
        return Judged(label, Verdict.NOT_SHOWN, "not measured", str(number))
    ours = estimates.level(values)
    verdict = (
        judge_share(ours, number)
        if part.measure.endswith("_percent")
        else judge_level(ours, number, is_count=part.measure in COUNTS)
    )
    words, paper = number_text(ours), f"{number:g}"
    return Judged(label, verdict, words, paper, ours.value, _half(ours), seen=(tuple(values),))


def _places(experiment: Experiment, part: Part) -> list[Value]:
    return part.places or experiment.axis(part.along).places


def _series(experiment: Experiment, part: Part, outcomes: Outcomes) -> dict[Value, list[float]]:
    """The measurements at each place of the axis that was run."""
    found = {
        place: outcomes.values(experiment, part.measure, part.at, {part.along: place})
        for place in _places(experiment, part)
    }
    return {place: values for place, values in found.items() if values is not None}


def _trend(experiment: Experiment, part: Part, outcomes: Outcomes) -> Judged:
    series = _series(experiment, part, outcomes)
    rows = list(series.values())
    label = _label_of_trend(part, _places(experiment, part))
    if len(rows) < 2:
        return Judged(label, Verdict.NOT_SHOWN, "not measured", part.direction)
    steps = [estimates.step(before, after) for before, after in pairwise(rows)]
    verdict = judge_trend(steps, estimates.step(rows[0], rows[-1]), part.direction)
    means = " ".join(f"{sum(values) / len(values):.3g}" for values in rows)
    seen = (estimates.changes(rows[0], rows[-1]),)
    return Judged(label, verdict, means, part.direction, seen=seen)


def _label_of_trend(part: Part, places: Sequence[Value]) -> str:
    along = f"{part.along} {places[0]} to {places[-1]}"
    return f"{part.label}, {along}" if part.label else along


def _peak(experiment: Experiment, part: Part, outcomes: Outcomes) -> Judged:
    values = _series(experiment, part, outcomes)
    means = {place: sum(series) / len(series) for place, series in values.items()}
    low, high = float(part.between[0]), float(part.between[-1])
    inside = [place for place in means if low <= float(place) <= high]
    paper = f"best at {part.between[0]} to {part.between[-1]}"
    if not inside:
        return Judged(part.label, Verdict.NOT_SHOWN, "not measured", paper)
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


def _larger_gain(
    experiment: Experiment, part: Part, at: Mapping[str, Value], outcomes: Outcomes
) -> Judged:
    """The gain at `at` against that at `than`, both seed by seed; `along` moves both."""
    than = {part.along: at[part.along], **part.than} if part.along else part.than
    label = _label(part, at)
    paper = "as large" if part.sign == "0" else "larger"
    smaller = _sides(experiment, part, than, outcomes)
    larger = _sides(experiment, part, at, outcomes)
    if smaller is None or larger is None:
        return Judged(label, Verdict.NOT_SHOWN, "not measured", paper)
    more = estimates.gain_difference(smaller, larger)
    gains = (estimates.gain(*larger), estimates.gain(*smaller))
    if more is None or gains[0] is None:
        return Judged(label, Verdict.NOT_SHOWN, "a run measured nothing", paper)
    ours = f"{gain_text(gains[0])} against {gain_text(gains[1])}"
    verdict = judge_sign(more, "0") if part.sign == "0" else judge_larger_gain(more, gains[0])
    this, that = estimates.changes(*larger), estimates.changes(*smaller)
    seen = (tuple(a - b for a, b in zip(this, that, strict=True)), this)
    return Judged(label, verdict, ours, paper, more.value, _half(more), seen=seen)
