"""Verifications: remedies on a kernel over an emulated link, paired with their simulation."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

from airtcp.comparison.compared import Comparison
from airtcp.comparison.comparison_plan import ComparisonPlan, comparison_plan
from airtcp.comparison.execute import Progress, Results, execute, processors
from airtcp.comparison.plan import Observation, Plan, PlannedCell, seed_by_seed, seeded_cells
from airtcp.comparison.statistics import PairedDifference, paired_difference
from airtcp.core.bpf import Own, with_own
from airtcp.core.catalogue import BASELINE
from airtcp.core.loading import remedy_names
from airtcp.core.shown import Reported, view
from airtcp.kernel.agreement import Agreement, Side
from airtcp.kernel.guests import Guest, the_kernel
from airtcp.kernel.guests.catalogue import MACHINE
from airtcp.kernel.guests.machine import no_machine_left
from airtcp.kernel.in_guest import check_runs, observation_of
from airtcp.kernel.runs import KernelRun, Measurement, measurements, readable_path, settings_of

DEFAULT_SEEDS = 5

NEEDS_DEVIATION = "rto-factor"
"""The remedy that a kernel has only as a floor, m times the deviation of the link's RTT."""


@dataclass(frozen=True)
class Verification(Reported):
    """The finished cells of a verification, and the findings from them."""

    simulated: Comparison
    measured: Mapping[str, tuple[Measurement, ...]]
    """The kernel's runs by remedy, baseline first, in the order of the seeds."""

    @property
    def verdict(self) -> list[str]:
        """The kernel's result against the simulation's, in plain sentences."""
        sentences: list[str] = view(self, "verdict")
        return sentences

    @property
    def remedies(self) -> tuple[str, ...]:
        """The remedies, "baseline" first."""
        return self.simulated.remedies

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds, common to both."""
        return self.simulated.seeds

    @property
    def kernel(self) -> str:
        """The release of the kernel."""
        return self.measured[BASELINE][0]["kernel"]

    def goodput(self, remedy: str) -> list[float]:
        """The kernel's goodput in bits a second, in the order of the seeds."""
        return [run["goodput_bps"] for run in self.measured[remedy]]

    @cached_property
    def differences(self) -> dict[str, PairedDifference]:
        """For each remedy but the baseline, the kernel's paired difference in goodput."""
        before = self.goodput(BASELINE)
        return {
            remedy: paired_difference(before, self.goodput(remedy)) for remedy in self.remedies[1:]
        }

    @cached_property
    def agreements(self) -> dict[str, Agreement]:
        """For each remedy but the baseline, its effect on the kernel and in simulation."""
        return {
            remedy: Agreement(
                Side(self.goodput(BASELINE), self.goodput(remedy)),
                Side(
                    self.simulated.values(BASELINE, "goodput_bps"),
                    self.simulated.values(remedy, "goodput_bps"),
                ),
            )
            for remedy in self.remedies[1:]
        }

    def mean(self, remedy: str, field: str) -> float:
        """The mean of a field of the kernel's runs."""
        total = 0.0
        for run in self.measured[remedy]:
            total += float(cast(Mapping[str, float], run)[field])
        return total / len(self.seeds)

    def mean_latency(self, remedy: str, field: str) -> float | None:
        """The mean of a latency of the kernel's runs, in milliseconds; None if no run has it."""
        values = [cast(Mapping[str, float | None], run).get(field) for run in self.measured[remedy]]
        known = [value for value in values if value is not None]
        return sum(known) / len(known) if known else None


@dataclass(frozen=True)
class _Request:
    """A validated verification request."""

    source: str
    settings: tuple[tuple[str, str], ...]
    comparison: ComparisonPlan
    guest: Guest | None
    """The kernel in virtual time; None for this machine's."""
    discipline: str
    """The kernel's queueing discipline before the link, or empty."""
    ack_discipline: str
    """The same for the direction of the acknowledgments."""

    def check(self) -> None:
        """Asks the kernel whether it can make the runs."""
        names = ("" if name == BASELINE else name for name in self.comparison.variants)
        # Any deviation will do: the answer does not depend on it.
        check_runs([self._run(name, 1.0) for name in names], self.guest)

    def kernel_plan(self, remedies: Sequence[str], deviation_ms: float | None) -> list[PlannedCell]:
        """The kernel's runs of these remedies, seed by seed."""
        comparison = self.comparison
        return list(
            seed_by_seed(
                seeded_cells(
                    comparison.scenario.hash(),
                    comparison.variants[remedy],
                    remedy,
                    comparison.seeds,
                    f"{remedy} on the kernel",
                    self._observation(remedy, deviation_ms),
                )
                for remedy in remedies
            )
        )

    def _run(self, name: str, deviation_ms: float | None) -> KernelRun:
        return KernelRun(
            self.source, self.settings, name, deviation_ms, self.discipline, self.ack_discipline
        )

    def _observation(self, remedy: str, deviation_ms: float | None) -> Observation:
        name = "" if remedy == BASELINE else remedy
        if NEEDS_DEVIATION not in name:
            deviation_ms = None
        return observation_of(self._run(name, deviation_ms), self.guest)


