"""Claims on a page: ours against the paper's, the verdict, and the readings it covers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from airtcp.pages.papers.evidence import evidence_table
from airtcp.pages.tables import Table
from airtcp.papers.judge import Judged, JudgedClaim
from airtcp.papers.judgement import Judgement
from airtcp.papers.paper import Paper
from airtcp.papers.rules import Verdict

_SHOWN_PARTS = 6
"""Maximum number of parts in a claim's line; the rest are in its table."""

_TIP_PARTS = 3
"""Maximum number of parts in a tile's tooltip."""


@dataclass(frozen=True)
class Readings:
    """The readings under which a claim was judged, and their verdicts."""

    admissible: int
    by_verdict: tuple[tuple[str, int], ...]
    """Verdicts with the number of readings for each, the most frequent first."""
    turned_by: str
    """The readings that turn the verdict, confirmed with fresh seeds."""
    asked_again: int
    """Number of readings run again with fresh seeds."""


@dataclass(frozen=True)
class ClaimLine:
    """A claim: its line, and its expandable details."""

    identity: str
    what: str
    paper: str
    verdict: str
    undecided: bool
    """Whether it is not shown, but more seeds or readings may show it."""
    shown: tuple[Judged, ...]
    """The parts in the line."""
    more: int
    """Number of parts that are only in the table."""
    readings: Readings | None
    other_seeds: str
    """The verdicts with other sets of seeds, if those were run."""
    parts: Table
    evidence: Table | None

    @property
    def tip(self) -> str:
        """The tooltip of a tile."""
        first = self.shown[:_TIP_PARTS]
        ours = "; ".join(
            f"{part.label}: {part.ours}" if part.label else part.ours for part in first
        )
        left = len(self.shown) - len(first) + self.more
        more = f", and {left} more" if left else ""
        return f"{self.verdict}. The paper: {self.paper}. Ours: {ours}{more}."


@dataclass(frozen=True)
class Reason:
    """Why claims fail: once for all claims it applies to, with the figure that shows it."""

    anchor: str
    claims: tuple[str, ...]
    text: str
    figure: str


@dataclass(frozen=True)
class PapersJson:
    """The content of `papers.json`: each paper by its name and each claim by its id."""

    papers: Mapping[str, Mapping[str, Any]]
    claims: Mapping[str, Mapping[str, Any]]


def papers_json(judgement_json: Mapping[str, Any]) -> PapersJson:
    """Converts the result of `Judgement.as_json`."""
    papers = judgement_json["papers"]
    return PapersJson(
        {paper["name"]: paper for paper in papers},
        {claim["id"]: claim for paper in papers for claim in paper["claims"]},
    )


def claim_lines(judgement: Judgement, paper: Paper, contents: PapersJson) -> list[ClaimLine]:
    """The claims of a paper in their order."""
    return [
        _line(judgement, paper, judged, contents.claims.get(judged.claim.id, {}))
        for judged in judgement.claims[paper.name]
    ]


def reasons(judgement: Judgement, paper: Paper, contents: PapersJson) -> list[Reason]:
    """Each `why` of claims that are not reproduced, once, in the order of the claims."""
    claims: dict[str, list[JudgedClaim]] = {}
    for judged in judgement.claims[paper.name]:
        text = str(contents.claims.get(judged.claim.id, {}).get("why", judged.claim.why)).strip()
        if text and judged.verdict is not Verdict.REPRODUCED:
            claims.setdefault(text, []).append(judged)
    return [
        Reason(
            f"why-{number}",
            tuple(judged.claim.id for judged in those),
            text,
            next((judged.claim.explained_by for judged in those if judged.claim.explained_by), ""),
        )
        for number, (text, those) in enumerate(claims.items(), 1)
    ]


def readings_of(claim: Mapping[str, Any]) -> Readings | None:
    """The readings in a claim's JSON; None if it was judged under the default only."""
    found = claim.get("readings") or {}
    admissible = int(found.get("admissible", 0))
    if admissible < 2:
        return None
    counts = sorted(found.get("by_verdict", {}).items(), key=lambda item: -int(item[1]))
    return Readings(
        admissible,
        tuple((str(verdict), int(count)) for verdict, count in counts if count),
        "; ".join(map(_turning, found.get("turned_by", []))),
        int(found.get("asked_again", 0)),
    )


def _turning(found: Mapping[str, Any]) -> str:
    return f"{', '.join(found['reading'])}: {found['verdict']}"


def parts_table(parts: Sequence[Judged]) -> Table:
    """Every part of a claim."""
    return Table(
        ("where", "verdict", "ours", "the paper"),
        [(part.label or "-", str(part.verdict), part.ours, part.paper) for part in parts],
        4,
    )


def _line(
    judgement: Judgement, paper: Paper, judged: JudgedClaim, found: Mapping[str, Any]
) -> ClaimLine:
    claim = judged.claim
    shown = tuple(part for part in judged.parts if part.counts)[:_SHOWN_PARTS]
    failed = judged.verdict is not Verdict.REPRODUCED
    return ClaimLine(
        claim.id,
        claim.what,
        claim.paper,
        str(judged.outcome),
        judged.undecided,
        shown,
        len(judged.parts) - len(shown),
        readings_of(found),
        ", ".join(str(verdict) for verdict in judgement.sets.get(claim.id, [])),
        parts_table(judged.parts),
        evidence_table(paper, claim, judgement.outcomes[paper.name]) if failed else None,
    )
