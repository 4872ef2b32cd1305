"""Papers on a kernel: `papers/<name>/kernel.toml`, paired with the simulation of the same runs.

A case is a scenario of the paper and the remedies to try on it. Remedies that the kernel lacks, or
links that the emulator cannot carry, stay in the results with the reason.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from msgspec import Struct, field

from airtcp._core import Scenario, ScenarioError
from airtcp.comparison.execute import Progress, Results, execute
from airtcp.comparison.plan import Observation, Plan, PlannedCell, seeded_cells
from airtcp.comparison.statistics import PairedDifference
from airtcp.core.loading import load_scenario
from airtcp.kernel.agreement import Agreement, Side
from airtcp.kernel.grid import half_width, measured_in_json
from airtcp.kernel.guests import Guest
from airtcp.kernel.in_guest import check_runs, observation_of
from airtcp.kernel.runs import (
    KernelRun,
    Measurement,
    lateness,
    measurements,
    readable_path,
    settings_of,
)
from airtcp.kernel.verify import NEEDS_DEVIATION
from airtcp.papers.paper import Paper, read_toml

FILE = "kernel.toml"
"""Name of the file with a paper's cases."""

_ANY_DEVIATION = 1.0
"""Whether a kernel has a remedy does not depend on the deviation, so any will do."""


class CaseSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """A `[[case]]`."""

    name: str
    scenario: str
    remedies: list[str] = field(default_factory=list)
    settings: dict[str, str | int | float | bool] = field(default_factory=dict)


class KernelFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A `kernel.toml`: its cases, and the settings common to all of them."""

    seeds: int
    cases: list[CaseSpec] = field(name="case")
    settings: dict[str, str | int | float | bool] = field(default_factory=dict)


@dataclass(frozen=True)
class Variant:
    """A case with one remedy, or without; `refusal` gives the reason if it cannot be run."""

    remedy: str
    """Empty for the case without a remedy."""
    scenario: Scenario | None
    refusal: str = ""


@dataclass(frozen=True)
class Case:
    """A case, checked against this kernel."""

    paper: Paper
    name: str
    source: str
    settings: tuple[tuple[str, str], ...]
    seeds: tuple[int, ...]
    baseline: Variant
    remedies: tuple[Variant, ...]
    guest: Guest | None
    """The kernel, in virtual time; None for this machine's."""

    @property
    def variants(self) -> list[Variant]:
        """The runs, the baseline first; empty if that cannot be run."""
        every = (self.baseline, *self.remedies) if self.baseline.scenario else ()
        return [one for one in every if one.scenario]

    def simulated(self, variant: Variant) -> list[PlannedCell]:
        """The simulated runs of a variant, seed by seed."""
        return self._cells(variant, None)

    def measured(self, variant: Variant, deviation_ms: float | None) -> list[PlannedCell]:
        """The kernel's runs of a variant, seed by seed."""
        if NEEDS_DEVIATION not in variant.remedy:
            deviation_ms = None
        run = KernelRun(self.source, self.settings, variant.remedy, deviation_ms)
        return self._cells(variant, observation_of(run, self.guest))

    def _cells(self, variant: Variant, observation: Observation | None) -> list[PlannedCell]:
        assert self.baseline.scenario is not None
        assert variant.scenario is not None
        where = f"{self.paper.short_title}, {self.name}"
        return list(
            seeded_cells(
                self.baseline.scenario.hash(),
                variant.scenario,
                variant.remedy,
                self.seeds,
                ", ".join(filter(None, (where, variant.remedy))),
                observation,
            )
        )


def load_cases(
    papers: Sequence[Paper], seeds: int | None = None, guest: Guest | None = None
) -> list[Case]:
    """The cases of all papers, each checked with the kernel without a run.

    The kernel is that of `guest`, in virtual time, or this machine's.

    Raises:
        PaperError: a file is missing or wrong.
        ScenarioError: a scenario or a setting is wrong.
        KernelError: the guest does not work.
    """
    cases = []
    for paper in papers:
        if not (paper.folder / FILE).is_file():
            continue  # no cases for a kernel
        file = read_toml(paper.folder / FILE, KernelFile)
        chosen = tuple(range(1, (seeds or file.seeds) + 1))
        cases += [_case(paper, spec, file.settings, chosen, guest) for spec in file.cases]
    return cases


def _case(
    paper: Paper,
    spec: CaseSpec,
    shared: Mapping[str, object],
    seeds: tuple[int, ...],
    guest: Guest | None,
) -> Case:
    settings = {**shared, **spec.settings}
    source = readable_path(paper.folder / spec.scenario)
    told = settings_of(settings)
    written = load_scenario(source, settings)

    def variant(remedy: str) -> Variant:
        # First: a wrong name is an error of the file rather than a refusal by the kernel.
        scenario = written.with_remedies(remedy) if remedy else written
        run = KernelRun(source, told, remedy, _ANY_DEVIATION)
        try:
            check_runs([run], guest)
        except ScenarioError as error:
            return Variant(remedy, None, str(error))
        return Variant(remedy, scenario)

    return Case(
        paper,
        spec.name,
        source,
        told,
        seeds,
        variant(""),
        tuple(variant(remedy) for remedy in spec.remedies),
        guest,
    )


