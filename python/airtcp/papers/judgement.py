"""Runs and judges every paper, with the comparison across them."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from airtcp import _core
from airtcp.comparison.execute import Executor
from airtcp.comparison.store import Store
from airtcp.papers.calibration import calibrations_as_data
from airtcp.papers.cross import Cross, has_cross, load_cross
from airtcp.papers.experiment import Experiment, RunExtent
from airtcp.papers.judge import JudgedClaim
from airtcp.papers.judge_readings import ToRun, judge_over_readings
from airtcp.papers.outcomes import (
    Outcomes,
    PlannedExperiments,
    SelectedPoints,
    carry_out,
    carry_out_planned,
    plan_experiments,
)
from airtcp.papers.over_readings import OverReadings
from airtcp.papers.paper import Paper
from airtcp.papers.readings import departures
from airtcp.papers.rules import Verdict
from airtcp.papers.sensitivity import sensitivity_tables
from airtcp.papers.texts import filled
from airtcp.papers.used import points_of_verdicts, points_used

SEED_SETS_APART = 10_000
"""Distance between the first seeds of consecutive sets; no experiment has as many."""
FRESH_SEEDS_APART = SEED_SETS_APART // 2
"""Offset of the seeds for re-evaluating readings from the first of their set."""

_SHOWN = ("label", "verdict", "ours", "paper", "value", "half_width", "counts")
"""Fields of a part that enter the output."""

Progress = Callable[[float, str], object]
"""Called with the finished share, and the current step."""


@dataclass(frozen=True)
class Judgement:
    """All results of a run of the papers.

    `readings` has for each paper the verdicts under every reading that was run; `sets` for each
    claim its verdict with each additional set of seeds, if those were run.
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
                "broken_by": sum(fact.id in broken for broken in over.broken.values()),
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
                "admissible": len(over.of(claim.id)),
                "by_verdict": over.tally(claim.id),
                "asked_again": len(over.asked.get(claim.id, [])),
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
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Judgement:
    """Runs and judges papers; runs found in `out` are not repeated.

    Args:
        papers: the papers to run.
        folder: the folder of papers.
        quick: whether to use fewer seeds and shorter runs.
        with_cross: whether to run every remedy on every scenario too, by the folder's `cross.toml`;
            a folder without that file has no such runs.
        first_seed: the first seed.
        seed_sets: number of sets of seeds to judge; the figures are of the first.
        readings: maximum number of readings of each paper to judge in addition to the default; None
            runs the whole grid where it is cheap, else every departure at one point and the joint
            readings that the paper names; a quick run judges only the default.
        out: a folder for finished points.
        jobs: number of parallel runs.
        executor: runs the cells; threads by default.
        progress: called as the work goes on.

    Raises:
        ScenarioError: a scenario, a remedy or a paper's file is wrong.
        RunError: a run failed.
    """
    cross = load_cross(folder) if with_cross and has_cross(folder) else None
    most = 0 if quick and readings is None else readings
    store = Store(out / "cells") if out is not None else None
    steps = _Steps(len(papers) * seed_sets * 2 + (1 if cross else 0), progress)

    outcomes: dict[str, Outcomes] = {}
    claims: dict[str, list[JudgedClaim]] = {}
    over: dict[str, OverReadings] = {}
    sets: dict[str, list[Verdict]] = {}
    for number in range(seed_sets):
        for paper in papers:
            seed = first_seed + number * SEED_SETS_APART
            runs = _Runs(paper, quick, seed, store, jobs, executor)
            found = runs.default(steps.next(f"paper {paper.about.number}", "runs"))
            judged, readings_of = judge_over_readings(
                paper,
                found,
                runs.read_otherwise,
                most,
                told=steps.next(f"paper {paper.about.number}", "readings"),
            )
            if number == 0:
                outcomes[paper.name], claims[paper.name] = found, judged
                over[paper.name] = readings_of
            else:
                for one in judged:
                    sets.setdefault(one.claim.id, []).append(one.outcome)
    cross_outcomes = None
    if cross is not None:
        told = steps.next("all remedies on all scenarios", "runs")
        whole = [(folder, cross.experiment(quick=quick))]
        cross_outcomes = carry_out(
            whole,
            quick=quick,
            first_seed=first_seed,
            out=store,
            jobs=jobs,
            executor=executor,
            progress=told,
        )
    return Judgement(list(papers), outcomes, claims, cross, cross_outcomes, quick, over, sets)


class _Runs:
    """Runs the experiments of a paper, with one set of seeds."""

    def __init__(
        self,
        paper: Paper,
        quick: bool,
        seed: int,
        store: Store | None,
        jobs: int | None,
        executor: Executor | None,
    ) -> None:
        self._paper = paper
        self._quick = quick
        self._seed = seed
        self._carry_out = partial(carry_out_planned, out=store, jobs=jobs, executor=executor)

    def default(self, told: Callable[[int, int], None]) -> Outcomes:
        """Every experiment under the default reading, at all points that are used.

        A quick run is about verdicts: it skips points used only by figures, calibrations and
        sensitivities.
        """
        used = points_of_verdicts(self._paper) if self._quick else points_used(self._paper)
        extent: RunExtent = "quick" if self._quick else "full"
        whole = self._planned(self._paper.file.experiments, used, extent, self._seed)
        (found,) = self._carry_out([whole], progress=told)
        return found

    def read_otherwise(self, readings: Sequence[ToRun], *, fresh: bool = False) -> list[Outcomes]:
        """The experiments of several readings; see `judge_readings.Run`."""
        extent: RunExtent = "quick" if self._quick else "fresh" if fresh else "few"
        seed = self._seed + (FRESH_SEEDS_APART if fresh else 0)
        plans = [self._planned(experiments, only, extent, seed) for experiments, only in readings]
        return self._carry_out(plans)

    def _planned(
        self,
        experiments: Sequence[Experiment],
        only: SelectedPoints,
        extent: RunExtent,
        first_seed: int,
    ) -> PlannedExperiments:
        own = [(self._paper.folder, experiment) for experiment in experiments]
        return plan_experiments(own, extent=extent, first_seed=first_seed, only=only)


class _Steps:
    """Reports the finished share of all steps."""

    def __init__(self, steps: int, progress: Progress | None) -> None:
        self._steps = steps
        self._progress = progress
        self._begun = -1

    def next(self, what: str, of: str) -> Callable[[int, int], None]:
        """Begins the next step; the returned function is called as it goes on."""
        self._begun += 1
        begun = self._begun

        def told(done: int, all_of_them: int) -> None:
            if self._progress:
                share = (begun + done / max(1, all_of_them)) / self._steps
                self._progress(share, f"{what}, {done} of {all_of_them} {of}")

        return told
