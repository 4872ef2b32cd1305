"""A link's best remedy on a real kernel in virtual time, if QEMU and a kernel are available."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from airtcp._core import AirtcpError, ScenarioError
from airtcp.comparison.ranking import Ranking
from airtcp.kernel.guests import Kernel, known
from airtcp.kernel.guests.machine import QEMU
from airtcp.kernel.verify import Verification, verify

_SEEDS = 3
"""Two runs of a kernel take as long as all remedies in the simulation."""


@dataclass(frozen=True)
class Trial:
    """A remedy on a kernel paired with its simulation."""

    release: str
    """Release of the kernel."""
    verification: Verification
    passed_over: tuple[str, ...] = ()
    """Better remedies that this kernel's configuration lacks."""

    @property
    def sentences(self) -> list[str]:
        """The page's sentences about the trial."""
        lines = [
            f"Linux {self.release} itself, in virtual time over the same link, {_SEEDS} seeds.",
            *self.verification.verdict,
        ]
        if self.passed_over:
            names = ", ".join(self.passed_over)
            lines.append(
                f"This kernel has no way to better ones: {names} (`airtcp verify` says why)."
            )
        return lines


def try_on_kernel(scenario: Path, ranking: Ranking) -> Trial | None:
    """Tries the best remedy of a ranking that a kernel has for this link.

    Returns:
        None without QEMU, without a kernel (`airtcp kernels`) that works, or without a helpful
        remedy in a kernel: the page then omits the trial.
    """
    passed_over: list[str] = []
    try:
        kernel = newest() if shutil.which(QEMU) else None
        if kernel is None:
            return None
        for remedy in helping(ranking):
            try:
                found = verify(scenario, [remedy], _SEEDS, kernel=kernel.name)
            except ScenarioError:  # not available on this kernel
                passed_over.append(remedy)
            else:
                return Trial(kernel.release, found, tuple(passed_over))
    except AirtcpError:
        return None
    return None


def helping(ranking: Ranking) -> list[str]:
    """The remedies shown to help: the answer first, then other deployable ones, best first."""
    first = [ranking.best] if ranking.best else []
    every = [*first, *ranking.deployable, *ranking.candidates]
    return list(dict.fromkeys(one.remedy for one in every if one.helps and one.is_had))


def newest() -> Kernel | None:
    """The newest cached kernel with a distribution's full configuration; None without any."""
    whole = [one for one in known() if one.can.bpf]
    return max(whole, key=lambda one: _version(one.release), default=None)


def _version(release: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", release)[:3]))
