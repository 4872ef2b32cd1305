"""A paper judged under every reading that its text admits, and what decides among them."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from airtcp.papers.calibration import calibrated
from airtcp.papers.experiment import Axis, Experiment, Value
from airtcp.papers.judge import JudgedClaim, judge_paper
from airtcp.papers.outcomes import Outcomes
from airtcp.papers.paper import Paper
from airtcp.papers.readings import (
    Admitted,
    OpenPoint,
    Reading,
    coarse_first,
    default_reading,
    departures,
    neighbours,
    one_at_a_time,
    read_as,
)
from airtcp.papers.rules import Verdict, over_readings

Run = Callable[[Sequence[Experiment]], Outcomes]
"""Carries experiments out, with the few seeds that readings get."""

_TELLS_APART = 0.1
"""A point decides a claim where it explains this much of the disagreement, at least."""


@dataclass(frozen=True)
class Decision:
    """The open point on which a claim turns most.

    `rows`: for each of its values, how many readings with it go the paper's way, show nothing, are
    contradicted.
    """

    point: OpenPoint
    rows: tuple[tuple[str, int, int, int], ...]

    @property
    def words(self) -> str:
        """In words: window (20: 0 of 24; 200: 20 of 24 the paper's way)."""
        told = [
            f"{name}: {way} of {way + silent + against}" for name, way, silent, against in self.rows
        ]
        return f"{self.point.id} ({'; '.join(told)} the paper's way)"


@dataclass
class OverReadings:
    """The verdicts of a paper's claims under each reading that was run, the default first."""

    points: list[OpenPoint]
    verdicts: dict[Reading, dict[str, Verdict]] = field(default_factory=dict)

    @property
    def default(self) -> Reading:
        """The reading that departs nowhere."""
        return default_reading(self.points)

    def of(self, claim: str) -> list[Verdict]:
        """The verdicts on a claim, the default's first."""
        return [verdicts[claim] for verdicts in self.verdicts.values()]

    def tally(self, claim: str) -> dict[str, int]:
        """How many readings give which verdict, the best first."""
        counts = Counter(self.of(claim))
        return {str(verdict): counts[verdict] for verdict in Verdict if counts[verdict]}

    def decided_by(self, claim: str) -> Decision | None:
        """The point that tells the claim's verdicts apart best; None where none does."""
        best: tuple[float, Decision] | None = None
        whole = _disorder(self.of(claim))
        if not whole:
            return None
        for index, point in enumerate(self.points):
            groups = {
                name: [
                    verdicts[claim]
                    for reading, verdicts in self.verdicts.items()
                    if reading[index] == name
                ]
                for name in point.names
            }
            left = sum(len(group) * _disorder(group) for group in groups.values())
            explained = 1 - left / (len(self.verdicts) * whole)
            if explained >= _TELLS_APART and (best is None or explained > best[0]):
                rows = tuple((name, *_counts(group)) for name, group in groups.items() if group)
                best = (explained, Decision(point, rows))
        return best[1] if best else None

    def served(self, reading: Reading) -> tuple[int, int, int]:
        """How well a reading serves the paper: claims its way, of these reproduced, departures."""
        verdicts = self.verdicts[reading].values()
        way = sum(verdict.goes_the_papers_way for verdict in verdicts)
        reproduced = sum(verdict is Verdict.REPRODUCED for verdict in verdicts)
        return way, reproduced, -len(departures(self.points, reading))

    @property
    def best(self) -> Reading:
        """The joint reading that serves the paper best, of those run."""
        return max(self.verdicts, key=self.served)

    @property
    def never(self) -> list[str]:
        """The claims that no reading gives."""
        return [
            claim
            for claim in self.verdicts[self.default]
            if not any(verdict.goes_the_papers_way for verdict in self.of(claim))
        ]


def _counts(verdicts: Iterable[Verdict]) -> tuple[int, int, int]:
    way = silent = against = 0
    for verdict in verdicts:
        if verdict.goes_the_papers_way:
            way += 1
        elif verdict is Verdict.CONTRADICTED:
            against += 1
        else:
            silent += 1
    return way, silent, against


def _disorder(verdicts: Sequence[Verdict]) -> float:
    """Gini's impurity of paper's way, not shown and contradicted."""
    if not verdicts:
        return 0.0
    return 1 - sum((count / len(verdicts)) ** 2 for count in _counts(verdicts))


def open_points(paper: Paper, outcomes: Outcomes) -> list[OpenPoint]:
    """The paper's open points; before them, what its calibrations do not identify."""
    points = []
    for calibration in paper.file.calibrations:
        alike = calibrated(paper, calibration, outcomes).alike
        calibrating = paper.experiment(calibration.experiment)
        axis = calibrating.axis(calibration.axis)
        names = [place for place in axis.places if place in alike or place == calibration.chosen]
        # What a calibration sets, another scenario may have no key for.
        others = [
            one.id
            for one in paper.file.experiments
            if one.id != calibrating.id and one.scenario == calibrating.scenario
        ]
        if len(names) < 2 or not others:
            continue
        points.append(
            OpenPoint(
                id=calibration.what,
                open=f"{calibration.what}: alike in the calibration",
                source=calibration.source,
                default=str(calibration.chosen),
                why="chosen by the calibration, which does not tell these apart",
                values=[
                    Admitted(str(place), settings=_beyond_default(axis, place, calibration.chosen))
                    for place in names
                ],
                experiments=others,
            )
        )
    return points + list(paper.file.readings)


def _beyond_default(axis: Axis, place: Value, chosen: Value) -> dict[str, Any]:
    """What a place sets; nothing for the chosen one, which the scenario has already."""
    return {} if place == chosen else dict(axis.choice(place).settings)


def judge_over_readings(
    paper: Paper,
    outcomes: Outcomes,
    run: Run,
    *,
    most: int,
    improve: int = 0,
    told: Callable[[int, int], object] | None = None,
) -> tuple[list[JudgedClaim], OverReadings]:
    """Every claim under the default and over the readings.

    Args:
        paper: the paper.
        outcomes: what its experiments gave under the default reading, with all seeds.
        run: carries experiments out under another reading.
        most: how many other readings to run, coarse first.
        improve: how many more to run in search of the joint reading that serves the paper best.
        told: called with the readings run and those to be run.
    """
    judged = judge_paper(paper, outcomes)
    points = open_points(paper, outcomes)
    over = OverReadings(points)
    over.verdicts[over.default] = {one.claim.id: one.verdict for one in judged}
    judging = _Judging(paper, points, run)
    readings = _chosen(points, len(points) - len(paper.file.readings), most)
    budget = len(readings) + improve
    for done, reading in enumerate(readings):
        if told:
            told(done, budget)
        over.verdicts[reading] = judging.judge(reading)
    for done in range(improve):
        better = _next_better(over)
        if better is None:
            break
        if told:
            told(len(readings) + done, budget)
        over.verdicts[better] = judging.judge(better)
    return [_over(one, over) for one in judged], over


def _chosen(points: list[OpenPoint], calibrations: int, most: int) -> list[Reading]:
    """One at a time of what calibrations leave; jointly of what the text leaves open."""
    left = default_reading(points[:calibrations])
    text = default_reading(points[calibrations:])
    alone = [(*reading, *text) for reading in one_at_a_time(points[:calibrations])]
    return [*alone, *((*left, *reading) for reading in coarse_first(points[calibrations:], most))]


def _next_better(over: OverReadings) -> Reading | None:
    """A neighbour of the best reading so far that was not run yet; None when all were."""
    ranked = sorted(over.verdicts, key=over.served, reverse=True)
    for reading in ranked[:3]:
        for near in neighbours(over.points, reading):
            if near not in over.verdicts:
                return near
    return None


def _over(judged: JudgedClaim, over: OverReadings) -> JudgedClaim:
    verdicts = over.of(judged.claim.id)
    return replace(judged, verdict=over_readings(verdicts[0], verdicts[1:]))


class _Judging:
    """Judges readings; an experiment that a reading does not touch is run once."""

    def __init__(self, paper: Paper, points: Sequence[OpenPoint], run: Run) -> None:
        self._paper = paper
        self._points = points
        self._run = run
        named = {part.experiment for claim in paper.claims for part in claim.parts}
        self._experiments = [one for one in paper.file.experiments if one.id in named]
        self._done: dict[tuple[str, Reading], Outcomes] = {}

    def judge(self, reading: Reading) -> dict[str, Verdict]:
        """The verdict on each claim."""
        missing = [one for one in self._experiments if self._key(one, reading) not in self._done]
        if missing:
            outcomes = self._run([read_as(one, self._points, reading) for one in missing])
            for one in missing:
                self._done[self._key(one, reading)] = outcomes.only(one.id)
        found = Outcomes()
        for one in self._experiments:
            found.merge(self._done[self._key(one, reading)])
        return {judged.claim.id: judged.verdict for judged in judge_paper(self._paper, found)}

    def _key(self, experiment: Experiment, reading: Reading) -> tuple[str, Reading]:
        touched = tuple(
            name if point.concerns(experiment.id) else point.default
            for point, name in zip(self._points, reading, strict=True)
        )
        return experiment.id, touched
