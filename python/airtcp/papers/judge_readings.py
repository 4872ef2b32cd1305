"""Judges a paper under its default reading and over the others that its text admits.

The default is judged with all seeds, the other readings with few. One that seems to turn a claim's
verdict is run again with fresh seeds, as many as the default has, before it counts.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from msgspec import structs

from airtcp.papers.affecting import affecting_points
from airtcp.papers.disagreement import differs, disagreement
from airtcp.papers.experiment import Experiment, Points
from airtcp.papers.facts import broken_facts
from airtcp.papers.judge import JudgedClaim, judge_claim, judge_paper
from airtcp.papers.open_points import open_points
from airtcp.papers.outcomes import Outcomes, merged
from airtcp.papers.paper import Paper
from airtcp.papers.read_as import claims_at, read_as
from airtcp.papers.readings import OpenPoint, Reading, departures, readings_to_run
from airtcp.papers.rules import CANDIDATES, DOUBT, confirmed, verdict_over_readings
from airtcp.papers.used import points_of_claims, points_of_readings
from airtcp.papers.verdicts_by_reading import FreshVerdict, VerdictsByReading

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
) -> tuple[list[JudgedClaim], VerdictsByReading]:
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
    over = VerdictsByReading(points, affecting_points(paper, points))
    at_default = as_read(paper, points, over.default)
    judged = judge_paper(at_default, outcomes)
    over.add(over.default, judged, _broken(paper, outcomes))
    if most != 0 and over.admissible > 1:
        judging = _Judging(paper, judged, over, run)
        is_cheap = over.admissible * judging.events <= GRID_EVENTS
        readings = readings_to_run(points, paper.file.joint, most, is_cheap)
        for begin in range(0, len(readings), _AT_ONCE):
            if told:
                told(begin, len(readings))
            judging.judge(readings[begin : begin + _AT_ONCE])
        judging.rejudge_candidates()
    return [_over(one, over) for one in judged], over


def as_read(paper: Paper, points: Sequence[OpenPoint], reading: Reading) -> Paper:
    """The paper with its claims at the places that a reading selects."""
    return structs.replace(paper, claims=claims_at(paper.claims, points, reading))


def _broken(paper: Paper, outcomes: Outcomes) -> tuple[str, ...]:
    return broken_facts(paper.file.facts, paper.experiments, outcomes)


def _over(judged: JudgedClaim, over: VerdictsByReading) -> JudgedClaim:
    claim = judged.claim.id
    default, *others = over.verdicts_on(claim)
    is_enough = over.has_every_value(claim)
    verdict = verdict_over_readings(
        default, others, disagrees=bool(over.turning(claim)), is_enough=is_enough
    )
    return replace(judged, verdict=verdict, few_readings=not is_enough)


class _ReadingRuns:
    """Runs a paper's experiments under readings; one that a reading does not affect, only once."""

    def __init__(self, paper: Paper, points: Sequence[OpenPoint], run: Run) -> None:
        self._paper, self._points, self._run = paper, points, run
        self._chosen = points_of_readings(paper)
        self._experiments = [one for one in paper.file.experiments if one.id in self._chosen]
        self._done: dict[tuple[str, Reading], Outcomes] = {}

    def few(self, readings: Sequence[Reading]) -> list[Outcomes]:
        """The results of all experiments under each reading, with few seeds."""
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

    def fresh(self, wanted: Sequence[tuple[str, Reading]]) -> list[Outcomes]:
        """The results that a claim depends on under a reading, for each pair, with fresh seeds."""
        read: list[ToRun] = []
        for claim, reading in wanted:
            chosen = points_of_claims(self._paper, [self._paper.claim(claim)])
            experiments = [one for one in self._experiments if one.id in chosen]
            read.append(([read_as(one, self._points, reading) for one in experiments], chosen))
        return self._run(read, fresh=True) if read else []

    def _key(self, experiment: Experiment, reading: Reading) -> tuple[str, Reading]:
        """Equal for readings under which the experiment is the same."""
        affecting = tuple(
            name if point.concerns(experiment.id) and not point.alternative else point.default
            for point, name in zip(self._points, reading, strict=True)
        )
        return experiment.id, affecting


class _Judging:
    """Judges claims under readings other than the default."""

    def __init__(
        self, paper: Paper, judged: Sequence[JudgedClaim], over: VerdictsByReading, run: Run
    ) -> None:
        self._paper, self._over = paper, over
        self._runs = _ReadingRuns(paper, over.points, run)
        (few,) = self._runs.few([over.default])
        self._default = {one.claim.id: one for one in judged}
        self._with_few = {one.claim.id: one for one in self._judge(few, over.default)}
        self._p_values: dict[str, dict[Reading, float]] = {claim: {} for claim in self._default}
        """For each claim, of the disagreement of each reading with the default."""
        self.events = sum(
            run.get("events_processed", 0.0) for at in few.measured.values() for run in at
        )
        """Cost of a reading that affects every experiment, in events of the simulation."""

    def judge(self, readings: Sequence[Reading]) -> None:
        """Judges every claim under each reading, with few seeds."""
        for reading, outcomes in zip(readings, self._runs.few(readings), strict=True):
            judged = self._judge(outcomes, reading)
            self._over.add(reading, judged, _broken(self._paper, outcomes))
            if not self._over.votes(reading):
                continue
            for one in judged:
                default, few = self._default[one.claim.id], self._with_few[one.claim.id]
                self._p_values[one.claim.id][reading] = disagreement(default, few, one)

    def rejudge_candidates(self) -> None:
        """Judges the readings that seem to turn a claim again, on fresh seeds.

        One that does so by chance among many does not do so again.
        """
        candidates = {claim: self._candidates(claim) for claim in self._default}
        wanted = [
            (claim, reading)
            for claim, readings in candidates.items()
            for reading in (self._over.default, *readings)
            if readings
        ]
        fresh = dict(zip(wanted, self._runs.fresh(wanted), strict=True))
        for claim, readings in candidates.items():
            default = self._default[claim]
            for reading in readings:
                alike = judge_claim(self._paper, default.claim, fresh[claim, self._over.default])
                (named,) = claims_at([self._paper.claim(claim)], self._over.points, reading)
                read = judge_claim(self._paper, named, fresh[claim, reading])
                p_value = disagreement(default, alike, read)
                # Significant at this number of candidates, and on the other side.
                is_other = differs(default.under_default, read.verdict)
                holds = confirmed(p_value, len(readings)) and is_other
                found = FreshVerdict(reading, read.verdict, p_value, holds)
                self._over.add_fresh(claim, found)

    def _judge(self, outcomes: Outcomes, reading: Reading) -> list[JudgedClaim]:
        return judge_paper(as_read(self._paper, self._over.points, reading), outcomes)

    def _candidates(self, claim: str) -> list[Reading]:
        """The readings that seem to turn a claim, by departures, then significance.

        One of each set of readings that are one reading of the claim.
        """
        p_values = self._p_values[claim]
        ranked = sorted(
            (reading for reading, p_value in p_values.items() if p_value <= DOUBT),
            key=lambda one: (len(departures(self._over.points, one)), p_values[one]),
        )
        distinct: dict[Reading, Reading] = {}
        for reading in ranked:
            distinct.setdefault(self._over.projected(claim, reading), reading)
        return list(distinct.values())[:CANDIDATES]
