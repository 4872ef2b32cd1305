"""The verdicts of a paper's claims over its readings, and the departures that turn them."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from airtcp.papers.affecting import Affecting
from airtcp.papers.judge import JudgedClaim
from airtcp.papers.readings import OpenPoint, Reading, default_reading, departures
from airtcp.papers.rules import Verdict


@dataclass(frozen=True)
class FreshVerdict:
    """A reading re-evaluated on fresh seeds.

    `p_value` is that of its disagreement with the default; `holds` whether it disagrees:
    significantly different, and on the other side.
    """

    reading: Reading
    verdict: Verdict
    p_value: float
    holds: bool


@dataclass
class VerdictsByReading:
    """The verdicts of a paper's claims under each reading that was run, the default first.

    Readings that differ only at points without effect on a claim are one reading of it, and the
    first that was run gives its verdict. `broken`: the facts that each reading breaks. A reading
    that breaks a fact which the default keeps is not a reading of the paper: it does not vote.
    `fresh`: for each claim the re-evaluated readings, in order.
    """

    points: list[OpenPoint]
    affecting: Affecting
    verdicts: dict[Reading, dict[str, Verdict]] = field(default_factory=dict)
    broken: dict[Reading, tuple[str, ...]] = field(default_factory=dict)
    fresh: dict[str, list[FreshVerdict]] = field(default_factory=dict)
    _distinct: dict[str, dict[Reading, Verdict]] = field(default_factory=dict)

    def add(self, reading: Reading, judged: Sequence[JudgedClaim], broken: tuple[str, ...]) -> None:
        """Adds the results of one reading, and the facts that it breaks."""
        self.broken[reading] = broken
        votes, verdicts = self.votes(reading), {}
        for one in judged:
            claim, read = one.claim.id, self.projected(one.claim.id, reading)
            known = self._distinct.setdefault(claim, {})
            verdicts[claim] = known.setdefault(read, one.verdict) if votes else one.verdict
        self.verdicts[reading] = verdicts

    def add_fresh(self, claim: str, fresh: FreshVerdict) -> None:
        """Records a reading's re-evaluation: its larger sample replaces the verdict."""
        self.fresh.setdefault(claim, []).append(fresh)
        self._distinct[claim][self.projected(claim, fresh.reading)] = fresh.verdict

    @property
    def admissible(self) -> int:
        """Number of all readings of the paper."""
        return math.prod(len(point.values) for point in self.points)

    @property
    def default(self) -> Reading:
        """The reading with every default."""
        return default_reading(self.points)

    def breaks(self, reading: Reading) -> tuple[str, ...]:
        """The facts broken by a reading but kept by the default."""
        kept = self.broken[self.default]
        return tuple(fact for fact in self.broken[reading] if fact not in kept)

    def readings_that_break(self, fact: str) -> int:
        """Number of readings run that break a fact."""
        return sum(fact in broken for broken in self.broken.values())

    def votes(self, reading: Reading) -> bool:
        """Whether it is a valid reading: it breaks no fact that the default keeps."""
        return not self.breaks(reading)

    @property
    def voters(self) -> list[Reading]:
        """The voting readings, in the order in which they were run."""
        return [reading for reading in self.verdicts if self.votes(reading)]

    def projected(self, claim: str, reading: Reading) -> Reading:
        """A reading restricted to a claim: the values at the points that affect it."""
        return tuple(reading[index] for index in self.affecting[claim])

    def verdicts_on(self, claim: str) -> list[Verdict]:
        """The verdicts on a claim, one per reading of it, the default's first."""
        return list(self._distinct[claim].values())

    def tally(self, claim: str) -> dict[str, int]:
        """Number of readings by verdict, the best first."""
        counts = Counter(self.verdicts_on(claim))
        return {str(verdict): counts[verdict] for verdict in Verdict if counts[verdict]}

    def has_every_value(self, claim: str) -> bool:
        """Whether every value of each point that affects the claim was run.

        A reading that breaks a fact was run, too.
        """
        return all(
            {reading[index] for reading in self.verdicts} == set(self.points[index].names)
            for index in self.affecting[claim]
        )

    def turning(self, claim: str) -> list[FreshVerdict]:
        """The readings that turn a claim's verdict, confirmed with fresh seeds."""
        return [one for one in self.fresh.get(claim, []) if one.holds]

    def served(self, reading: Reading) -> tuple[int, int, int]:
        """A reading's score for the paper: claims its way, reproduced claims, departures."""
        verdicts = self.verdicts[reading].values()
        way = sum(verdict.goes_the_papers_way for verdict in verdicts)
        reproduced = sum(verdict is Verdict.REPRODUCED for verdict in verdicts)
        return way, reproduced, -len(departures(self.points, reading))

    @property
    def best(self) -> Reading:
        """The reading that serves the paper best, of the voting readings run."""
        return max(self.voters, key=self.served)

    @property
    def never(self) -> list[str]:
        """The claims that no reading run gives."""
        return [
            claim
            for claim in self.verdicts[self.default]
            if not any(verdict.goes_the_papers_way for verdict in self.verdicts_on(claim))
        ]