@dataclass(frozen=True)
class Outcome:
    """Results of a variant on the kernel and simulated, seed by seed."""

    variant: Variant
    measured: tuple[Measurement, ...]
    simulated_bps: tuple[float, ...]

    @property
    def measured_bps(self) -> tuple[float, ...]:
        """The kernel's goodput in bits a second, in the order of the seeds."""
        return tuple(run["goodput_bps"] for run in self.measured)


@dataclass(frozen=True)
class CaseResult:
    """Result of a case; without outcomes if it could not be run."""

    case: Case
    outcomes: tuple[Outcome, ...]

    def agreement(self, outcome: Outcome) -> Agreement:
        """A remedy's effect on the kernel against its simulated effect."""
        before = self.outcomes[0]
        return Agreement(
            Side(before.measured_bps, outcome.measured_bps),
            Side(before.simulated_bps, outcome.simulated_bps),
        )


def run_cases(
    cases: Sequence[Case],
    out: Path | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[CaseResult]:
    """Simulates the cases, then has the kernel run them: baselines first, then remedies.

    A remedy's setting may depend on the deviation that the kernel measured in the baseline.

    Args:
        cases: the cases to run.
        out: a folder; finished cells are stored in and reused from its folder `cells`.
        jobs: number of parallel runs of the kernel; late runs are repeated.
        progress: called after each of the kernel's runs.

    Raises:
        RunError: a run could not be finished, or no run was in time.
        StoreError: a cell cannot be stored.
    """
    simulated = execute(
        Plan(cell for case in cases for one in case.variants for cell in case.simulated(one)),
        out=out,
    )
    runs_of_kernel = sum(len(case.seeds) * len(case.variants) for case in cases)
    done = 0

    def told(finished: int, _cells: int, words: str) -> None:
        if progress:
            progress(done + finished, runs_of_kernel, words)

    planned = [[case.measured(one, None) for one in case.variants[:1]] for case in cases]
    plan = Plan(cell for of_case in planned for cells in of_case for cell in cells)
    found = dict(execute(plan, out=out, jobs=jobs, progress=told))
    done = len(plan)
    for case, of_case in zip(cases, planned, strict=True):
        for one in case.variants[1:]:
            deviation_ms = fmean(run["rttvar_ms"] for run in measurements(of_case[0], found))
            of_case.append(case.measured(one, deviation_ms))
    plan = Plan(cell for of_case in planned for cells in of_case[1:] for cell in cells)
    found |= execute(plan, out=out, jobs=jobs, progress=told)
    return [
        CaseResult(
            case,
            tuple(
                Outcome(one, measurements(cells, found), _goodputs(case.simulated(one), simulated))
                for one, cells in zip(case.variants, of_case, strict=True)
            ),
        )
        for case, of_case in zip(cases, planned, strict=True)
    ]


def _goodputs(cells: Sequence[PlannedCell], found: Results) -> tuple[float, ...]:
    return tuple(float(found[cell.key].summary["goodput_bps"]) for cell in cells)


def document(results: Sequence[CaseResult]) -> dict[str, object]:
    """The results as JSON, with the measured kernel and the lateness of the emulator.

    Raises:
        ScenarioError: no case could be run.
    """
    runs = [run for one in results for outcome in one.outcomes for run in outcome.measured]
    if not runs:
        raise ScenarioError("the papers' cases: this kernel can run none of them")
    return {
        "kernel": runs[0]["kernel"],
        "seeds": len(results[0].case.seeds),
        "late": lateness(runs),
        "cases": [_case_in_json(one) for one in results],
    }


def _case_in_json(result: CaseResult) -> dict[str, object]:
    case = result.case
    by_remedy = {outcome.variant.remedy: outcome for outcome in result.outcomes}
    return {
        "paper": case.paper.about.number,
        "short": case.paper.about.short,
        "name": case.name,
        "settings": dict(case.settings),
        "refusal": case.baseline.refusal,
        "baseline": _outcome_in_json(by_remedy[""]) if by_remedy else None,
        "remedies": [
            _remedy_in_json(result, one, by_remedy.get(one.remedy)) for one in case.remedies
        ],
    }


def _remedy_in_json(
    result: CaseResult, variant: Variant, outcome: Outcome | None
) -> dict[str, object]:
    if outcome is None:
        return {"remedy": variant.remedy, "refusal": variant.refusal}
    agreement = result.agreement(outcome)
    return {
        "remedy": variant.remedy,
        "refusal": "",
        "steps": outcome.measured[0]["steps"],
        "instead": outcome.measured[0]["instead"],
        **_outcome_in_json(outcome),
        "effect": {
            "kernel": _difference_in_json(agreement.real),
            "simulated": _difference_in_json(agreement.simulated),
        },
        "answer": agreement.answer.value,
    }


def _outcome_in_json(outcome: Outcome) -> dict[str, object]:
    return {
        "kernel": measured_in_json(outcome.measured),
        "simulated": {
            "goodput_bps": list(outcome.simulated_bps),
            "half_width": half_width(outcome.simulated_bps),
        },
    }


def _difference_in_json(difference: PairedDifference) -> dict[str, object]:
    return {
        "percent": difference.mean_percent,
        "half_width": difference.half_width_percent,
        "outcome": difference.outcome.value,
    }
