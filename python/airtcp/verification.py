"""Verifications: remedies on a kernel over an emulated link, beside simulation."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from airtcp.kernels import Guest, the_kernel
from airtcp.kernels.catalogue import MACHINE
from airtcp.loading import remedy_names
from airtcp.study.execute import processors
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
    kernel: str = MACHINE,
    discipline: str = "",
    ack_discipline: str = "",
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Measures remedies on a kernel, paired by seed, beside their simulation.

    On this machine's kernel a run takes the scenario's duration. Another one runs in virtual time:
    the same result each time, whatever else the machine does. Linux only.

    Args:
        scenario: the path of a scenario.
        remedies: what to verify, one or several; "a+b" applies two together.
        seeds: their number (1, 2, 3, ...) or the seeds themselves.
        settings: dotted key to value, applied to every run.
        kernel: a name from `airtcp kernels`, the path of an image or a source tree, or "machine"
            for this machine's own.
        discipline: has the kernel's own queueing discipline wait before the link, as tc(8) writes
            it ("cake", "fq_codel limit 100"), in place of the link's queue; the link has to be a
            pipe with a constant rate. The simulation keeps the scenario's queue.
        ack_discipline: the same for the direction that acknowledgments take.
        out: a folder; finished runs are saved in its folder `cells`, and found there again.
        jobs: runs of the kernel at the same time. On this machine's kernel one if None; runs during
            which the machine did not keep up are repeated, and do not count. In virtual time as
            many as there are processors.
        progress: called at the start and after each of the kernel's runs.

    Raises:
        ScenarioError: the scenario, a setting or a remedy is wrong, or has no way on this kernel.
        RunError: a run could not be finished in time.
        KernelError: there is no such kernel, or it does not work.
        OSError: a run cannot be saved.
    """
    guest = None if kernel == MACHINE else Guest.of(the_kernel(kernel))
    runs = verified_runs(
        scenario,
        remedy_names(remedies),
        seeds,
        settings,
        guest=guest,
        discipline=discipline,
        ack_discipline=ack_discipline,
        out=None if out is None else Path(out),
        jobs=jobs or (processors() if guest else 1),
        progress=progress,
    )
    return Verification(runs.simulated, runs.measured)
