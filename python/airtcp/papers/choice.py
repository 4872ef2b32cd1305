"""Distance of a reading from its paper: the facts it breaks, and its error in the numbers.

One rule for every paper. Of the numbers that claims are judged by, every third is held out, in the
order of `claims.toml`; the others choose. A reading's error is the root mean square of ln(ours /
the paper's), of gains as ratios; an error beyond a factor of ten counts as ten, and so does every
broken fact; facts that hold count as zero. For a gain that the paper gives as a range, the distance
is to the nearest end, and zero inside. The smallest error is the nearest. The error over the
held-out numbers shows how well the choice generalizes.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from airtcp.papers.claims import Part
from airtcp.papers.estimates import gain, log_ratio
from airtcp.papers.experiment import Experiment, Value
from airtcp.papers.facts import broken_facts
from airtcp.papers.judge import spread
from airtcp.papers.outcomes import Outcomes
from airtcp.papers.paper import Paper
from airtcp.papers.readings import Reading

HELD_OUT = 3
"""Every third number is held out of the choice."""
_MAX = math.log(10)
"""Cap of the error, also used for missing measurements."""
_NOISE = 2.0
"""Errors closer than this, in standard errors of their difference, are indistinguishable."""


_Range = tuple[float, float]


@dataclass(frozen=True)
class Fit:
    """Distance of a reading from its paper.

    Attributes:
        broken: the ids of the broken facts.
        error: root mean square of the log ratios, over the facts and the numbers that choose.
        held_out: the same over the held-out numbers; 0 without any, as `error`.
        without: `error` with each seed left out, for its noise.
    """

    broken: tuple[str, ...]
    error: float
    held_out: float
    without: tuple[float, ...] = ()

    def is_told_apart(self, other: "Fit") -> bool:
        """Whether two readings differ by more than noise.

        The noise is that of the difference of their errors, by the jackknife over seeds.
        """
        if len(self.without) != len(other.without) or len(self.without) < 2:
            return False
        differences = [a - b for a, b in zip(self.without, other.without, strict=True)]
        count, mean = len(differences), sum(differences) / len(differences)
        spread_of = sum((one - mean) ** 2 for one in differences)
        noise = math.sqrt((count - 1) / count * spread_of)
        return abs(self.error - other.error) > _NOISE * noise


def has_fit(paper: Paper) -> bool:
    """Whether there is anything to choose by."""
    return bool(paper.file.facts) or any(True for _ in _numbers(paper))


def fit_of(paper: Paper, outcomes: Outcomes) -> Fit:
    """The fit of a reading, from its runs; `paper` has the reading's claims."""
    experiments = {one.id: one for one in paper.file.experiments}
    broken = broken_facts(paper.file.facts, experiments, outcomes)
    facts = [_MAX if fact.id in broken else 0.0 for fact in paper.file.facts]
    error, held_out = _errors(paper, experiments, outcomes, facts)
    seeds = min((len(runs) for runs in outcomes.measured.values()), default=0)
    without = [
        _errors(paper, experiments, _without(outcomes, left), facts)[0]
        for left in range(seeds)
        if seeds > 1
    ]
    return Fit(broken, error, held_out, tuple(without))


def nearest_first(fits: Mapping[Reading, Fit]) -> list[Reading]:
    """Readings by their fit, the nearest first; ties keep their order."""
    return sorted(fits, key=lambda one: fits[one].error)


def alike(fits: Mapping[Reading, Fit]) -> list[Reading]:
    """The readings indistinguishable from the nearest one, the nearest first."""
    if not fits:
        return []
    ranked = nearest_first(fits)
    best = fits[ranked[0]]
    return [one for one in ranked if one == ranked[0] or not fits[one].is_told_apart(best)]


def _errors(
    paper: Paper,
    experiments: Mapping[str, Experiment],
    outcomes: Outcomes,
    facts: Sequence[float],
) -> tuple[float, float]:
    choosing = list(facts)
    held: list[float] = []
    for place, (part, at, admitted) in enumerate(_numbers(paper), 1):
        distance = _distance(experiments[part.experiment], part, at, admitted, outcomes)
        (held if place % HELD_OUT == 0 else choosing).append(distance)
    return _root_mean_square(choosing), _root_mean_square(held)


def _numbers(paper: Paper) -> Iterator[tuple[Part, dict[str, Value], _Range]]:
    """Every number and range of the paper that a claim is judged by; a number has equal ends."""
    for claim in paper.claims:
        for part in claim.parts:
            if not part.counts or part.kind not in {"gain", "level"}:
                continue
            span = part.between if part.kind == "gain" else []
            for at, number in spread(part):
                if span:
                    yield part, at, (float(span[0]), float(span[-1]))
                elif number is not None:
                    yield part, at, (number, number)


def _distance(
    experiment: Experiment,
    part: Part,
    at: Mapping[str, Value],
    admitted: _Range,
    outcomes: Outcomes,
) -> float:
    """`|ln(ours / the paper's)|` of a number or the nearest end of a range, `_MAX` at most."""
    low, high = admitted
    if part.kind == "level":
        values = outcomes.values(experiment, part.measure, at) or []
        mean = sum(values) / len(values) if values else 0.0
        if low <= 0:
            return 0.0 if mean == low else _MAX
        return _outside(math.log(mean), math.log(low), math.log(high)) if mean > 0 else _MAX
    before = outcomes.values(experiment, part.measure, at, part.baseline)
    after = outcomes.values(experiment, part.measure, at, part.treated)
    ours = gain(before, after) if before and after else None
    if ours is None:
        return _MAX
    return _outside(log_ratio(ours.value), log_ratio(low), log_ratio(high))


def _outside(value: float, low: float, high: float) -> float:
    """How far `value` lies outside of a range, `_MAX` at most."""
    return min(_MAX, max(low - value, value - high, 0.0))


def _root_mean_square(values: Sequence[float]) -> float:
    if not values:
        return 0.0
    return math.sqrt(sum(value * value for value in values) / len(values))


def _without(outcomes: Outcomes, left: int) -> Outcomes:
    """The outcomes without the seed at that position."""
    measured = {
        point: [*runs[:left], *runs[left + 1 :]] for point, runs in outcomes.measured.items()
    }
    return replace(outcomes, measured=measured)
