"""A grid of links and stacks on this machine's kernel, beside the simulation of the same runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

from airtcp.scenarios import load_scenario
from airtcp.study.execute import Progress, execute
from airtcp.study.grid import Grid
from airtcp.study.kernel import (
    KernelRun,
    Measurement,
    check,
    kernel_observation,
    lateness,
    measurement,
    readable_path,
    settings_of,
)
from airtcp.study.plan import Plan, PlannedCell, planned_cell
from airtcp.study.statistics import student_t
from airtcp.summary import RunSummary, total

NEAR = 0.1
"""Goodputs whose ratio is at most this far from 1 agree."""


@dataclass(frozen=True)
class Setting:
    """A stack on a link: what the kernel delivered and what the simulation did, seed by seed."""

    link: str
    stack: str
    measured: tuple[Measurement, ...]
    simulated: tuple[RunSummary, ...]

    @property
    def simulated_bps(self) -> tuple[float, ...]:
        """The simulated goodput in bits a second, in the order of the seeds."""
        return tuple(float(run["goodput_bps"]) for run in self.simulated)

    @property
    def measured_bps(self) -> tuple[float, ...]:
        """The kernel's goodput in bits a second, in the order of the seeds."""
        return tuple(run["goodput_bps"] for run in self.measured)

    @property
    def ratio(self) -> float | None:
        """The kernel's mean goodput over the simulated one; None where that is zero."""
        simulated = fmean(self.simulated_bps)
        return fmean(self.measured_bps) / simulated if simulated else None

    @property
    def is_near(self) -> bool:
        """Whether the mean goodputs differ by at most `NEAR`."""
        return self.ratio is not None and abs(self.ratio - 1) <= NEAR

    @property
    def is_inside(self) -> bool:
        """Whether each mean lies inside the other's 95 % interval."""
        return _holds(self.measured_bps, fmean(self.simulated_bps)) and _holds(
            self.simulated_bps, fmean(self.measured_bps)
        )

    @property
    def agreement(self) -> str:
        """`near`, `inside` or `off`."""
        if self.is_near:
            return "near"
        return "inside" if self.is_inside else "off"

    @property
    def agrees(self) -> bool:
        """Whether the two are near, or each inside the other's interval."""
        return self.is_near or self.is_inside


def half_width(values: Sequence[float]) -> float | None:
    """Half the 95 % interval of a mean, by Student's t; None from one value alone."""
    if len(values) < 2:
        return None
    return float(student_t(len(values) - 1) * stdev(values) / len(values) ** 0.5)


def _holds(values: Sequence[float], other: float) -> bool:
    half = half_width(values)
    return half is not None and abs(fmean(values) - other) <= half


def run_beside(
    grid: Grid,
    seeds: int | None = None,
    *,
    out: Path | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[Setting]:
    """Runs every stack on every link, on the kernel and simulated; remedies are not looked at.

    Args:
        grid: links and stacks.
        seeds: 1 to this number; the grid's own by default.
        out: a folder; what its folder `cells` holds is not run, what is finished is kept there.
        jobs: runs of the kernel at the same time; those that were late are repeated.
        progress: called after each of the kernel's runs.

    Raises:
        ScenarioError: a link or a stack is wrong, or the kernel cannot be told of it; before
            anything runs.
        RunError: a run could not be finished, or none was in time.
        StoreError: a cell cannot be stored.
    """
    chosen = range(1, (seeds or grid.seeds) + 1)
    places: list[tuple[str, str]] = []
    kernel: list[PlannedCell] = []
    simulated: list[PlannedCell] = []
    for link in grid.links:
        for stack in grid.stacks:
            assert link.scenario is not None
            settings = {**link.settings, **stack.settings}
            scenario = load_scenario(link.scenario, settings)
            run = KernelRun(readable_path(link.scenario), settings_of(settings), "")
            check(run)
            places.append((link.name, stack.name))
            for seed in chosen:
                words = f"{link.name}, {stack.name}, seed {seed}"
                told = kernel_observation(run)
                kernel.append(planned_cell(scenario.hash(), scenario, "", seed, words, told))
                simulated.append(planned_cell(scenario.hash(), scenario, "", seed, words))
    expected = execute(Plan(simulated), out=out)
    found = execute(Plan(kernel), out=out, jobs=jobs, progress=progress)
    count = len(chosen)
    return [
        Setting(
            link,
            stack,
            tuple(measurement(found[cell.key].summary_json) for cell in kernel[first:][:count]),
            tuple(expected[cell.key].summary for cell in simulated[first:][:count]),
        )
        for (link, stack), first in zip(places, range(0, len(kernel), count), strict=True)
    ]


def document(settings: Sequence[Setting]) -> dict[str, object]:
    """The settings as JSON, with the kernel that was measured and how late the emulator was."""
    runs = [run for setting in settings for run in setting.measured]
    return {
        "kernel": runs[0]["kernel"],
        "seeds": len(settings[0].measured),
        "seconds": float(settings[0].simulated[0]["duration_s"]),
        "late": lateness(runs),
        "settings": [_in_json(setting) for setting in settings],
    }


def _in_json(setting: Setting) -> dict[str, object]:
    measured, simulated = setting.measured, setting.simulated
    return {
        "link": setting.link,
        "stack": setting.stack,
        "kernel": {
            "goodput_bps": list(setting.measured_bps),
            "half_width": half_width(setting.measured_bps),
            "retransmissions": [run["retransmissions"] for run in measured],
            "timeouts": [run["timeouts"] for run in measured],
        },
        "simulated": {
            "goodput_bps": list(setting.simulated_bps),
            "half_width": half_width(setting.simulated_bps),
            "retransmissions": [total(run, "segments_retransmitted") for run in simulated],
            "timeouts": [total(run, "timeouts") for run in simulated],
        },
        "ratio": setting.ratio,
        "agreement": setting.agreement,
    }
