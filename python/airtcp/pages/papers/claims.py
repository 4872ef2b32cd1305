"""Claims on a page: ours against the paper's, the verdict, and the readings it covers."""

from dataclasses import dataclass

from airtcp.pages.papers.evidence import evidence_table
from airtcp.pages.tables import Table
from airtcp.papers.claims import Claim
from airtcp.papers.judge import Judged, JudgedClaim
from airtcp.papers.judgement import Judgement
from airtcp.papers.paper import Paper
from airtcp.papers.readings import departures
from airtcp.papers.rules import Verdict
from airtcp.papers.verdicts_by_reading import VerdictsByReading

_SHOWN_PARTS = 6
"""Maximum number of parts in a claim's line; the rest are in its table."""

_TIP_PARTS = 3
"""Maximum number of parts in a tile's tooltip."""


@dataclass(frozen=True)
class ClaimLine:
    """A claim: its line, and its expandable details."""

    judged: JudgedClaim
    over: VerdictsByReading
    other_seeds: str
    """The verdicts with other sets of seeds, if those were run."""
    evidence: Table | None

    @property
    def claim(self) -> Claim:
        """The claim."""
        return self.judged.claim

    @property
    def verdict(self) -> str:
        """Its verdict as reported."""
        return str(self.judged.outcome)

    @property
    def shown(self) -> list[Judged]:
        """The parts in the line."""
        return [part for part in self.judged.parts if part.counts][:_SHOWN_PARTS]

    @property
    def more(self) -> int:
        """Number of parts that are only in the table."""
        return len(self.judged.parts) - len(self.shown)

    @property
    def parts(self) -> Table:
        """Every part."""
        return Table(
            ("where", "verdict", "ours", "the paper"),
            [
                (part.label or "-", str(part.verdict), part.ours, part.paper)
                for part in self.judged.parts
            ],
            4,
        )

    @property
    def by_verdict(self) -> list[tuple[str, int]]:
        """Verdicts with the number of readings for each, the most frequent first."""
        return sorted(self.over.tally(self.claim.id).items(), key=lambda item: -item[1])

    @property
    def turned_by(self) -> str:
        """The readings that turn the verdict, confirmed with fresh seeds."""
        return "; ".join(
            f"{', '.join(departures(self.over.points, one.reading))}: {one.verdict}"
            for one in self.over.turning(self.claim.id)
        )

    @property
    def tip(self) -> str:
        """The tooltip of a tile."""
        first = self.shown[:_TIP_PARTS]
        ours = "; ".join(
            f"{part.label}: {part.ours}" if part.label else part.ours for part in first
        )
        left = len(self.judged.parts) - len(first)
        more = f", and {left} more" if left else ""
        return f"{self.verdict}. The paper: {self.claim.paper}. Ours: {ours}{more}."


@dataclass(frozen=True)
class Reason:
    """Why claims fail: once for all claims it applies to, with the figure that shows it."""

    anchor: str
    claims: tuple[str, ...]
    text: str
    figure: str


def claim_lines(judgement: Judgement, paper: Paper) -> list[ClaimLine]:
    """The claims of a paper in their order."""
    outcomes = judgement.outcomes[paper.name]
    return [
        ClaimLine(
            one,
            judgement.readings[paper.name],
            ", ".join(map(str, judgement.sets.get(one.claim.id, []))),
            None
            if one.verdict is Verdict.REPRODUCED
            else evidence_table(paper, one.claim, outcomes),
        )
        for one in judgement.claims[paper.name]
    ]


def reasons(judgement: Judgement, paper: Paper) -> list[Reason]:
    """Each `why` of claims that are not reproduced, once, in the order of the claims."""
    claims: dict[str, list[Claim]] = {}
    for judged in judgement.claims[paper.name]:
        text = judgement.why(paper, judged).strip()
        if text and judged.verdict is not Verdict.REPRODUCED:
            claims.setdefault(text, []).append(judged.claim)
    return [
        Reason(
            f"why-{number}",
            tuple(claim.id for claim in those),
            text,
            next((claim.explained_by for claim in those if claim.explained_by), ""),
        )
        for number, (text, those) in enumerate(claims.items(), 1)
    ]
