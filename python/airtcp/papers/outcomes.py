"""The measurements of experiments, by experiment and point."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from airtcp.papers.estimates import Estimate, gain
from airtcp.papers.experiment import Coordinates, Experiment, Value
from airtcp.papers.measures import Measures


@dataclass
class Outcomes:
    """Measurements: for each experiment and point, one set per seed, in order.

    `refused` gives the reason for points with remedies that do not apply to their link.
    """

    seeds: dict[str, tuple[int, ...]] = field(default_factory=dict)
    measured: dict[tuple[str, Coordinates], list[Measures]] = field(default_factory=dict)
    refused: dict[tuple[str, Coordinates], str] = field(default_factory=dict)

    @property
    def runs(self) -> int:
        """Number of all runs."""
        return sum(len(point) for point in self.measured.values())

    def values(
        self, experiment: Experiment, measure: str, *at: Mapping[str, Value]
    ) -> list[float] | None:
        """One measurement per seed, in the order of the seeds; None if the point was refused."""
        point = self.measured.get((experiment.id, experiment.coordinates(*at)))
        return None if point is None else [run[measure] for run in point]

    def gain(
        self,
        experiment: Experiment,
        measure: str,
        at: Mapping[str, Value],
        baseline: Mapping[str, Value],
        treated: Mapping[str, Value],
    ) -> Estimate | None:
        """The gain in per cent of `treated` over `baseline`, both at `at`, seed by seed.

        None if one was refused, or the baseline measured nothing.
        """
        before = self.values(experiment, measure, at, baseline)
        after = self.values(experiment, measure, at, treated)
        if before is None or after is None:
            return None
        return gain(before, after)


def merged(outcomes: Iterable[Outcomes]) -> Outcomes:
    """The measurements of several experiments together."""
    whole = Outcomes()
    for one in outcomes:
        whole.seeds |= one.seeds
        whole.measured |= one.measured
        whole.refused |= one.refused
    return whole
