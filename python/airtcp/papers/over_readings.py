"""The verdicts of a paper's claims over its readings, and what decides among them."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from airtcp.papers.bands import Bands
from airtcp.papers.choice import Fit, alike, nearest_first
from airtcp.papers.judge import JudgedClaim
from airtcp.papers.readings import OpenPoint, Reading, default_reading, departures
from airtcp.papers.rules import DOUBT, Verdict
from airtcp.papers.touching import Touching

_TELLS_APART = 0.1
"""A point decides a claim where it explains this much of the disagreement, at least."""
_REFUTE = 20
"""None of twenty differs: with 95 % confidence at most 3 / 20 of all do (the rule of three)."""


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


@dataclass(frozen=True)
class FreshVerdict:
    """A reading re-evaluated on fresh seeds.

    `verdict` is what its likely ones have in common, `p_value` that of its disagreement with the
    default, `holds` whether it disagrees: told apart, and firmly on the other side.
    """

    reading: Reading
    verdict: Verdict
    p_value: float
    holds: bool


@dataclass
class OverReadings:
    """The verdicts of a paper's claims under each reading that was run, the default first.

    Readings that differ at points which do not touch a claim are one reading of it, and the first
    that was run says its verdict. `admissible` counts all readings of the paper. `shares` says of
    each reading which part of all comparisons goes the paper's way, `parts` which part of each
    claim's. `asked`: of each claim the readings that were asked again, in their order. `bands`:
    where the lines of figures lie under those that have a vote. `fits`: how near each is to the
    paper; `scanned` the same of those that were run for that alone. One that breaks a fact which
    the default keeps is no reading of the paper: it has no vote.
    """

    points: list[OpenPoint]
    touching: Touching
    admissible: int = 1
    verdicts: dict[Reading, dict[str, Verdict]] = field(default_factory=dict)
    shares: dict[Reading, float] = field(default_factory=dict)
    parts: dict[Reading, dict[str, float]] = field(default_factory=dict)
    asked: dict[str, list[FreshVerdict]] = field(default_factory=dict)
    fits: dict[Reading, Fit] = field(default_factory=dict)
    scanned: dict[Reading, Fit] = field(default_factory=dict)
    bands: Bands = field(default_factory=dict)
    _distinct: dict[str, dict[Reading, Verdict]] = field(default_factory=dict)
    _doubts: dict[str, dict[Reading, float]] = field(default_factory=dict)
    _tried: dict[str, set[Reading]] = field(default_factory=dict)

    def take(
        self,
        reading: Reading,
        judged: Sequence[JudgedClaim],
        doubts: Mapping[str, float],
        fit: Fit | None = None,
    ) -> None:
        """Takes in what one reading gave; `doubts`: of each claim how surely it disagrees."""
        if fit is not None:
            self.fits[reading] = fit
        votes = self.votes(reading)
        verdicts, parts, way, compared = {}, {}, 0, 0
        for one in judged:
            claim = one.claim.id
            known, read = self._distinct.setdefault(claim, {}), self.projected(claim, reading)
            self._tried.setdefault(claim, set()).add(read)
            if votes and read not in known and claim in doubts:
                self._doubts.setdefault(claim, {})[reading] = doubts[claim]
            verdicts[claim] = known.setdefault(read, one.verdict) if votes else one.verdict
            counted = [part.verdict.goes_the_papers_way for part in one.parts if part.counts]
            parts[claim] = sum(counted) / max(1, len(counted))
            way, compared = way + sum(counted), compared + len(counted)
        self.verdicts[reading], self.parts[reading] = verdicts, parts
        self.shares[reading] = way / max(1, compared)

    def breaks(self, reading: Reading) -> tuple[str, ...]:
        """The facts that a reading breaks and the default keeps."""
        own, default = self.fits.get(reading), self.fits.get(self.default)
        if own is None or default is None:
            return ()
        return tuple(fact for fact in own.broken if fact not in default.broken)

    def votes(self, reading: Reading) -> bool:
        """Whether it is a reading of the paper: it breaks no fact that the default keeps."""
        return not self.breaks(reading)

    @property
    def voters(self) -> list[Reading]:
        """The readings that have a vote, in the order in which they were run."""
        return [reading for reading in self.verdicts if self.votes(reading)]

    @property
    def nearest(self) -> list[Reading]:
        """The readings run, by how near they are to the paper."""
        return nearest_first(self.fits)

    @property
    def alike(self) -> list[Reading]:
        """The readings run that are indistinguishable from the nearest."""
        return alike(self.fits)

    def answer(self, claim: str, asked: FreshVerdict) -> None:
        """Records a reading's re-evaluation: more seeds than before, so it is the verdict now."""
        self.asked.setdefault(claim, []).append(asked)
        self._distinct[claim][self.projected(claim, asked.reading)] = asked.verdict

    def projected(self, claim: str, reading: Reading) -> Reading:
        """A reading as a claim sees it: the values at the points that touch it."""
        return tuple(reading[index] for index in self.touching[claim])

    @property
    def default(self) -> Reading:
        """The reading that departs nowhere."""
        return default_reading(self.points)

    def of(self, claim: str) -> list[Verdict]:
        """The verdicts on a claim, one a reading of it, the default's first."""
        return list(self._distinct[claim].values())

    def doubted(self, claim: str, most: int) -> list[Reading]:
        """The readings that seem to disagree with the default, the surest first, `most` of them.

        Of those that are as sure, first the ones that depart at the fewest points.
        """
        doubts = self._doubts.get(claim, {})
        ranked = sorted(
            (reading for reading, p_value in doubts.items() if p_value <= DOUBT),
            key=lambda reading: (doubts[reading], len(departures(self.points, reading))),
        )
        return ranked[:most]

    def disagrees(self, claim: str) -> FreshVerdict | None:
        """The reading that says otherwise than the default, and did so again with fresh seeds."""
        return next((one for one in self.asked.get(claim, []) if one.holds), None)

    def against(self, claim: str, most: int) -> list[Reading]:
        """The readings whose contradiction would be all that is said of a claim, `most` of them.

        None where the default says something, or where any reading goes the paper's way; those
        that depart at the fewest points first.
        """
        default, *others = self.of(claim)
        if default is not Verdict.NOT_SHOWN or any(one.goes_the_papers_way for one in others):
            return []
        known: dict[Reading, Reading] = {}
        for reading in self.voters:
            known.setdefault(self.projected(claim, reading), reading)
        contradicting = [
            known[read]
            for read, verdict in self._distinct[claim].items()
            if verdict is Verdict.CONTRADICTED
        ]
        contradicting.sort(key=lambda reading: len(departures(self.points, reading)))
        return contradicting[:most]

    def contradicts(self, claim: str) -> bool:
        """Whether a reading contradicts a claim again, with fresh seeds and firmly."""
        return any(one.verdict is Verdict.CONTRADICTED for one in self.asked.get(claim, []))

    def refutes(self, claim: str) -> bool:
        """Whether the readings of a claim are enough for a verdict on all of them.

        All there are, or as many as leave one in seven at most that nobody has met, with each value
        of each point that touches the claim among them.
        """
        # One that breaks a fact was tried, too: it is not a reading that nobody has met.
        known, touching = self._tried[claim], self.touching[claim]
        there_are = math.prod(len(self.points[index].values) for index in touching)
        return len(known) >= min(there_are, _REFUTE) and all(
            {reading[place] for reading in known} == set(self.points[index].names)
            for place, index in enumerate(touching)
        )

    def tally(self, claim: str) -> dict[str, int]:
        """Number of readings by verdict, the best first."""
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
        known = self._distinct[claim]
        for place, index in enumerate(self.touching[claim]):
            point = self.points[index]
            groups = {
                name: [verdict for reading, verdict in known.items() if reading[place] == name]
                for name in point.names
            }
            left = sum(len(group) * _disorder(group) for group in groups.values())
            explained = 1 - left / (len(known) * whole)
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
        """A reading's score for the paper: claims its way, of these reproduced, departures."""
        verdicts = self.verdicts[reading].values()
        way = sum(verdict.goes_the_papers_way for verdict in verdicts)
        reproduced = sum(verdict is Verdict.REPRODUCED for verdict in verdicts)
        return way, reproduced, -len(departures(self.points, reading))

    @property
    def best(self) -> Reading:
        """The joint reading that serves the paper best, of those run that have a vote."""
        return max(self.voters, key=self.served)

    @property
    def never(self) -> list[str]:
        """The claims that none of the readings run gives."""
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
