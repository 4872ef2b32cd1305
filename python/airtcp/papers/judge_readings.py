"""A paper judged under its default reading and over the others that its text admits."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from airtcp.papers.experiment import Experiment
from airtcp.papers.judge import JudgedClaim, judge_paper
from airtcp.papers.open_points import open_points
from airtcp.papers.outcomes import Chosen, Outcomes
from airtcp.papers.over_readings import OverReadings
from airtcp.papers.paper import Paper
from airtcp.papers.readings import OpenPoint, Reading, default_reading, read_as
from airtcp.papers.rules import Verdict, over_readings
from airtcp.papers.search import Extent, grid, next_better
from airtcp.papers.touching import touching
from airtcp.papers.used import points_of_claims

Run = Callable[[Sequence[Sequence[Experiment]], Chosen], list[Outcomes]]
"""Carries out the experiments of each of several readings, at the chosen points, with few seeds."""

_AT_ONCE = 8
"""Readings that are planned together: enough to keep processors busy, few enough to be held."""


def judge_over_readings(
    paper: Paper,
    outcomes: Outcomes,
    run: Run,
    extent: Extent,
    *,
    few: Outcomes | None = None,
    told: Callable[[int, int], object] | None = None,
) -> tuple[list[JudgedClaim], OverReadings]:
    """Every claim under the default and over the readings.

    Args:
        paper: the paper.
        outcomes: what its experiments gave under the default reading, with all seeds.
        run: carries experiments out under other readings, with few seeds.
        extent: how many other readings to run, coarse first.
        few: what the default reading gave with those few seeds, if it is known already.
        told: called with the readings run and those to be run.
    """
    judged = judge_paper(paper, outcomes)
    points = open_points(paper, outcomes)
    admissible = math.prod(len(point.values) for point in points)
    over = OverReadings(points, touching(paper, points), admissible)
    over.take(over.default, judged)
    if not extent.most or over.admissible == 1:
        return [_over(one, over, one.verdict) for one in judged], over
    judging = _Judging(paper, points, outcomes, run)
    few = few or judging.default_with_few_seeds()
    most = extent.readings(judging.events(few))
    readings = grid(paper, points, most)
    budget = len(readings) + extent.searched(paper, len(readings))
    for begin in range(0, len(readings), _AT_ONCE):
        if told:
            told(begin, budget)
        judging.judge(readings[begin : begin + _AT_ONCE], over)
    done = len(readings)
    while done < budget:
        better = next_better(over, min(_AT_ONCE, budget - done))
        if not better:
            break
        if told:
            told(done, budget)
        judging.judge(better, over)
        done += len(better)
    with_few = {one.claim.id: one.verdict for one in judge_paper(paper, few)}
    over.too_few_seeds = {
        one.claim.id
        for one in judged
        if one.verdict.goes_the_papers_way and not with_few[one.claim.id].goes_the_papers_way
    }
    return [_over(one, over, with_few[one.claim.id]) for one in judged], over


def _over(judged: JudgedClaim, over: OverReadings, few: Verdict) -> JudgedClaim:
    default, *others = over.of(judged.claim.id)
    enough = over.refutes(judged.claim.id)
    return replace(judged, verdict=over_readings(default, others, few, enough=enough))


class _Judging:
    """Judges readings; an experiment that a reading does not touch has all its seeds as it is."""

    def __init__(
        self, paper: Paper, points: Sequence[OpenPoint], outcomes: Outcomes, run: Run
    ) -> None:
        self._paper = paper
        self._points = points
        self._run = run
        self._chosen = points_of_claims(paper)
        self._experiments = [one for one in paper.file.experiments if one.id in self._chosen]
        default = default_reading(points)
        self._done = {self._key(one, default): outcomes.only(one.id) for one in self._experiments}

    def judge(self, readings: Sequence[Reading], over: OverReadings) -> None:
        """Judges every claim under each reading; `over` takes it in."""
        missing = {
            self._key(one, reading): (one, reading)
            for reading in readings
            for one in self._experiments
            if self._key(one, reading) not in self._done
        }
        read = [[read_as(one, self._points, reading)] for one, reading in missing.values()]
        found = self._run(read, self._chosen) if read else []
        self._done |= dict(zip(missing, found, strict=True))
        for reading in readings:
            over.take(reading, self._judged(reading))

    def default_with_few_seeds(self) -> Outcomes:
        """What the default reading gives with as few seeds as the others have."""
        (found,) = self._run([self._experiments], self._chosen)
        return found

    def events(self, outcomes: Outcomes) -> float:
        """What a reading takes that touches every experiment: events of the simulation."""
        return sum(
            measures.get("events_processed", 0.0)
            for (experiment, coordinates), runs in outcomes.measured.items()
            if coordinates in self._chosen.get(experiment, ())
            for measures in runs
        )

    def _judged(self, reading: Reading) -> list[JudgedClaim]:
        found = Outcomes()
        for one in self._experiments:
            found.merge(self._done[self._key(one, reading)])
        return judge_paper(self._paper, found)

    def _key(self, experiment: Experiment, reading: Reading) -> tuple[str, Reading]:
        touched = tuple(
            name if point.concerns(experiment.id) else point.default
            for point, name in zip(self._points, reading, strict=True)
        )
        return experiment.id, touched
