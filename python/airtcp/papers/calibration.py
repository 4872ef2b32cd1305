"""Free parameters, calibrated on the baseline only: each place's error against the paper's facts.

A calibration reports unidentified parameters: places with an error within noise of the best one are
all readings of the paper, rather than a chosen one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, log, sqrt

from airtcp.papers.experiment import Value
from airtcp.papers.outcomes import Outcomes
from airtcp.papers.paper import Calibration, Paper

_NOISE = 2.0
"""Errors closer than this, in standard errors of their difference, are indistinguishable."""


@dataclass(frozen=True)
class Calibrated:
    """Result of a calibration.

    `ratios` has for each place ours over the paper's, target by target; 0 where nothing was
    measured. `alike` are the places indistinguishable from the best one, the best first, whichever
    was chosen.
    """

    ratios: dict[Value, list[float]]
    alike: list[Value]

    @property
    def errors(self) -> dict[Value, float]:
        """For each place the mean over the targets of |ln(ours / the paper's)|."""
        return {place: _error(ratios) for place, ratios in self.ratios.items()}

    @property
    def identifies(self) -> bool:
        """Whether one place is better than all others."""
        return len(self.alike) == 1


def was_run(paper: Paper, calibration: Calibration, outcomes: Outcomes) -> bool:
    """Whether its places were measured: a quick run skips calibrations."""
    calibrating = paper.experiment(calibration.experiment)
    return any(name == calibrating.id for name, _ in outcomes.measured)


def calibrated(paper: Paper, calibration: Calibration, outcomes: Outcomes) -> Calibrated:
    """The ratios at every place, and the places as good as the best within noise.

    The noise is that of the difference of two errors, by the jackknife over seeds (Efron & Stein,
    Ann. Stat. 9(3), 1981): places see the same channels, so that their errors are correlated.
    """
    experiment = paper.experiment(calibration.experiment)
    seeds = range(len(outcomes.seeds[experiment.id]))

    def ratios(place: Value, left_out: int | None = None) -> list[float]:
        found = []
        for target in calibration.targets:
            at = {**calibration.at, **target.at, calibration.axis: place}
            values = outcomes.values(experiment, target.measure, at) or []
            kept = [value for seed, value in enumerate(values) if seed != left_out]
            found.append(sum(kept) / len(kept) / target.value if kept else 0.0)
        return found

    of_places = {place: ratios(place) for place in experiment.axis(calibration.axis).places}
    errors = {place: _error(found) for place, found in of_places.items()}
    best, *others = sorted(errors, key=lambda place: errors[place])
    without = {place: [_error(ratios(place, left)) for left in seeds] for place in of_places}
    alike = [best]
    for place in others:
        noise = _jackknife(without[place], without[best]) if len(seeds) > 1 else inf
        if errors[place] - errors[best] <= _NOISE * noise:
            alike.append(place)
    return Calibrated(of_places, alike)


def calibrations_as_data(paper: Paper, outcomes: Outcomes) -> list[dict[str, object]]:
    """For each calibration that was run the error at every place, and for each measure the ratio.

    That is ours over the paper's: the geometric mean over the targets of the measure.
    """
    found: list[dict[str, object]] = []
    for calibration in paper.file.calibrations:
        if not was_run(paper, calibration, outcomes):
            continue
        axis = paper.experiment(calibration.experiment).axis(calibration.axis)
        result = calibrated(paper, calibration, outcomes)
        found.append(
            {
                "what": calibration.what,
                "axis": axis.label or axis.name,
                "chosen": calibration.chosen,
                "places": [
                    {
                        "place": place,
                        "error": round(error, 4),
                        "ours_over_the_papers": _by_measure(calibration, result.ratios[place]),
                    }
                    for place, error in result.errors.items()
                ],
            }
        )
    return found


def _by_measure(calibration: Calibration, ratios: Sequence[float]) -> dict[str, float]:
    by_measure: dict[str, list[float]] = {}
    for target, ratio in zip(calibration.targets, ratios, strict=True):
        by_measure.setdefault(target.measure, []).append(ratio)
    return {
        measure: round(exp(sum(map(log, some)) / len(some)), 4) if min(some) > 0 else 0.0
        for measure, some in by_measure.items()
    }


def _error(ratios: Sequence[float]) -> float:
    return sum(abs(log(ratio)) if ratio > 0 else inf for ratio in ratios) / len(ratios)


def _jackknife(one: Sequence[float], other: Sequence[float]) -> float:
    """The standard error of the difference of two estimates, from leave-one-out estimates."""
    differences = [a - b for a, b in zip(one, other, strict=True)]
    count = len(differences)
    mean = sum(differences) / count
    return sqrt((count - 1) / count * sum((each - mean) ** 2 for each in differences))
