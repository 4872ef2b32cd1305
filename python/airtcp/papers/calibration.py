"""Free parameters, calibrated on the baseline only: each place's error against the paper's facts.

A calibration reports unidentified parameters: places with an error within noise of the best one are
all readings of the paper, rather than a chosen one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, log, sqrt

from airtcp.papers.experiment import Experiment, Value
from airtcp.papers.outcomes import Outcomes
from airtcp.papers.paper import Calibration, Paper, Target

_NOISE = 2.0
"""Errors closer than this, in standard errors of their difference, are indistinguishable."""


@dataclass(frozen=True)
class Calibrated:
    """Result of a calibration.

    `errors` is for each place the mean over the targets of |ln(ours / the paper's)|. `alike` are
    the places indistinguishable from the best one, the best first, whichever was chosen.
    """

    errors: dict[Value, float]
    alike: list[Value]

    @property
    def identifies(self) -> bool:
        """Whether one place is better than all others."""
        return len(self.alike) == 1


def calibrated(paper: Paper, calibration: Calibration, outcomes: Outcomes) -> Calibrated:
    """The errors of every place, and the places as good as the best within noise.

    The noise is that of the difference of two errors, by the jackknife over seeds (Efron & Stein,
    Ann. Stat. 9(3), 1981): places see the same channels, so that their errors are correlated.
    """
    experiment = paper.experiment(calibration.experiment)
    seeds = range(len(outcomes.seeds[experiment.id]))
    places = experiment.axis(calibration.axis).places
    errors = {
        place: _error(experiment, calibration, place, outcomes, list(seeds)) for place in places
    }
    without = {
        place: [
            _error(experiment, calibration, place, outcomes, [one for one in seeds if one != left])
            for left in seeds
        ]
        for place in places
        if len(seeds) > 1
    }
    ranked = sorted(places, key=lambda place: errors[place])
    best = ranked[0]
    alike = [best]
    for place in ranked[1:]:
        noise = _jackknife(without[place], without[best]) if without else inf
        if errors[place] - errors[best] <= _NOISE * noise:
            alike.append(place)
    return Calibrated(errors, alike)


def ratios_by_measure(
    paper: Paper, calibration: Calibration, outcomes: Outcomes
) -> dict[str, dict[Value, float]]:
    """For each measure and place ours over the paper's, the geometric mean over its targets."""
    experiment = paper.experiment(calibration.experiment)
    by_measure: dict[str, list[Target]] = {}
    for target in calibration.targets:
        by_measure.setdefault(target.measure, []).append(target)
    found: dict[str, dict[Value, float]] = {}
    for measure, targets in by_measure.items():
        for place in experiment.axis(calibration.axis).places:
            ratios = [
                target_ratio(experiment, calibration, one, place, outcomes) for one in targets
            ]
            mean = exp(sum(map(log, ratios)) / len(ratios)) if min(ratios) > 0 else 0.0
            found.setdefault(measure, {})[place] = mean
    return found


def calibrations_as_data(paper: Paper, outcomes: Outcomes) -> list[dict[str, object]]:
    """For each calibration the error at every place, and for each measure ours over the paper's.

    Only calibrations that were run: a quick run has no calibrations.
    """
    found: list[dict[str, object]] = []
    for calibration in paper.file.calibrations:
        if not was_run(paper, calibration, outcomes):
            continue
        ratios = ratios_by_measure(paper, calibration, outcomes)
        errors = calibrated(paper, calibration, outcomes).errors
        axis = paper.experiment(calibration.experiment).axis(calibration.axis)
        found.append(
            {
                "what": calibration.what,
                "axis": axis.label or axis.name,
                "chosen": calibration.chosen,
                "places": [
                    {
                        "place": place,
                        "error": round(error, 4),
                        "ours_over_the_papers": {
                            measure: round(by_place[place], 4)
                            for measure, by_place in ratios.items()
                        },
                    }
                    for place, error in errors.items()
                ],
            }
        )
    return found


def was_run(paper: Paper, calibration: Calibration, outcomes: Outcomes) -> bool:
    """Whether its places were measured: a quick run skips calibrations."""
    calibrating = paper.experiment(calibration.experiment)
    return any(name == calibrating.id for name, _ in outcomes.measured)


def _jackknife(one: Sequence[float], other: Sequence[float]) -> float:
    """The standard error of the difference of two estimates, from leave-one-out estimates."""
    differences = [a - b for a, b in zip(one, other, strict=True)]
    count = len(differences)
    mean = sum(differences) / count
    return sqrt((count - 1) / count * sum((each - mean) ** 2 for each in differences))


def _error(
    experiment: Experiment,
    calibration: Calibration,
    place: Value,
    outcomes: Outcomes,
    seeds: Sequence[int],
) -> float:
    ratios = [
        target_ratio(experiment, calibration, target, place, outcomes, seeds)
        for target in calibration.targets
    ]
    return sum(abs(log(ratio)) if ratio > 0 else inf for ratio in ratios) / len(ratios)


def target_ratio(
    experiment: Experiment,
    calibration: Calibration,
    target: Target,
    place: Value,
    outcomes: Outcomes,
    seeds: Sequence[int] | None = None,
) -> float:
    """Ours over the paper's, for one fact at one place; 0 where it was not measured.

    `seeds` are the positions of the seeds to include; all by default.
    """
    at = {**calibration.at, **target.at, calibration.axis: place}
    values = outcomes.values(experiment, target.measure, at) or []
    kept = values if seeds is None else [values[one] for one in seeds if values]
    return sum(kept) / len(kept) / target.value if kept else 0.0
