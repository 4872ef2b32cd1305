"""Papers on a kernel: `papers/<name>/kernel.toml`, paired with the simulation of the same runs.

A case is a scenario of the paper and the remedies to verify on it. Remedies that the kernel lacks,
or links that the emulator cannot carry, stay in the results with the reason.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec import Struct, field

from airtcp._core import ScenarioError
from airtcp.comparison.execute import Progress
from airtcp.comparison.statistics import PairedDifference
from airtcp.core.catalogue import BASELINE
from airtcp.core.loading import load_scenario
from airtcp.kernel.grid import half_width, measured_in_json
from airtcp.kernel.guests import Guest, the_kernel
from airtcp.kernel.guests.catalogue import MACHINE
from airtcp.kernel.in_guest import check_runs
from airtcp.kernel.runs import KernelRun, lateness, readable_path, settings_of
from airtcp.kernel.verify import Verification, verify
from airtcp.papers.files import read_toml
from airtcp.papers.paper import Paper

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
class Case:
    """A case, checked against a kernel.

    `refusals` gives the kernel's reason for each remedy that it cannot run, or for `BASELINE` if it
    cannot run the case at all.
    """

    paper: Paper
    name: str
    source: str
    settings: Mapping[str, object]
    remedies: tuple[str, ...]
    seeds: int
    kernel: str
    refusals: Mapping[str, str]

    @property
    def runnable(self) -> list[str]:
        """The remedies that the kernel can run, the baseline first; empty if not even that."""
        if BASELINE in self.refusals:
            return []
        return [name for name in (BASELINE, *self.remedies) if name not in self.refusals]


def load_cases(
    papers: Sequence[Paper], seeds: int | None = None, kernel: str = MACHINE
) -> list[Case]:
    """The cases of all papers, each checked with a kernel without a run.

    `kernel` is a name from `airtcp kernels`, run in virtual time, or this machine's.

    Raises:
        PaperError: a file is missing or wrong.
        ScenarioError: a scenario or a setting is wrong.
        KernelError: there is no such kernel, or it does not work.
    """
    guest = None if kernel == MACHINE else Guest.of(the_kernel(kernel))
    cases = []
    for paper in papers:
        if not (paper.folder / FILE).is_file():
            continue  # no cases for a kernel
        file = read_toml(paper.folder / FILE, KernelFile)
        for spec in file.cases:
            source = readable_path(paper.folder / spec.scenario)
            settings = {**file.settings, **spec.settings}
            cases.append(
                Case(
                    paper,
                    spec.name,
                    source,
                    settings,
                    tuple(spec.remedies),
                    seeds or file.seeds,
                    kernel,
                    _refusals(source, settings, spec.remedies, guest),
                )
            )
    return cases


def _refusals(
    source: str, settings: Mapping[str, object], remedies: Sequence[str], guest: Guest | None
) -> dict[str, str]:
    """For each remedy that the kernel cannot run its reason."""
    scenario = load_scenario(source, settings)
    for remedy in remedies:
        # A wrong name is an error of the file rather than a refusal by the kernel.
        scenario.with_remedies(remedy)
    found = {}
    for name in (BASELINE, *remedies):
        remedy = "" if name == BASELINE else name
        run = KernelRun(source, settings_of(settings), remedy, _ANY_DEVIATION)
        try:
            check_runs([run], guest)
        except ScenarioError as error:
            found[name] = str(error)
    return found


CaseResult = tuple[Case, Verification | None]
"""A case with its verification; None if the kernel cannot run it."""


def run_cases(
    cases: Sequence[Case],
    out: Path | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[CaseResult]:
    """Verifies each case: the remedies that the kernel has, paired with their simulation.

    Args:
        cases: the cases to run.
        out: a folder; finished cells are stored in and reused from its folder `cells`.
        jobs: number of parallel runs of the kernel; late runs are repeated.
        progress: called after each of the kernel's runs.

    Raises:
        RunError: a run could not be finished, or no run was in time.
        StoreError: a cell cannot be stored.
    """
    runs = sum(case.seeds * len(case.runnable) for case in cases)
    results: list[CaseResult] = []
    done = 0
    for case in cases:
        if not case.runnable:
            results.append((case, None))
            continue
        verification = verify(
            case.source,
            case.runnable[1:],
            case.seeds,
            case.settings,
            kernel=case.kernel,
            out=out,
            jobs=jobs,
            progress=progress and _shifted(progress, done, runs, case),
        )
        results.append((case, verification))
        done += case.seeds * len(case.runnable)
    return results


def _shifted(progress: Progress, before: int, runs: int, case: Case) -> Progress:
    """The progress of one case among the runs of all."""

    def told(done: int, _runs: int, words: str) -> None:
        progress(before + done, runs, f"{case.paper.short_title}, {case.name}: {words}")

    return told


def document(results: Sequence[CaseResult]) -> dict[str, object]:
    """The results as JSON, with the measured kernel and the lateness of the emulator.

    Raises:
        ScenarioError: no case could be run.
    """
    found = [verification for _, verification in results if verification]
    if not found:
        raise ScenarioError("the papers' cases: this kernel can run none of them")
    runs = [
        run for verification in found for runs in verification.measured.values() for run in runs
    ]
    return {
        "kernel": found[0].kernel,
        "seeds": results[0][0].seeds,
        "late": lateness(runs),
        "cases": [_case_in_json(case, verification) for case, verification in results],
    }


def _case_in_json(case: Case, verification: Verification | None) -> dict[str, object]:
    return {
        "paper": case.paper.about.number,
        "short": case.paper.about.short,
        "name": case.name,
        "settings": dict(settings_of(case.settings)),
        "refusal": case.refusals.get(BASELINE, ""),
        "baseline": _goodput_in_json(verification, BASELINE) if verification else None,
        "remedies": [
            _remedy_in_json(verification, remedy)
            if verification and remedy not in case.refusals
            else {"remedy": remedy, "refusal": case.refusals.get(remedy, "")}
            for remedy in case.remedies
        ],
    }


def _remedy_in_json(verification: Verification, remedy: str) -> dict[str, object]:
    first, agreement = verification.measured[remedy][0], verification.agreements[remedy]
    return {
        "remedy": remedy,
        "refusal": "",
        "steps": first["steps"],
        "instead": first["instead"],
        **_goodput_in_json(verification, remedy),
        "effect": {
            "kernel": _difference_in_json(agreement.real),
            "simulated": _difference_in_json(agreement.simulated),
        },
        "answer": agreement.answer.value,
    }


def _goodput_in_json(verification: Verification, remedy: str) -> dict[str, object]:
    simulated = verification.simulated.values(remedy, "goodput_bps")
    return {
        "kernel": measured_in_json(verification.measured[remedy]),
        "simulated": {"goodput_bps": list(simulated), "half_width": half_width(simulated)},
    }


def _difference_in_json(difference: PairedDifference) -> dict[str, object]:
    return {
        "percent": difference.mean_percent,
        "half_width": difference.half_width_percent,
        "outcome": difference.outcome.value,
    }
