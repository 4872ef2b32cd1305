"""Judges a paper under its default reading and over the others that its text admits.

The default is judged with all seeds, the other readings with few. One that seems to turn a claim's
verdict is run again with fresh seeds, as many as the default has, before it counts.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from msgspec import structs

from airtcp.papers.disagreement import differs, disagreement
from airtcp.papers.experiment import Experiment, Points
from airtcp.papers.facts import broken_facts
from airtcp.papers.judge import JudgedClaim, judge_claim, judge_paper
from airtcp.papers.open_points import open_points
from airtcp.papers.outcomes import Outcomes, merged
from airtcp.papers.over_readings import FreshVerdict, OverReadings
from airtcp.papers.paper import Paper
from airtcp.papers.read_as import claims_at, read_as
from airtcp.papers.readings import OpenPoint, Reading, departures, readings_to_run
from airtcp.papers.rules import CANDIDATES, DOUBT, confirmed, over_readings
from airtcp.papers.touching import touching
from airtcp.papers.used import points_of_claims, points_of_readings

ToRun = tuple[Sequence[Experiment], Points]
"""Experiments of one reading, and the points of each to run."""


class Run(Protocol):
    """Runs the experiments of several readings.

    With few seeds; or, `fresh`, with as many as the default reading has, all unused so far.
    """

    def __call__(  # noqa: D102
        self, readings: Sequence[ToRun], *, fresh: bool = False
    ) -> list[Outcomes]: ...


_AT_ONCE = 8
"""Readings planned together: enough to keep processors busy, few enough to fit in memory."""
GRID_EVENTS = 400e6
"""The whole grid is run if it takes no more events of the simulation: the same on every machine."""


def judge_over_readings(
    paper: Paper,
    outcomes: Outcomes,
    run: Run,
    most: int | None = None,
    told: Callable[[int, int], object] | None = None,
) -> tuple[list[JudgedClaim], OverReadings]:
    """Judges every claim under the default and over the readings.

    Args:
        paper: the paper.
        outcomes: results of its experiments under the default reading, with all seeds.
        run: runs experiments under other readings.
        most: maximum number of other readings; None runs the whole grid where it is cheap, else
            every departure at one point and the joint readings that the paper names.
        told: called with the number of finished readings and the total.
    """
    points = open_points(paper, outcomes)
    over = OverReadings(points, touching(paper, points))
    at_default = as_read(paper, points, over.default)
    judged = judge_paper(at_default, outcomes)
    over.take(over.default, judged, _broken(paper, outcomes))
    if most != 0 and over.admissible > 1:
        judging = _Judging(paper, judged, over, run)
        is_cheap = over.admissible * judging.events <= GRID_EVENTS
        readings = readings_to_run(points, paper.file.joint, most, is_cheap)
        for begin in range(0, len(readings), _AT_ONCE):
            if told:
                told(begin, len(readings))
            judging.judge(readings[begin : begin + _AT_ONCE])
        judging.ask_again()
    return [_over(one, over) for one in judged], over


def as_read(paper: Paper, points: Sequence[OpenPoint], reading: Reading) -> Paper:
    """The paper with its claims at the places that a reading selects."""
    return structs.replace(paper, claims=claims_at(paper.claims, points, reading))


def _broken(paper: Paper, outcomes: Outcomes) -> tuple[str, ...]:
    return broken_facts(paper.file.facts, paper.experiments, outcomes)


def _over(judged: JudgedClaim, over: OverReadings) -> JudgedClaim:
    claim = judged.claim.id
    default, *others = over.of(claim)
    is_enough = over.has_every_value(claim)
    verdict = over_readings(
        default, others, disagrees=bool(over.turning(claim)), is_enough=is_enough
    )
    return replace(judged, verdict=verdict, few_readings=not is_enough)


class _Judging:
    """Judges readings; an experiment that a reading does not affect is run once."""

    def __init__(
        self, paper: Paper, judged: Sequence[JudgedClaim], over: OverReadings, run: Run
    ) -> None:
        self._paper, self._over, self._run = paper, over, run
        self._points = over.points
        self._chosen = points_of_readings(paper)
        self._experiments = [one for one in paper.file.experiments if one.id in self._chosen]
        self._done: dict[tuple[str, Reading], Outcomes] = {}
        (few,) = self._outcomes([over.default])
        self._default = {one.claim.id: one for one in judged}
        at_default = as_read(paper, self._points, over.default)
        self._with_few = {one.claim.id: one for one in judge_paper(at_default, few)}
        self._doubts: dict[str, dict[Reading, float]] = {}
        self.events = sum(
            measures.get("events_processed", 0.0)
            for runs in few.measured.values()
            for measures in runs
        )
        """Cost of a reading that affects every experiment, in events of the simulation."""

    def judge(self, readings: Sequence[Reading]) -> None:
        """Judges every claim under each reading."""
        for reading, outcomes in zip(readings, self._outcomes(readings), strict=True):
            judged = judge_paper(as_read(self._paper, self._points, reading), outcomes)
            self._over.take(reading, judged, _broken(self._paper, outcomes))
            if self._over.votes(reading):
                self._doubt(reading, judged)

    def _outcomes(self, readings: Sequence[Reading]) -> list[Outcomes]:
        """Results of all experiments under each reading."""
        missing = {
            self._key(one, reading): (one, reading)
            for reading in readings
            for one in self._experiments
            if self._key(one, reading) not in self._done
        }
        read: list[ToRun] = [
            ([read_as(one, self._points, reading)], self._chosen)
            for one, reading in missing.values()
        ]
        found = self._run(read) if read else []
        self._done |= dict(zip(missing, found, strict=True))
        return [
            merged(self._done[self._key(one, reading)] for one in self._experiments)
            for reading in readings
        ]

    def _doubt(self, reading: Reading, judged: Sequence[JudgedClaim]) -> None:
        for one in judged:
            claim = one.claim.id
            p_value = disagreement(self._default[claim], self._with_few[claim], one)
            self._doubts.setdefault(claim, {})[reading] = p_value

    def ask_again(self) -> None:
        """Re-evaluates readings that seem to turn a claim on fresh seeds.

        One that does so by chance among many does not do so again.
        """
        asked = {claim: found for claim in self._default if (found := self._doubted(claim))}
        to_run = [
            self._of_claim(claim, reading)
            for claim, readings in asked.items()
            for reading in (self._over.default, *readings)
        ]
        outcomes = iter(self._run(to_run, fresh=True) if to_run else [])
        for claim, readings in asked.items():
            alike = judge_claim(self._paper, self._default[claim].claim, next(outcomes))
            for reading in readings:
                self._answer(alike, reading, next(outcomes), len(readings))

    def _doubted(self, claim: str) -> list[Reading]:
        """The readings that seem to turn a claim, by departures, then significance.

        One of each set of readings that are one reading of the claim.
        """
        doubts = self._doubts.get(claim, {})
        ranked = sorted(
            (reading for reading, p_value in doubts.items() if p_value <= DOUBT),
            key=lambda reading: (len(departures(self._points, reading)), doubts[reading]),
        )
        distinct: dict[Reading, Reading] = {}
        for reading in ranked:
            distinct.setdefault(self._over.projected(claim, reading), reading)
        return list(distinct.values())[:CANDIDATES]

    def _of_claim(self, claim: str, reading: Reading) -> ToRun:
        """The runs that a claim depends on, under a reading."""
        chosen = points_of_claims(self._paper, [self._paper.claim(claim)])
        return [
            read_as(one, self._points, reading) for one in self._experiments if one.id in chosen
        ], chosen

    def _answer(
        self, alike: JudgedClaim, reading: Reading, again: Outcomes, candidates: int
    ) -> None:
        """Judges a reading again; `alike` is the claim under the default with the same seeds."""
        default = self._default[alike.claim.id]
        (claim,) = claims_at([self._paper.claim(alike.claim.id)], self._points, reading)
        read = judge_claim(self._paper, claim, again)
        p_value = disagreement(default, alike, read)
        # Significant at this number of candidates, and on the other side.
        holds = confirmed(p_value, candidates) and differs(default.under_default, read.verdict)
        self._over.answer(claim.id, FreshVerdict(reading, read.verdict, p_value, holds))

    def _key(self, experiment: Experiment, reading: Reading) -> tuple[str, Reading]:
        touched = tuple(
            name if point.concerns(experiment.id) and not point.alternative else point.default
            for point, name in zip(self._points, reading, strict=True)
        )
        return experiment.id, touched
