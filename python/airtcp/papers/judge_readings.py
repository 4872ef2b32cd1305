"""Judges a paper under its default reading and over the others that its text admits."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from msgspec import structs

from airtcp.papers.alternatives import claims_at
from airtcp.papers.bands import Bands, bands_of
from airtcp.papers.choice import Fit, fit_of, has_fit, nearest_first
from airtcp.papers.claims import Claim
from airtcp.papers.disagreement import disagreement
from airtcp.papers.experiment import Experiment
from airtcp.papers.firmness import likely_verdicts, settled
from airtcp.papers.judge import Judged, JudgedClaim, judge_claim, judge_paper
from airtcp.papers.open_points import open_points
from airtcp.papers.outcomes import Outcomes, SelectedPoints
from airtcp.papers.over_readings import FreshVerdict, OverReadings
from airtcp.papers.paper import Paper
from airtcp.papers.readings import OpenPoint, Reading, default_reading, read_as
from airtcp.papers.rules import (
    Verdict,
    confirmed,
    firmly_differs,
    over_readings,
    said_of_likely,
)
from airtcp.papers.search import Extent, grid, next_better, next_nearer, to_scan
from airtcp.papers.touching import touching
from airtcp.papers.used import points_of_claims, points_of_fit, points_of_readings

ToRun = tuple[Sequence[Experiment], SelectedPoints]
"""Experiments of one reading, and the points of each to run."""


class Run(Protocol):
    """Runs the experiments of several readings.

    With few seeds; or, `fresh`, with as many as the default reading has, all unused so far; or with
    the set of that number beyond the default's, each as large and as long; or, `scan`, with the
    seeds of a quick run.
    """

    def __call__(  # noqa: D102
        self,
        readings: Sequence[ToRun],
        *,
        fresh: bool = False,
        beyond: int = 0,
        scan: bool = False,
    ) -> list[Outcomes]: ...


_AT_ONCE = 8
"""Readings planned together: enough to keep processors busy, few enough to fit in memory."""
_NEAREST = 8
"""Number of readings judged, of those scanned: the nearest to the paper."""


def judge_over_readings(
    paper: Paper,
    outcomes: Outcomes,
    run: Run,
    extent: Extent,
    *,
    few: Outcomes | None = None,
    first: OverReadings | None = None,
    told: Callable[[int, int], object] | None = None,
) -> tuple[list[JudgedClaim], OverReadings]:
    """Judges every claim under the default and over the readings.

    Args:
        paper: the paper.
        outcomes: results of its experiments under the default reading, with all seeds.
        run: runs experiments under other readings.
        extent: the number of other readings to run, coarse grid first.
        few: results of the default reading with as few seeds as the others have, if known.
        first: results of another set of seeds: its scan gives the nearest readings, and is not
            repeated.
        told: called with the number of finished readings and the total.
    """
    points = open_points(paper, outcomes)
    judged = _settled(as_read(paper, points, default_reading(points)), outcomes, run, extent)
    admissible = math.prod(len(point.values) for point in points)
    over = OverReadings(points, touching(paper, points), admissible)
    over.take(over.default, judged, {})
    whole, judged = judged, _to_read(judged, extent)
    if not extent.most or over.admissible == 1 or not judged:
        return [_over(one, over) for one in whole], over
    read = {one.claim.id for one in judged}
    paper = structs.replace(paper, claims=[one for one in paper.claims if one.id in read])
    judging = _Judging(paper, judged, points, outcomes, run, few)
    over.fits[over.default] = judging.fit_of_default()
    if extent.scan and has_fit(paper):
        if first is not None and first.points == points:
            over.scanned = first.scanned
        else:
            over.scanned = _scan(paper, points, run, extent, told)
    nearest = _first_that_differ(over)
    readings = grid(paper, points, extent.readings(judging.events()), nearest)
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
    judging.ask_again(over, extent.asked)
    judging.ask_those_against(over, extent.asked)
    over.bands = judging.bands(over)
    return [_over(one, over) for one in whole], over


def _to_read(judged: list[JudgedClaim], extent: Extent) -> list[JudgedClaim]:
    """The claims to judge under other readings too."""
    if not extent.decided_only:
        return judged
    return [one for one in judged if one.verdict is not Verdict.NOT_SHOWN]


def _scan(
    paper: Paper,
    points: Sequence[OpenPoint],
    run: Run,
    extent: Extent,
    told: Callable[[int, int], object] | None,
) -> dict[Reading, Fit]:
    """Distance of readings from the paper, by short runs for its facts and numbers."""
    chosen = points_of_fit(paper)
    experiments = [one for one in paper.file.experiments if one.id in chosen]

    def fits(readings: Sequence[Reading]) -> dict[Reading, Fit]:
        read: list[ToRun] = [
            ([read_as(one, points, reading) for one in experiments], chosen) for reading in readings
        ]
        outcomes = run(read, scan=True)
        return {
            reading: fit_of(as_read(paper, points, reading), found)
            for reading, found in zip(readings, outcomes, strict=True)
        }

    default = default_reading(points)
    (first,) = run([(experiments, chosen)], scan=True)
    scanned = {default: fit_of(as_read(paper, points, default), first)}
    most = extent.scanned(_events(first, chosen))
    readings = to_scan(points, most)[1:]
    while readings:
        if told:
            told(len(scanned), most)
        scanned |= fits(readings[:_AT_ONCE])
        readings = readings[_AT_ONCE:] or next_nearer(points, scanned, most)[:_AT_ONCE]
    return scanned


def _first_that_differ(over: OverReadings) -> list[Reading]:
    """The nearest readings of a scan, one for each distinguishable set of numbers and facts."""
    found: dict[tuple[float, ...], Reading] = {}
    for reading in nearest_first(over.scanned):
        fit = over.scanned[reading]
        found.setdefault((fit.error, fit.held_out, *fit.without), reading)
    return list(found.values())[:_NEAREST]


def _events(outcomes: Outcomes, chosen: SelectedPoints) -> float:
    """Cost of runs at the chosen points, in events of the simulation."""
    return sum(
        measures.get("events_processed", 0.0)
        for (experiment, coordinates), runs in outcomes.measured.items()
        if coordinates in chosen.get(experiment, ())
        for measures in runs
    )


def as_read(paper: Paper, points: Sequence[OpenPoint], reading: Reading) -> Paper:
    """The paper with its claims at the places that a reading selects."""
    return structs.replace(paper, claims=claims_at(paper.claims, points, reading))


def _settled(paper: Paper, outcomes: Outcomes, run: Run, extent: Extent) -> list[JudgedClaim]:
    """Every claim under the default, with more seeds if its verdict is not firm."""

    def more(claim: Claim, number: int) -> Outcomes:
        chosen = points_of_claims(paper, [claim])
        own = [one for one in paper.file.experiments if one.id in chosen]
        return run([(own, chosen)], beyond=number)[0]

    judged = judge_paper(paper, outcomes)
    if not extent.settle:
        return judged
    return [settled(paper, one, outcomes, more, extent.settle) for one in judged]


def _over(judged: JudgedClaim, over: OverReadings) -> JudgedClaim:
    claim = judged.claim.id
    default, *others = over.of(claim)
    disagrees, enough = over.disagrees(claim) is not None, over.refutes(claim)
    verdict = over_readings(
        default, others, disagrees=disagrees, enough=enough, against=over.contradicts(claim)
    )
    return replace(judged, verdict=verdict, few_readings=not enough)


class _Judging:
    """Judges readings; an experiment that a reading does not affect keeps all its seeds."""

    def __init__(
        self,
        paper: Paper,
        judged: Sequence[JudgedClaim],
        points: Sequence[OpenPoint],
        outcomes: Outcomes,
        run: Run,
        few: Outcomes | None,
    ) -> None:
        self._paper = paper
        self._points = points
        self._run = run
        self._chosen = points_of_readings(paper)
        self._experiments = [one for one in paper.file.experiments if one.id in self._chosen]
        default = default_reading(points)
        self._done = {self._key(one, default): outcomes.only(one.id) for one in self._experiments}
        self._default = judged
        self._said = {one.claim.id: one.under_default for one in judged}
        self._few = few or run([(self._experiments, self._chosen)])[0]
        at_default = as_read(paper, points, default)
        self._default_with_few = judge_paper(at_default, self._few)
        self._default_with_all = judge_paper(at_default, outcomes)

    def judge(self, readings: Sequence[Reading], over: OverReadings) -> None:
        """Judges every claim under each reading, and adds the results to `over`."""
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
        for reading in readings:
            judged = self._judged(reading)
            over.take(reading, judged, self._doubts(judged), self._fit(reading))

    def ask_again(self, over: OverReadings, most: int) -> None:
        """Re-evaluates readings that seem to disagree on fresh seeds, until one of each claim does.

        Takes all claims together, the most significant of each first, at most `most` per claim: one
        confirmed disagreement is enough.
        """
        doubted = {claim.id: over.doubted(claim.id, most) for claim in self._paper.claims}
        for turn in range(max(map(len, doubted.values()), default=0)):
            asked = {
                claim: readings[turn]
                for claim, readings in doubted.items()
                if turn < len(readings) and not over.disagrees(claim)
            }
            self._ask(over, asked, doubted)

    def ask_those_against(self, over: OverReadings, most: int) -> None:
        """Re-evaluates readings that contradict a claim on fresh seeds, if nothing else decides it.

        If no reading shows a claim, a contradicting one gives *never the paper's way*: among many
        readings one contradicts by chance.
        """
        against = {claim.id: over.against(claim.id, most) for claim in self._paper.claims}
        for turn in range(max(map(len, against.values()), default=0)):
            asked = {
                claim: readings[turn]
                for claim, readings in against.items()
                if turn < len(readings) and not over.contradicts(claim)
            }
            self._ask(over, asked, against)

    def _ask(
        self,
        over: OverReadings,
        asked: Mapping[str, Reading],
        candidates: Mapping[str, Sequence[Reading]],
    ) -> None:
        """Re-evaluates one reading of each claim on fresh seeds, and adds the results to `over`."""
        for claim, (read, likely, p_value) in self._asked(asked).items():
            # A significant difference is not enough: its verdict has to be on the other side, and
            # firmly.
            apart = confirmed(p_value, len(candidates[claim]))
            holds = apart and firmly_differs(self._said[claim], likely)
            said = said_of_likely(read, likely)
            over.answer(claim, FreshVerdict(asked[claim], said, p_value, holds))

    def events(self) -> float:
        """Cost of a reading that affects every experiment, in events of the simulation."""
        return _events(self._few, self._chosen)

    def bands(self, over: OverReadings) -> Bands:
        """Range of the figures' lines over the voting readings."""
        return bands_of(self._paper, over.voters, over.best, self._found)

    def fit_of_default(self) -> Fit:
        """Distance of the default, with as few seeds as the other readings have."""
        return self._fit(default_reading(self._points))

    def _fit(self, reading: Reading) -> Fit:
        """Distance of a reading; if it is like the default, with the default's few seeds."""
        found = Outcomes()
        default = default_reading(self._points)
        for one in self._experiments:
            key = self._key(one, reading)
            plain = key == self._key(one, default)
            found.merge(self._few.only(one.id) if plain else self._done[key])
        return fit_of(as_read(self._paper, self._points, reading), found)

    def _asked(
        self, asked: Mapping[str, Reading]
    ) -> dict[str, tuple[Verdict, Mapping[Verdict, int], float]]:
        """Each reading's verdict on its claim with fresh seeds.

        With the verdicts likely under other seeds, and the significance of the disagreement.
        """
        if not asked:
            return {}
        readings = [default_reading(self._points), *dict.fromkeys(asked.values())]
        claims = [[claim for claim in asked if asked[claim] == one] for one in readings]
        claims[0] = list(asked)
        runs = [self._of_claims(one, of) for one, of in zip(readings, claims, strict=True)]
        outcomes = dict(zip(readings, self._run(runs, fresh=True), strict=True))
        found: dict[str, tuple[Verdict, Mapping[Verdict, int], float]] = {}
        for claim, known in zip(self._paper.claims, self._default, strict=True):
            if claim.id in asked:
                reading = asked[claim.id]
                alike = judge_claim(
                    self._paper, self._at(claim, readings[0]), outcomes[readings[0]]
                )
                read = judge_claim(self._paper, self._at(claim, reading), outcomes[reading])
                likely = likely_verdicts(self._paper, self._at(claim, reading), outcomes[reading])
                found[claim.id] = read.verdict, likely, disagreement(known, alike, read)
        return found

    def _at(self, claim: Claim, reading: Reading) -> Claim:
        """A claim at the places that a reading selects."""
        (at,) = claims_at([claim], self._points, reading)
        return at

    def _of_claims(self, reading: Reading, claims: Sequence[str]) -> ToRun:
        """The runs that some claims depend on, under a reading."""
        named = [claim for claim in self._paper.claims if claim.id in claims]
        chosen = points_of_claims(self._paper, named)
        return [
            read_as(one, self._points, reading) for one in self._experiments if one.id in chosen
        ], chosen

    def _doubts(self, judged: Sequence[JudgedClaim]) -> dict[str, float]:
        doubts = {}
        for default, few, whole, read in zip(
            self._default, self._default_with_few, self._default_with_all, judged, strict=True
        ):
            # An experiment that the reading does not change has all seeds there.
            alike = tuple(
                one if _seeds(one) == _seeds(ours) else other
                for one, other, ours in zip(few.parts, whole.parts, read.parts, strict=True)
            )
            doubts[read.claim.id] = disagreement(default, replace(few, parts=alike), read)
        return doubts

    def _judged(self, reading: Reading) -> list[JudgedClaim]:
        return judge_paper(as_read(self._paper, self._points, reading), self._found(reading))

    def _found(self, reading: Reading) -> Outcomes:
        """Measurements under a reading."""
        found = Outcomes()
        for one in self._experiments:
            found.merge(self._done[self._key(one, reading)])
        return found

    def _key(self, experiment: Experiment, reading: Reading) -> tuple[str, Reading]:
        touched = tuple(
            name if point.concerns(experiment.id) and not point.alternative else point.default
            for point, name in zip(self._points, reading, strict=True)
        )
        return experiment.id, touched


def _seeds(judged: Judged) -> list[int]:
    """Number of seeds in each series of a comparison."""
    return [len(series) for series in judged.seen]
