"""The whole of it: every paper carried out and judged, and the comparison across them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from airtcp import _core
from airtcp.papers.cross import Cross, load_cross
from airtcp.papers.experiment import Experiment
from airtcp.papers.judge import JudgedClaim
from airtcp.papers.outcomes import Outcomes, carry_out
from airtcp.papers.over_readings import OverReadings, judge_over_readings
from airtcp.papers.paper import Paper
from airtcp.papers.readings import departures
from airtcp.papers.rules import Verdict
from airtcp.papers.texts import filled

SEED_SETS_APART = 10_000
"""Sets of seeds begin this far from each other: no experiment has as many."""

Progress = Callable[[float, str], object]
"""Called with the share that is done, and what is being done."""


@dataclass(frozen=True)
class Judgement:
    """All that a run of the papers found.

    `readings` has for each paper the verdicts under every reading that was run; `sets` for each
    claim its verdict with each further set of seeds, when those were run.
    """

    papers: list[Paper]
    outcomes: dict[str, Outcomes]
    claims: dict[str, list[JudgedClaim]]
    cross: Cross | None
    cross_outcomes: Outcomes | None
    quick: bool
    readings: dict[str, OverReadings]
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
                    "readings": self._readings_json(paper),
                    "claims": [
                        self._claim_json(paper, judged) for judged in self.claims[paper.name]
                    ],
                }
                for paper in self.papers
            ],
        }

    def _readings_json(self, paper: Paper) -> dict[str, object]:
        over = self.readings[paper.name]
        way, reproduced, _ = over.served(over.best)
        return {
            "run": len(over.verdicts),
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
        }

    def _claim_json(self, paper: Paper, judged: JudgedClaim) -> dict[str, object]:
        claim, over = judged.claim, self.readings[paper.name]
        decision = over.decided_by(claim.id)
        return {
            "id": claim.id,
            "what": claim.what,
            "paper": claim.paper,
            "verdict": str(judged.verdict),
            "under_default": str(judged.under_default),
            "readings": {
                "admissible": len(over.verdicts),
                "by_verdict": over.tally(claim.id),
                "decided_by": decision.point.id if decision else None,
                "decision": [
                    {"value": name, "papers_way": way, "not_shown": silent, "contradicted": against}
                    for name, way, silent, against in (decision.rows if decision else ())
                ],
            },
            "why": self.why(paper, judged),
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

    def why(self, paper: Paper, judged: JudgedClaim) -> str:
        """What explains a claim that does not simply come out, its numbers filled in."""
        return self._filled(paper, judged.claim.why)

    def today(self, paper: Paper) -> str:
        """What a practitioner takes from the paper today, its numbers filled in."""
        return self._filled(paper, paper.about.today)

    def _filled(self, paper: Paper, text: str) -> str:
        experiments = {experiment.id: experiment for experiment in paper.file.experiments}
        return filled(text, paper.file.numbers, experiments, self.outcomes[paper.name])


FULL_READINGS = 48
"""How many readings beside the default a full run judges, unless it is told otherwise."""
QUICK_READINGS = 5
"""And a quick one."""
_IMPROVE = 0.5
"""The search for the reading that serves the paper best may run this share more of them."""


def judge_papers(
    papers: Sequence[Paper],
    folder: Path,
    *,
    quick: bool = False,
    with_cross: bool = True,
    first_seed: int = 1,
    seed_sets: int = 1,
    readings: int | None = None,
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
        readings: how many readings of each paper to judge beside the default, coarse first; 48 by
            default, 5 with `quick`.
        out: a folder for finished points.
        jobs: runs at the same time.
        progress: called as the work goes on.

    Raises:
        ScenarioError: a scenario, a remedy or a paper's file is wrong.
        RunError: a run failed.
    """
    cross = load_cross(folder) if with_cross else None
    most = readings if readings is not None else QUICK_READINGS if quick else FULL_READINGS
    improve = 0 if quick else int(_IMPROVE * most)
    steps = _Steps(len(papers) * seed_sets * 2 + (1 if with_cross else 0), progress)

    def run(
        experiments: Sequence[tuple[Path, Experiment]],
        seed: int,
        *,
        few: bool,
        told: Callable[[int, int], object] | None = None,
    ) -> Outcomes:
        return carry_out(experiments, quick=few, first_seed=seed, out=out, jobs=jobs, progress=told)

    outcomes: dict[str, Outcomes] = {}
    claims: dict[str, list[JudgedClaim]] = {}
    over: dict[str, OverReadings] = {}
    sets: dict[str, list[Verdict]] = {}
    for number in range(seed_sets):
        seed = first_seed + number * SEED_SETS_APART
        for paper in papers:
            own = [(paper.folder, experiment) for experiment in paper.file.experiments]
            told = steps.next(f"paper {paper.about.number}", "runs")
            found = run(own, seed, few=quick, told=told)

            def run_few(
                experiments: Sequence[Experiment], seed: int = seed, folder: Path = paper.folder
            ) -> Outcomes:
                return run([(folder, one) for one in experiments], seed, few=True)

            told = steps.next(f"paper {paper.about.number}", "readings")
            judged, readings_of = judge_over_readings(
                paper, found, run_few, most=most, improve=improve, told=told
            )
            if number == 0:
                outcomes[paper.name], claims[paper.name] = found, judged
                over[paper.name] = readings_of
            else:
                for one in judged:
                    sets.setdefault(one.claim.id, []).append(one.verdict)
    cross_outcomes = None
    if cross is not None:
        told = steps.next("all remedies on all scenarios", "runs")
        whole = [(folder, cross.experiment(quick=quick))]
        cross_outcomes = run(whole, first_seed, few=quick, told=told)
    return Judgement(list(papers), outcomes, claims, cross, cross_outcomes, quick, over, sets)


class _Steps:
    """Tells the share of all steps that is done."""

    def __init__(self, steps: int, progress: Progress | None) -> None:
        self._steps = steps
        self._progress = progress
        self._begun = -1

    def next(self, what: str, of: str) -> Callable[[int, int], None]:
        """The next step begins; what is returned is called as it goes on."""
        self._begun += 1
        begun = self._begun

        def told(done: int, all_of_them: int) -> None:
            if self._progress:
                share = (begun + done / max(1, all_of_them)) / self._steps
                self._progress(share, f"{what}, {done} of {all_of_them} {of}")

        return told
