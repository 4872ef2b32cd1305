"""Verifications: remedies on a kernel over an emulated link, paired with their simulation."""

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
"""Called with the number of finished runs of the kernel, the total, and the last run."""


class Verification(VerifiedRuns):
    """The finished runs of a verification, and the findings from them."""

    @property
    def verdict(self) -> list[str]:
        """The kernel's result against the simulation's, in plain sentences."""
        from airtcp.study.verify_verdict import verdict

        return verdict(self)

    def report(self, directory: str | os.PathLike[str], command: str | None = None) -> Path:
        """Writes index.html and verification.csv; returns the path of index.html.

        Args:
            directory: created if absent.
            command: the command line of this verification, for the provenance.

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
