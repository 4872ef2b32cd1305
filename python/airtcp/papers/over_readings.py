"""A paper judged under every reading that its text admits, and what decides among them."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

from airtcp.papers.calibration import calibrated
from airtcp.papers.experiment import Axis, Experiment, Value
from airtcp.papers.judge import JudgedClaim, judge_paper
from airtcp.papers.outcomes import Chosen, Outcomes
from airtcp.papers.paper import Paper
from airtcp.papers.readings import (
    Admitted,
    OpenPoint,
    Reading,
    coarse_first,
    default_reading,
    departures,
    first_readings,
    neighbours,
    one_at_a_time,
    read_as,
)
from airtcp.papers.rules import Verdict, over_readings
from airtcp.papers.used import points_of_claims

Run = Callable[[Sequence[Sequence[Experiment]], Chosen], list[Outcomes]]
"""Carries out the experiments of each of several readings, at the chosen points, with few seeds."""

_AT_ONCE = 8
"""Readings that are planned together: enough to keep processors busy, few enough to be held."""

_CLIMBED = 2
"""From this many of the best readings the search for a better one goes on."""

_TELLS_APART = 0.1
"""A point decides a claim where it explains this much of the disagreement, at least."""


@dataclass(frozen=True)
class Extent:
    """How many readings are run beside the default: `most`, or as many as `events` pay for.

    Events of the simulation are the same on every machine, as its time is not; `least` are run
    whatever they cost. The search for the joint reading that serves the paper best may run the
    share `improve` more.
    """

    most: int
    least: int = 0
    events: float = math.inf
    improve: float = 0.0

    def readings(self, events_each: float) -> int:
        """How many are run, where each takes `events_each` events."""
        paid = self.events / max(1.0, events_each)
        return int(min(self.most, max(self.least, paid)))


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
    """The verdicts of a paper's claims under each reading that was run, the default first.

    `admissible` counts all of them.
    `shares` says of each reading which part of all comparisons goes the paper's way.
    """

    points: list[OpenPoint]
    admissible: int = 1
    verdicts: dict[Reading, dict[str, Verdict]] = field(default_factory=dict)
    shares: dict[Reading, float] = field(default_factory=dict)

    def take(self, reading: Reading, judged: Sequence[JudgedClaim]) -> None:
        """Takes in what one reading gave."""
        self.verdicts[reading] = {one.claim.id: one.verdict for one in judged}
        parts = [part.verdict for one in judged for part in one.parts if part.counts]
        way = sum(verdict.goes_the_papers_way for verdict in parts)
        self.shares[reading] = way / max(1, len(parts))

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
        """The point that tells the claim's verdicts apart best.

        None where none does, or where two do it alike: readings that depart at both at once do not
        say which of them decides.
        """
        found: list[tuple[float, Decision]] = []
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
            if explained >= _TELLS_APART:
                rows = tuple((name, *_counts(group)) for name, group in groups.items() if group)
                found.append((explained, Decision(point, rows)))
        found.sort(key=lambda one: -one[0])
        if not found or (len(found) > 1 and math.isclose(found[0][0], found[1][0])):
            return None
        return found[0][1]

    def promises(self, reading: Reading) -> tuple[int, float]:
        """By what the search goes on: claims its way, and which part of all comparisons."""
        return self.served(reading)[0], self.shares[reading]

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
            if one.id != calibrating.id
            and one.scenario == calibrating.scenario
            and _has_places(one, calibration.at)
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
                    Admitted(
                        str(place),
                        settings=_beyond_default(axis, place, calibration.chosen),
                        at=calibration.at,
                    )
                    for place in names
                ],
                experiments=others,
            )
        )
    return points + list(paper.file.readings)


def _has_places(experiment: Experiment, at: Mapping[str, Value]) -> bool:
    places = {axis.name: axis.places for axis in experiment.axes}
    return all(place in places.get(name, []) for name, place in at.items())


def _beyond_default(axis: Axis, place: Value, chosen: Value) -> dict[str, Any]:
    """What a place sets; nothing for the chosen one, which the scenario has already."""
    return {} if place == chosen else dict(axis.choice(place).settings)


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
    text = points[len(points) - len(paper.file.readings) :]
    alone = one_at_a_time(points[: len(points) - len(text)])
    over = OverReadings(points, math.prod(len(point.values) for point in points))
    over.take(over.default, judged)
    if not extent.most or over.admissible == 1:
        return judged, over
    judging = _Judging(paper, points, outcomes, run)
    few = few or judging.default_with_few_seeds()
    most = extent.readings(judging.events(few))
    readings = _chosen(points, alone, text, most)
    budget = len(readings) + int(extent.improve * len(readings))
    for begin in range(0, len(readings), _AT_ONCE):
        if told:
            told(begin, budget)
        judging.judge(readings[begin : begin + _AT_ONCE], over)
    done = len(readings)
    while done < budget:
        better = _next_better(over, min(_AT_ONCE, budget - done))
        if not better:
            break
        if told:
            told(done, budget)
        judging.judge(better, over)
        done += len(better)
    with_few = {one.claim.id: one.verdict for one in judge_paper(paper, few)}
    return [_over(one, over, with_few[one.claim.id]) for one in judged], over


def _chosen(
    points: Sequence[OpenPoint],
    alone: Sequence[Reading],
    text: Sequence[OpenPoint],
    most: int,
) -> list[Reading]:
    """First one at a time, of the text and of what calibrations leave; then the text's jointly."""
    left = default_reading(points[: len(points) - len(text)])
    rest = default_reading(text)
    first = len(first_readings(text))
    of_text = [(*left, *one) for one in coarse_first(text, max(first, most - len(alone)))]
    of_calibrations = [(*one, *rest) for one in alone]
    return [*of_text[:first], *of_calibrations, *of_text[first:]][:most]


def _next_better(over: OverReadings, most: int) -> list[Reading]:
    """Neighbours of the best readings so far that were not run yet, `most` of them at most."""
    ranked = sorted(over.verdicts, key=over.promises, reverse=True)
    found = [
        [near for near in neighbours(over.points, reading) if near not in over.verdicts]
        for reading in ranked[:_CLIMBED]
    ]
    # In turn, so that one reading with many neighbours does not use the search up.
    turns = [near for turn in zip_longest(*found) for near in turn if near is not None]
    return list(dict.fromkeys(turns))[:most]


def _over(judged: JudgedClaim, over: OverReadings, few: Verdict) -> JudgedClaim:
    verdicts = over.of(judged.claim.id)
    return replace(judged, verdict=over_readings(verdicts[0], verdicts[1:], few))


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