def verify(
    scenario: str | os.PathLike[str],
    remedies: Sequence[str] | str,
    seeds: int | Sequence[int] = DEFAULT_SEEDS,
    settings: Mapping[str, object] | None = None,
    *,
    kernel: str = MACHINE,
    discipline: str = "",
    ack_discipline: str = "",
    bpf: Own = None,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Measures remedies on a kernel, paired by seed with their simulation.

    On this machine's kernel a run takes the scenario's duration. Another one runs in virtual time:
    the same result each time, regardless of other load on the machine. Linux only.

    Args:
        scenario: the path of a scenario.
        remedies: names of remedies, one or several; "a+b" applies two together.
        seeds: number of seeds (1, 2, 3, ...) or the seeds themselves.
        settings: dotted key to value, applied to every run.
        kernel: a name from `airtcp kernels`, the path of an image or a source tree, or "machine"
            for this machine's kernel.
        discipline: a queueing discipline of the kernel before the link, in the syntax of tc(8)
            ("cake", "fq_codel limit 100"), in place of the link's queue; the link has to be a pipe
            with a constant rate. The simulation keeps the scenario's queue.
        ack_discipline: the same for the direction of the acknowledgments.
        bpf: a congestion control for the kernel's BPF, `my.bpf.o` or `my.bpf.c`, as one more
            remedy: the kernel loads the object that is simulated.
        out: a folder; finished runs are stored in and reused from its folder `cells`.
        jobs: number of parallel runs of the kernel. None means one on this machine's kernel, and
            one per processor in virtual time. Runs during which the machine did not keep up are
            repeated, and do not count.
        progress: called at the start and after each of the kernel's runs.

    Raises:
        ScenarioError: the scenario, a setting or a remedy is wrong, or unavailable on this kernel.
        RunError: a run could not be finished in time.
        KernelError: there is no such kernel, or it does not work.
        OSError: a run cannot be stored.
    """
    # The baseline comes first: a remedy's setting on a kernel may depend on the deviation of the
    # link's round trips, which the kernel measures.
    guest = None if kernel == MACHINE else Guest.of(the_kernel(kernel))
    comparison = comparison_plan(scenario, with_own(remedy_names(remedies), bpf), seeds, settings)
    path, given = readable_path(scenario), settings_of(settings)
    request = _Request(path, given, comparison, guest, discipline, ack_discipline)
    with no_machine_left():
        return _run(
            request,
            None if out is None else Path(out),
            jobs or (processors() if guest else 1),
            progress,
        )


def verify_on(
    kernels: Sequence[str],
    scenario: str | os.PathLike[str],
    remedies: Sequence[str],
    seeds: int,
    settings: Mapping[str, object],
    *,
    discipline: str = "",
    ack_discipline: str = "",
    bpf: Own = None,
    out: Path | None = None,
    jobs: int | None = None,
    progress: Callable[[float, str], object],
) -> list[Verification]:
    """Verifies on several kernels, one after the other; see `verify`.

    `progress` is called with the finished share of all of it.
    """

    def of_kernel(number: int) -> Progress:
        return lambda done, runs, words: progress((number + done / runs) / len(kernels), words)

    return [
        verify(
            scenario,
            remedies,
            seeds,
            settings,
            kernel=kernel,
            discipline=discipline,
            ack_discipline=ack_discipline,
            bpf=bpf,
            out=out,
            jobs=jobs,
            progress=of_kernel(number),
        )
        for number, kernel in enumerate(kernels)
    ]


def _run(request: _Request, out: Path | None, jobs: int, progress: Progress | None) -> Verification:
    comparison = request.comparison
    names = tuple(comparison.variants)
    request.check()
    runs_of_kernel = len(comparison.seeds) * len(names)
    done = 0

    def told(finished: int, _cells: int, words: str) -> None:
        if progress:
            progress(done + finished, runs_of_kernel, words)

    simulated = comparison.result(execute(comparison.plan, out=out))
    before = request.kernel_plan(names[:1], None)
    results: dict[str, tuple[Measurement, ...]] = {}
    found: Results = execute(Plan(before), out=out, jobs=jobs, progress=told)
    done = len(before)
    results[BASELINE] = measurements(before, found)
    deviations = [run["rttvar_ms"] for run in results[BASELINE]]
    after = request.kernel_plan(names[1:], sum(deviations) / len(deviations))
    found = execute(Plan(after), out=out, jobs=jobs, progress=told)
    for index, remedy in enumerate(names[1:]):
        results[remedy] = measurements(after[index :: len(names) - 1], found)
    return Verification(simulated, results)
