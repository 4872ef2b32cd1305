"""The points of a paper's experiments that are used: others are not run."""

from collections.abc import Iterable, Sequence

from airtcp.papers.claims import Claim
from airtcp.papers.experiment import Coordinates, Entry
from airtcp.papers.paper import Paper


def points_of_claims(paper: Paper, claims: Sequence[Claim]) -> dict[str, set[Coordinates]]:
    """The points on which claims depend."""
    return points_of(paper, [part for claim in claims for part in claim.parts])


def points_of_readings(paper: Paper) -> dict[str, set[Coordinates]]:
    """The points that every reading of a paper runs, for its claims and facts."""
    parts = [part for claim in paper.claims for part in claim.parts]
    return points_of(paper, [*parts, *paper.file.facts])


def points_used(paper: Paper, *, quick: bool = False) -> dict[str, set[Coordinates]]:
    """The points of a run under the default reading.

    A quick run is about verdicts: it skips points used only by figures, calibrations and
    sensitivities.
    """
    parts = [part for claim in paper.claims for part in claim.parts]
    entries: list[Entry] = [*parts, *paper.file.facts, *paper.file.numbers]
    if not quick:
        file = paper.file
        entries += [*file.figures, *file.calibrations, *file.sensitivities]
    return points_of(paper, entries)


def points_of(paper: Paper, entries: Iterable[Entry]) -> dict[str, set[Coordinates]]:
    """The points of all data of the entries."""
    points: dict[str, set[Coordinates]] = {}
    for entry in entries:
        experiment = paper.experiment(entry.experiment)
        found = points.setdefault(experiment.id, set())
        found |= {experiment.coordinates(point) for _, point in entry.data(experiment)}
    return points
