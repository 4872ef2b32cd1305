"""Claims judged: each part of them from its runs, by the rules of `rules`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.special import stdtrit

from airtcp.papers.claims import Claim, Part
from airtcp.papers.experiment import Experiment, Value
from airtcp.papers.measures import COUNTS
from airtcp.papers.outcomes import Outcomes
from airtcp.papers.paper import Paper
from airtcp.papers.rules import (
    PLATEAU_PERCENT,
    POINTS,
    Verdict,
    judge_level,
    judge_number,
    judge_range,
    judge_share,
    judge_sign,
    together,
)
from airtcp.study.statistics import CONFIDENCE, PairedDifference, paired_difference


@dataclass(frozen=True)
class Judged:
    """One comparison: ours beside the paper's, and its verdict.

    `value` and `half_width` are in the unit of the words: per cent for gains.
    """

    label: str
    verdict: Verdict
    ours: str
    paper: str
    value: float | None = None
    half_width: float | None = None
    counts: bool = True


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with the verdicts of its parts, and its own."""

    claim: Claim
    verdict: Verdict
    parts: tuple[Judged, ...]

    @property
    def tally(self) -> str:
        """How many of its parts have which verdict: "4 reproduced, 2 direction"."""
        counts = [
            (sum(part.verdict is verdict and part.counts for part in self.parts), verdict)
            for verdict in Verdict
        ]
        return ", ".join(f"{count} {verdict}" for count, verdict in counts if count)


def judge_paper(paper: Paper, outcomes: Outcomes) -> list[JudgedClaim]:
    """Every claim of a paper, in their order."""
    return [judge_claim(paper, claim, outcomes) for claim in paper.claims]


def judge_claim(paper: Paper, claim: Claim, outcomes: Outcomes) -> JudgedClaim:
    """A claim, from all its parts."""
    parts: list[Judged] = []
    verdicts: list[Verdict] = []
    for part in claim.parts:
        judged = judge_part(paper.experiment(part.experiment), part, outcomes)
        parts += judged if part.counts else [_uncounted(one) for one in judged]
        if part.counts:
            verdicts.append(together([one.verdict for one in judged]))
    return JudgedClaim(claim, together(verdicts), tuple(parts))


def _uncounted(judged: Judged) -> Judged:
    return replace(judged, label=f"{judged.label} (not counted)", counts=False)


def judge_part(experiment: Experiment, part: Part, outcomes: Outcomes) -> list[Judged]:
    """One verdict for each place that the part stands for."""
    match part.kind:
        case "trend":
            return [_trend(experiment, part, outcomes)]
        case "peak":
            return [_peak(experiment, part, outcomes)]
        case "larger-gain":
            return [_larger_gain(experiment, part, at, outcomes) for at, _ in _spread(part)]
        case "level":
            return [_level(experiment, part, at, number, outcomes) for at, number in _spread(part)]
        case "gain":
            return [_gain(experiment, part, at, number, outcomes) for at, number in _spread(part)]


def _spread(part: Part) -> list[tuple[dict[str, Value], float | None]]:
    """The points a part stands for, each with the paper's number."""
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
    difference = outcomes.difference(experiment, part.measure, at, part.baseline, part.treated)
    label = _label(part, at)
    if difference is None:
        return Judged(label, Verdict.NOT_SHOWN, "not measured", _paper_gain(part, number))
    if difference.mean_percent is None:
        return _from_nothing(label, difference, part)
    gain, half = difference.mean_percent, difference.half_width_percent
    verdict = _verdict(part, gain, half, number)
    return Judged(label, verdict, gain_text(difference), _paper_gain(part, number), gain, half)


def _verdict(part: Part, gain: float, half: float | None, number: float | None) -> Verdict:
    if part.between and part.kind == "gain":
        return judge_range(gain, half, float(part.between[0]), float(part.between[-1]))
    return judge_sign(gain, half, part.sign) if number is None else judge_number(gain, half, number)


def _from_nothing(label: str, difference: PairedDifference, part: Part) -> Judged:
    """The baseline measured nothing: per cent have no meaning, and which way it goes has."""
    half = difference.half_width or 0.0
    # Anything over nothing is more than a per cent.
    scale = 100.0 / abs(difference.treated_mean) if difference.treated_mean else 1.0
    verdict = judge_sign(scale * difference.mean, scale * half, part.sign)
    ours = f"{difference.treated_mean:.3g} ± {half:.2g}, from 0"
    return Judged(label, verdict, ours, _paper_gain(part, None), difference.mean, half)


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


def gain_text(difference: PairedDifference) -> str:
    """A gain as words: "+13.2 ± 1.1 %"."""
    gain, half = difference.mean_percent, difference.half_width_percent
    if gain is None:
        return "no baseline"
    return f"{gain:+.1f} %" if half is None else f"{gain:+.1f} ± {half:.1f} %"


