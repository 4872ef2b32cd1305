"""The judgement of papers: every claim with its verdict, and the runs and readings behind it."""

from dataclasses import asdict, dataclass, field
from typing import Any

from airtcp import _core
from airtcp.papers.calibration import calibrations_as_data
from airtcp.papers.cross import Cross
from airtcp.papers.judge import JudgedClaim
from airtcp.papers.outcomes import Outcomes
from airtcp.papers.paper import Paper
from airtcp.papers.readings import departures
from airtcp.papers.rules import Verdict
from airtcp.papers.sensitivity import sensitivity_tables
from airtcp.papers.texts import filled
from airtcp.papers.verdicts_by_reading import VerdictsByReading

_SHOWN = ("label", "verdict", "ours", "paper", "value", "half_width", "counts")
"""Fields of a part that enter the output."""


@dataclass
class Judgement:
    """All results of a run of the papers.

    By a paper's name: `outcomes` has its runs under the default reading, `claims` the verdicts,
    `readings` the verdicts under every reading that was run. By a claim's id: `sets` has its
    verdict with each additional set of seeds, if those were run.
    """

    papers: list[Paper]
    cross: Cross | None
    quick: bool
    outcomes: dict[str, Outcomes] = field(default_factory=dict)
    claims: dict[str, list[JudgedClaim]] = field(default_factory=dict)
    readings: dict[str, VerdictsByReading] = field(default_factory=dict)
    sets: dict[str, list[Verdict]] = field(default_factory=dict)
    cross_outcomes: Outcomes | None = None

    @property
    def runs(self) -> int:
        """Number of runs it is based on."""
        own = sum(outcomes.runs for outcomes in self.outcomes.values())
        return own + (self.cross_outcomes.runs if self.cross_outcomes else 0)

    @property
    def all_claims(self) -> list[JudgedClaim]:
        """Every claim of every paper."""
        return [judged for paper in self.papers for judged in self.claims[paper.name]]

    @property
    def unsteady(self) -> list[str]:
        """The claims with a verdict that another set of seeds changes."""
        return [
            judged.claim.id
            for judged in self.all_claims
            if any(other is not judged.outcome for other in self.sets.get(judged.claim.id, []))
        ]

    def count(self, verdict: Verdict) -> int:
        """Number of claims with this verdict."""
        return sum(judged.outcome is verdict for judged in self.all_claims)

    def as_json(self) -> dict[str, Any]:
        """The output of `airtcp papers --json`."""
        return {
            "engine_version": _core.engine_version,
            "quick": self.quick,
            "runs": self.runs,
            "counts": {str(verdict): self.count(verdict) for verdict in Verdict},
            "unsteady": self.unsteady,
            "papers": [
                {
                    "name": paper.name,
                    "number": paper.about.number,
                    "short": paper.about.short,
                    "title": paper.about.title,
                    "today": self.today(paper),
                    "figure": self._figure_json(paper),
                    "calibrations": calibrations_as_data(paper, self.outcomes[paper.name]),
                    "readings": self._readings_json(paper),
                    "claims": [
                        self._claim_json(paper, judged) for judged in self.claims[paper.name]
                    ],
                    "sensitivities": [
                        asdict(table)
                        for table in sensitivity_tables(paper, self.outcomes[paper.name])
                        if not self.quick
                    ],
                }
                for paper in self.papers
            ],
        }

    @staticmethod
    def _figure_json(paper: Paper) -> dict[str, str] | None:
        """The figure that represents a paper: the name of its file, and its words."""
        for spec in paper.file.figures:
            if spec.id == paper.about.figure:
                name = f"{paper.name}-{spec.id}"
                return {"name": name, "title": spec.title, "caption": spec.caption}
        return None

    def _readings_json(self, paper: Paper) -> dict[str, object]:
        over = self.readings[paper.name]
        way, reproduced, _ = over.served(over.best)
        return {
            "run": len(over.verdicts),
            "admissible": over.admissible,
            "points": [
                {
                    "id": point.id,
                    "open": point.open,
                    "source": point.source,
                    "values": point.names,
                    "default": point.default,
                    "why": point.why,
                }
                for point in over.points
            ],
            "serves_best": {
                "reading": departures(over.points, over.best),
                "papers_way": way,
                "reproduced": reproduced,
                "under_default": over.served(over.default)[0],
            },
            "never": over.never,
            "facts": self._facts_json(paper),
        }

    def _facts_json(self, paper: Paper) -> list[dict[str, object]]:
        """Each fact, and the number of readings run that break it."""
        over = self.readings[paper.name]
        return [
            {
                "id": fact.id,
                "what": fact.what,
                "source": fact.source,
                "default_keeps": fact.id not in over.broken[over.default],
                "broken_by": over.readings_that_break(fact.id),
                "of": len(over.broken),
            }
            for fact in paper.file.facts
        ]

    def _claim_json(self, paper: Paper, judged: JudgedClaim) -> dict[str, object]:
        claim, over = judged.claim, self.readings[paper.name]
        return {
            "id": claim.id,
            "what": claim.what,
            "paper": claim.paper,
            "verdict": str(judged.outcome),
            "under_default": str(judged.under_default),
            "undecided": judged.undecided,
            "readings": {
                "admissible": len(over.verdicts_on(claim.id)),
                "by_verdict": over.tally(claim.id),
                "asked_again": len(over.fresh.get(claim.id, [])),
                "turned_by": [
                    {
                        "reading": departures(over.points, one.reading),
                        "verdict": str(one.verdict),
                        "p_value": float(f"{one.p_value:.2g}"),
                    }
                    for one in over.turning(claim.id)
                ],
            },
            "why": self.why(paper, judged),
            "verdicts_of_other_seeds": [str(one) for one in self.sets.get(claim.id, [])],
            "parts": [{name: getattr(part, name) for name in _SHOWN} for part in judged.parts],
        }

    def why(self, paper: Paper, judged: JudgedClaim) -> str:
        """Explanation of a claim that is not simply reproduced, with its numbers filled in."""
        return self._filled(paper, judged.claim.why)

    def today(self, paper: Paper) -> str:
        """The paper's lesson for today's practitioner, with its numbers filled in."""
        return self._filled(paper, paper.about.today)

    def _filled(self, paper: Paper, text: str) -> str:
        return filled(text, paper.file.numbers, paper.experiments, self.outcomes[paper.name])
