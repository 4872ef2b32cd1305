"""A grid of links and stacks on a kernel, paired with the simulation of the same runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from airtcp._core import RunError
from airtcp.comparison.execute import Progress, Results, execute
from airtcp.comparison.grid import Grid, StudyError
from airtcp.comparison.plan import Plan, PlannedCell, seeded_cells
from airtcp.comparison.statistics import student_t
from airtcp.comparison.store import Store
from airtcp.core.catalogue import BASELINE
from airtcp.core.loading import load_scenario
from airtcp.core.summary import RunSummary, total
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

NEAR = 0.1
"""Goodputs whose ratio is at most this far from 1 agree."""


@dataclass(frozen=True)
class Setting:
    """A stack on a link: goodput of the kernel and of the simulation, seed by seed."""

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
        return ratio(self.measured_bps, self.simulated_bps)

    @property
    def agreement(self) -> str:
        """`near`, `inside` or `off`."""
        return agreement(self.measured_bps, self.simulated_bps)


def ratio(measured: Sequence[float], simulated: Sequence[float]) -> float | None:
    """The first mean over the second; None where that is zero."""
    mean = fmean(simulated)
    return fmean(measured) / mean if mean else None


def agreement(measured: Sequence[float], simulated: Sequence[float]) -> str:
    """`near`, `inside` or `off`.

    Near: the means differ by at most `NEAR`. Inside: each lies inside the other's 95 % interval.
    """
    quotient = ratio(measured, simulated)
    if quotient is not None and abs(quotient - 1) <= NEAR:
        return "near"
    is_inside = _holds(measured, fmean(simulated)) and _holds(simulated, fmean(measured))
    return "inside" if is_inside else "off"


def half_width(values: Sequence[float]) -> float | None:
    """Half the 95 % interval of a mean, by Student's t; None for a single value."""
    if len(values) < 2:
        return None
    return float(student_t(len(values) - 1) * stdev(values) / len(values) ** 0.5)


def _holds(values: Sequence[float], other: float) -> bool:
    half = half_width(values)
    return half is not None and abs(fmean(values) - other) <= half


def run_both(
    grid: Grid,
    seeds: int | None = None,
    *,
    guest: Guest | None = None,
    out: Path | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
    missed: Callable[[RunError], object] | None = None,
) -> list[Setting]:
    """Runs every stack on every link, on the kernel and simulated, without remedies.

    Args:
        grid: links and stacks.
        seeds: 1 to this number; the grid's by default.
        guest: the kernel, in virtual time; this machine's by default.
        out: a folder; finished cells are stored in and reused from its folder `cells`.
        jobs: number of parallel runs of the kernel; late runs are repeated.
        progress: called after each of the kernel's runs.
        missed: called if runs of the kernel could not be finished, such as runs of a guest that
            was late each time; their settings are then left out. Needs `out`.

    Raises:
        ScenarioError: a link or a stack is wrong, or the kernel has no such setting; before
            anything runs.
        RunError: a run could not be finished, or no run was in time.
        StoreError: a cell cannot be stored.
    """
    chosen = range(1, (seeds or grid.seeds) + 1)
    places: list[tuple[str, str]] = []
    runs: list[KernelRun] = []
    kernel: list[PlannedCell] = []
    simulated: list[PlannedCell] = []
    for link in grid.links:
        for stack in grid.stacks:
            assert link.scenario is not None
            settings = {**link.settings, **stack.settings}
            scenario = load_scenario(link.scenario, settings)
            run = KernelRun(readable_path(link.scenario), settings_of(settings), "")
            runs.append(run)
            places.append((link.name, stack.name))
            words = f"{link.name}, {stack.name}"
            cells = scenario.hash(), scenario, BASELINE, chosen, words
            kernel.extend(seeded_cells(*cells, observation_of(run, guest)))
            simulated.extend(seeded_cells(*cells))
    check_runs(runs, guest)
    expected = execute(Plan(simulated), out=out)
    found: Results
    try:
        found = execute(Plan(kernel), out=out, jobs=jobs, progress=progress)
    except RunError as error:
        if out is None or missed is None:
            raise
        found = Store(out / "cells").find(cell.key for cell in kernel)
        if not found:
            raise
        missed(error)
    count = len(chosen)
    return [
        Setting(
            link,
            stack,
            measurements(kernel[first:][:count], found),
            tuple(expected[cell.key].summary for cell in simulated[first:][:count]),
        )
        for (link, stack), first in zip(places, range(0, len(kernel), count), strict=True)
        if all(cell.key in found for cell in kernel[first:][:count])
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
    return {
        "link": setting.link,
        "stack": setting.stack,
        "kernel": measured_in_json(setting.measured),
        "simulated": _simulated_in_json(setting.simulated),
        "ratio": setting.ratio,
        "agreement": setting.agreement,
    }


def measured_in_json(runs: Sequence[Measurement]) -> dict[str, object]:
    """The kernel's runs as JSON, seed by seed."""
    goodputs = [run["goodput_bps"] for run in runs]
    return {
        "goodput_bps": goodputs,
        "half_width": half_width(goodputs),
        "retransmissions": [run["retransmissions"] for run in runs],
        "timeouts": [run["timeouts"] for run in runs],
    }


def _simulated_in_json(runs: Sequence[RunSummary]) -> dict[str, Any]:
    goodputs = [float(run["goodput_bps"]) for run in runs]
    return {
        "goodput_bps": goodputs,
        "half_width": half_width(goodputs),
        "retransmissions": [total(run, "segments_retransmitted") for run in runs],
        "timeouts": [total(run, "timeouts") for run in runs],
    }


def resimulated(run: Mapping[str, Any], grid: Grid, *, out: Path | None = None) -> dict[str, Any]:
    """A document with its measured kernel runs, and simulated runs of the current engine.

    Args:
        run: a document from `document`.
        grid: the links and stacks that it was run with.
        out: a folder for finished cells.

    Raises:
        ScenarioError: a link or a stack is wrong.
        StudyError: the grid has other links or stacks than the document.
        StoreError: a cell cannot be stored.
    """
    chosen = range(1, run["seeds"] + 1)
    cells: dict[tuple[str, str], tuple[PlannedCell, ...]] = {}
    for link in grid.links:
        for stack in grid.stacks:
            assert link.scenario is not None
            scenario = load_scenario(link.scenario, {**link.settings, **stack.settings})
            cells[link.name, stack.name] = seeded_cells(
                scenario.hash(), scenario, BASELINE, chosen, f"{link.name}, {stack.name}"
            )
    left_out = run.get("left_out", [])
    cells = {place: row for place, row in cells.items() if ", ".join(place) not in left_out}
    if list(cells) != [(one["link"], one["stack"]) for one in run["settings"]]:
        raise StudyError("the grid has changed since the kernel ran: run make verify")
    found = execute(Plan([cell for row in cells.values() for cell in row]), out=out)
    settings = []
    for one in run["settings"]:
        simulated = _simulated_in_json(
            [found[cell.key].summary for cell in cells[one["link"], one["stack"]]]
        )
        pair = one["kernel"]["goodput_bps"], simulated["goodput_bps"]
        judged = {"ratio": ratio(*pair), "agreement": agreement(*pair)}
        settings.append(one | {"simulated": simulated} | judged)
    return {**run, "settings": settings}
