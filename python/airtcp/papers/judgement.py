"""The whole of it: every paper carried out and judged, and the comparison across them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from airtcp import _core
from airtcp.papers.cross import Cross, load_cross
from airtcp.papers.judge import JudgedClaim, judge_paper
from airtcp.papers.outcomes import Outcomes, carry_out
from airtcp.papers.paper import Paper
from airtcp.papers.rules import Verdict

SEED_SETS_APART = 10_000
"""Sets of seeds begin this far from each other: no experiment has as many."""

Progress = Callable[[float, str], object]
"""Called with the share that is done, and what is being done."""


@dataclass(frozen=True)
class Judgement:
    """All that a run of the papers found.

    `sets` has for each claim its verdict with each further set of seeds, when those were run.
    """

    papers: list[Paper]
    outcomes: dict[str, Outcomes]
    claims: dict[str, list[JudgedClaim]]
    cross: Cross | None
    cross_outcomes: Outcomes | None
    quick: bool
    sets: dict[str, list[Verdict]] = field(default_factory=dict)

    @property
    def runs(self) -> int:
        """How many runs it stands on."""
        own = sum(outcomes.runs for outcomes in self.outcomes.values())
        return own + (self.cross_outcomes.runs if self.cross_outcomes else 0)

    @property
    def all_claims(self) -> list[JudgedClaim]:
        """Every claim of every paper."""
        return [judged for paper in self.papers for judged in self.claims[paper.name]]

    @property
    def unsteady(self) -> list[str]:
        """The claims whose verdict another set of seeds changes."""
        return [
            judged.claim.id
            for judged in self.all_claims
            if any(other is not judged.verdict for other in self.sets.get(judged.claim.id, []))
        ]

    def count(self, verdict: Verdict) -> int:
        """How many claims have this verdict."""
        return sum(judged.verdict is verdict for judged in self.all_claims)

    def as_json(self) -> dict[str, object]:
        """What `airtcp papers --json` prints."""
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
                    "title": paper.about.title,
                    "claims": [self._claim_json(judged) for judged in self.claims[paper.name]],
                }
                for paper in self.papers
            ],
        }

    def _claim_json(self, judged: JudgedClaim) -> dict[str, object]:
        claim = judged.claim
        return {
            "id": claim.id,
            "what": claim.what,
            "paper": claim.paper,
            "verdict": str(judged.verdict),
            "verdicts_of_other_seeds": [str(one) for one in self.sets.get(claim.id, [])],
            "parts": [
                {
                    "label": part.label,
                    "verdict": str(part.verdict),
                    "ours": part.ours,
                    "paper": part.paper,
                    "value": part.value,
                    "half_width": part.half_width,
                }
                for part in judged.parts
            ],
        }


def judge_papers(
    papers: Sequence[Paper],
    folder: Path,
    *,
    quick: bool = False,
    with_cross: bool = True,
    first_seed: int = 1,
    seed_sets: int = 1,
    out: Path | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Judgement:
    """Runs and judges papers; what `out` holds already is not run again.

    Args:
        papers: those to run.
        folder: the folder of papers, with its `cross.toml`.
        quick: with few seeds, and shorter.
        with_cross: whether to run every remedy on every scenario too.
        first_seed: the seeds count up from here.
        seed_sets: how many sets of seeds are judged; the figures are of the first.
        out: a folder for finished points.
        jobs: runs at the same time.
        progress: called as the work goes on.

    Raises:
        ScenarioError: a scenario, a remedy or a paper's file is wrong.
        RunError: a run failed.
    """
    cross = load_cross(folder) if with_cross else None
    steps = len(papers) * seed_sets + (1 if with_cross else 0)
    step = 0

    def report(what: str) -> Callable[[int, int], None]:
        begun = step

        def told(done: int, runs: int) -> None:
            if progress:
                progress((begun + done / max(1, runs)) / steps, f"{what}, {done} of {runs} runs")

        return told

    outcomes: dict[str, Outcomes] = {}
    claims: dict[str, list[JudgedClaim]] = {}
    sets: dict[str, list[Verdict]] = {}
    for number in range(seed_sets):
        for paper in papers:
            found = carry_out(
                [(paper.folder, experiment) for experiment in paper.file.experiments],
                quick=quick,
                first_seed=first_seed + number * SEED_SETS_APART,
                out=out,
                jobs=jobs,
                progress=report(f"paper {paper.about.number}"),
            )
            step += 1
            judged = judge_paper(paper, found)
            if number == 0:
                outcomes[paper.name], claims[paper.name] = found, judged
            else:
                for one in judged:
                    sets.setdefault(one.claim.id, []).append(one.verdict)
    cross_outcomes = None
    if cross is not None:
        cross_outcomes = carry_out(
            [(folder, cross.experiment(quick=quick))],
            quick=quick,
            first_seed=first_seed,
            out=out,
            jobs=jobs,
            progress=report("all remedies on all scenarios"),
        )
    return Judgement(list(papers), outcomes, claims, cross, cross_outcomes, quick, sets)