def mean_and_half_width(values: Sequence[float]) -> tuple[float, float]:
    """The mean with half its 95 % interval (Student's t); 0 for one value or equal ones."""
    array = np.asarray(values, dtype=np.float64)
    count = len(array)
    if count < 2:
        return float(array.mean()), 0.0
    error = float(array.std(ddof=1)) / count**0.5
    return float(array.mean()), float(stdtrit(count - 1, 0.5 + CONFIDENCE / 2)) * error


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
    mean, half = mean_and_half_width(values)
    verdict = (
        judge_share(mean, number, half=half)
        if part.measure.endswith("_percent")
        else judge_level(mean, number, half=half, is_count=part.measure in COUNTS)
    )
    return Judged(label, verdict, f"{mean:.4g} ± {half:.2g}", f"{number:g}", mean, half)


def _places(experiment: Experiment, part: Part) -> list[Value]:
    return part.places or experiment.axis(part.along).places


def _trend(experiment: Experiment, part: Part, outcomes: Outcomes) -> Judged:
    """Ends that differ the right way, and no step between that goes significantly the other."""
    places = _places(experiment, part)
    rows = [outcomes.values(experiment, part.measure, part.at, {part.along: p}) for p in places]
    series = [row for row in rows if row is not None]
    sign = 1.0 if part.direction == "rises" else -1.0
    ends = paired_difference(series[0], series[-1])
    wrong = [
        step
        for before, after in pairwise(series)
        if _significance(step := paired_difference(before, after)) * sign < 0
    ]
    toward = _significance(ends) * sign
    verdict = (
        Verdict.CONTRADICTED
        if toward < 0
        else Verdict.NOT_SHOWN
        if toward == 0
        else Verdict.DIRECTION
        if wrong
        else Verdict.REPRODUCED
    )
    means = " ".join(f"{sum(values) / len(values):.3g}" for values in series)
    return Judged(_label_of_trend(part, places), verdict, means, part.direction)


def _label_of_trend(part: Part, places: Sequence[Value]) -> str:
    along = f"{part.along} {places[0]} to {places[-1]}"
    return f"{part.label}, {along}" if part.label else along


def _significance(difference: PairedDifference) -> int:
    if abs(difference.mean) <= (difference.half_width or 0.0):
        return 0
    return 1 if difference.mean > 0 else -1


def _peak(experiment: Experiment, part: Part, outcomes: Outcomes) -> Judged:
    """The best place lies within `between`, or is no higher than the best one there."""
    places = _places(experiment, part)
    values = {
        place: series
        for place in places
        if (series := outcomes.values(experiment, part.measure, part.at, {part.along: place}))
    }
    means = {place: sum(series) / len(series) for place, series in values.items()}
    best = max(means, key=lambda place: means[place])
    low, high = float(part.between[0]), float(part.between[-1])
    inside = [place for place in means if low <= float(place) <= high]
    best_inside = max(inside, key=lambda place: means[place])
    better = paired_difference(values[best_inside], values[best])
    more, half = better.mean_percent or 0.0, better.half_width_percent or 0.0
    rises = _significance(paired_difference(values[places[0]], values[best_inside])) > 0
    if not rises:
        verdict = Verdict.NOT_SHOWN
    elif best in inside or more + half <= PLATEAU_PERCENT:
        verdict = Verdict.REPRODUCED
    else:
        verdict = Verdict.DIRECTION if more <= POINTS else Verdict.CONTRADICTED
    ours = f"best at {best}, {more:.1f} ± {half:.1f} % above {best_inside}"
    return Judged(part.label, verdict, ours, f"best at {part.between[0]} to {part.between[-1]}")


def _larger_gain(
    experiment: Experiment, part: Part, at: Mapping[str, Value], outcomes: Outcomes
) -> Judged:
    """The gain at `at` against that at `than`, both seed by seed; `along` moves both."""
    than = {part.along: at[part.along], **part.than} if part.along else part.than

    def gains(place: Mapping[str, Value]) -> list[float]:
        before = outcomes.values(experiment, part.measure, place, part.baseline) or []
        after = outcomes.values(experiment, part.measure, place, part.treated) or []
        return [
            100 * (treated / base - 1) if base else 0.0
            for base, treated in zip(before, after, strict=True)
        ]

    larger, smaller = gains(at), gains(than)
    difference = paired_difference(smaller, larger)
    toward = _significance(difference)
    # Less of a loss is no larger gain.
    verdict = (
        Verdict.CONTRADICTED
        if toward < 0
        else Verdict.REPRODUCED
        if toward > 0 and difference.treated_mean > 0
        else Verdict.NOT_SHOWN
    )
    half = difference.half_width or 0.0
    ours = (
        f"{difference.treated_mean:+.1f} % against {difference.baseline_mean:+.1f} %: "
        f"{difference.mean:+.1f} ± {half:.1f} points"
    )
    label = _label(part, at)
    return Judged(label, verdict, ours, "larger", difference.mean, difference.half_width)
