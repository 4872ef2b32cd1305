"""The verdicts of a paper's claims over its readings, and the open points that decide them."""

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
"""Minimum share of the disagreement that a deciding point explains."""
_REFUTE = 20
"""Zero of twenty differ: with 95 % confidence at most 3 / 20 of all do (the rule of three)."""


@dataclass(frozen=True)
class Decision:
    """The open point that a claim depends on most.

    `rows`: for each of its values, the number of readings that go the paper's way, show nothing,
    are contradicted.
    """

    point: OpenPoint
    rows: tuple[tuple[str, int, int, int], ...]

    @property
    def words(self) -> str:
        """The decision in words: window (20: 0 of 24; 200: 20 of 24 the paper's way)."""
        told = [
            f"{name}: {way} of {way + silent + against}" for name, way, silent, against in self.rows
        ]
        return f"{self.point.id} ({'; '.join(told)} the paper's way)"


@dataclass(frozen=True)
class FreshVerdict:
    """A reading re-evaluated on fresh seeds.

    `verdict` is the common part of its likely verdicts, `p_value` that of its disagreement with the
    default, `holds` whether it disagrees: significantly different, and firmly on the other side.
    """

    reading: Reading
    verdict: Verdict
    p_value: float
    holds: bool


@dataclass
class OverReadings:
    """The verdicts of a paper's claims under each reading that was run, the default first.

    Readings that differ only at points without effect on a claim are one reading of it, and the
    first that was run gives its verdict. `admissible` counts all readings of the paper. `shares` is
    for each reading the share of all comparisons that go the paper's way, `parts` the share of each
    claim's. `asked`: for each claim the re-evaluated readings, in order. `bands`: range of the
    figures' lines over the voting readings. `fits`: each reading's distance from the paper;
    `scanned` the same for readings run only for it. A reading that breaks a fact which the default
    keeps is not a reading of the paper: it does not vote.
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
        """Adds the results of one reading; `doubts`: by claim the p-value of its disagreement."""
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
        """The facts broken by a reading but kept by the default."""
        own, default = self.fits.get(reading), self.fits.get(self.default)
        if own is None or default is None:
            return ()
        return tuple(fact for fact in own.broken if fact not in default.broken)

    def votes(self, reading: Reading) -> bool:
        """Whether it is a valid reading: it breaks no fact that the default keeps."""
        return not self.breaks(reading)

    @property
    def voters(self) -> list[Reading]:
        """The voting readings, in the order in which they were run."""
        return [reading for reading in self.verdicts if self.votes(reading)]

    @property
    def nearest(self) -> list[Reading]:
        """The readings run, by distance from the paper."""
        return nearest_first(self.fits)

    @property
    def alike(self) -> list[Reading]:
        """The readings run that are indistinguishable from the nearest."""
        return alike(self.fits)

    def answer(self, claim: str, asked: FreshVerdict) -> None:
        """Records a reading's re-evaluation: its larger sample replaces the verdict."""
        self.asked.setdefault(claim, []).append(asked)
        self._distinct[claim][self.projected(claim, asked.reading)] = asked.verdict

    def projected(self, claim: str, reading: Reading) -> Reading:
        """A reading restricted to a claim: the values at the points that affect it."""
        return tuple(reading[index] for index in self.touching[claim])

    @property
    def default(self) -> Reading:
        """The reading with every default."""
        return default_reading(self.points)

    def of(self, claim: str) -> list[Verdict]:
        """The verdicts on a claim, one per reading of it, the default's first."""
        return list(self._distinct[claim].values())

    def doubted(self, claim: str, most: int) -> list[Reading]:
        """The readings that seem to disagree with the default, the most significant first.

        At most `most`; ties are ordered by the number of points at which they depart.
        """
        doubts = self._doubts.get(claim, {})
        ranked = sorted(
            (reading for reading, p_value in doubts.items() if p_value <= DOUBT),
            key=lambda reading: (doubts[reading], len(departures(self.points, reading))),
        )
        return ranked[:most]

    def disagrees(self, claim: str) -> FreshVerdict | None:
        """A reading that differs from the default, confirmed with fresh seeds."""
        return next((one for one in self.asked.get(claim, []) if one.holds), None)

    def against(self, claim: str, most: int) -> list[Reading]:
        """The readings that could each decide a claim by contradicting it, at most `most`.

        Empty if the default decides it, or if any reading goes the paper's way; ordered by the
        number of points at which they depart.
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
        """Whether a reading contradicts a claim firmly and with fresh seeds, too."""
        return any(one.verdict is Verdict.CONTRADICTED for one in self.asked.get(claim, []))

    def refutes(self, claim: str) -> bool:
        """Whether the readings of a claim suffice for a verdict on all of them.

        All there are, or enough to leave at most one in seven untried, including each value of each
        point that affects the claim.
        """
        # A reading that breaks a fact was tried, too: it does not count as untried.
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
        """The point that separates the claim's verdicts best.

        None if no point does, or if two do equally: readings that depart at both at once do not
        show which of them decides.
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
        """Priority of the search: claims its way, and its share of all comparisons."""
        return self.served(reading)[0], self.shares[reading]

    def served(self, reading: Reading) -> tuple[int, int, int]:
        """A reading's score for the paper: claims its way, reproduced claims, departures."""
        verdicts = self.verdicts[reading].values()
        way = sum(verdict.goes_the_papers_way for verdict in verdicts)
        reproduced = sum(verdict is Verdict.REPRODUCED for verdict in verdicts)
        return way, reproduced, -len(departures(self.points, reading))

    @property
    def best(self) -> Reading:
        """The joint reading that serves the paper best, of the voting readings run."""
        return max(self.voters, key=self.served)

    @property
    def never(self) -> list[str]:
        """The claims that no reading run gives."""
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
    """Gini impurity of paper's way, not shown and contradicted."""
    if not verdicts:
        return 0.0
    return 1 - sum((count / len(verdicts)) ** 2 for count in _counts(verdicts))
