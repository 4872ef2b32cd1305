"""Verifications: remedies on this machine's kernel over an emulated link, beside simulation."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from airtcp.loading import remedy_names
from airtcp.study.verify import VerifiedRuns, verified_runs

DEFAULT_SEEDS = 5

Progress = Callable[[int, int, str], object]
"""Called with the number of the kernel's runs finished, the number of all, and the last one."""


class Verification(VerifiedRuns):
    """The finished runs of a verification, and what they say."""

    @property
    def verdict(self) -> list[str]:
        """The kernel's result beside the simulation's, in plain sentences."""
        from airtcp.study.verify_verdict import verdict

        return verdict(self)

    def report(self, directory: str | os.PathLike[str], command: str | None = None) -> Path:
        """Writes index.html and verification.csv; returns the path of index.html.

        Args:
            directory: made if absent.
            command: how this verification was called, for the provenance.

        Raises:
            OSError: the directory cannot be written.
        """
        from airtcp.report.verification import write_report

        return write_report(self, Path(directory), command)


def verify(
    scenario: str | os.PathLike[str],
    remedies: Sequence[str] | str,
    seeds: int | Sequence[int] = DEFAULT_SEEDS,
    settings: Mapping[str, object] | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Verification:
    """Measures remedies on this machine's kernel, paired by seed, beside their simulation.

    A run takes the scenario's duration in real time. Linux only.

    Args:
        scenario: the path of a scenario.
        remedies: what to verify, one or several; "a+b" applies two together.
        seeds: their number (1, 2, 3, ...) or the seeds themselves.
        settings: dotted key to value, applied to every run.
        out: a folder; finished runs are saved in its folder `cells`, and found there again.
        jobs: runs of the kernel at the same time. Runs during which the machine did not keep up
            are repeated, and do not count.
        progress: called at the start and after each of the kernel's runs.

    Raises:
        ScenarioError: the scenario, a setting or a remedy is wrong, or has no way on this kernel.
        RunError: a run could not be finished in time.
        OSError: a run cannot be saved.
    """
    runs = verified_runs(
        scenario,
        remedy_names(remedies),
        seeds,
        settings,
        out=None if out is None else Path(out),
        jobs=jobs,
        progress=progress,
    )
    return Verification(runs.simulated, runs.measured)
