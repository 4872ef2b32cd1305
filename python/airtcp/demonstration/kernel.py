"""A remedy on this machine's kernel: the best one that can be had here, or why none was tried."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from airtcp._core import AirtcpError, ScenarioError
from airtcp.net import find_program
from airtcp.ranking import Ranking
from airtcp.study.kernel import KernelRun, check, settings_of
from airtcp.verification import Verification, verify

# The kernel takes the time that it takes: the baseline and the remedy, side by side.
_RUN = {"duration": "5 s"}
_SEEDS = 4


@dataclass(frozen=True)
class Trial:
    """A remedy on this machine's kernel beside its simulation."""

    verification: Verification | None
    """None where none was tried."""
    reason: str
    """Why none was, in a sentence; empty where one was."""
    passed_over: tuple[str, ...] = ()
    """Better remedies that this machine's kernel cannot have as it was built."""

    @property
    def sentences(self) -> list[str]:
        """The page's sentences about it."""
        if self.verification is None:
            return [f"Not tried here: {self.reason}."]
        lines = self.verification.verdict
        if self.passed_over:
            names = ", ".join(self.passed_over)
            lines.append(f"Better ones cannot be had here: {names} (`airtcp verify` says why).")
        return lines


def try_on_kernel(scenario: Path, ranking: Ranking) -> Trial:
    """Tries the best remedy of a ranking that this machine's kernel can have over this link."""
    if sys.platform != "linux":
        return Trial(None, "real packets need Linux")
    helping = [one.remedy for one in ranking.candidates if one.helps and one.is_had]
    if not helping:
        return Trial(None, "no remedy that a real system has is shown to help on that link")
    try:
        if refusal := _namespace_refusal(scenario):
            return Trial(None, refusal)
        passed_over: list[str] = []
        for remedy in helping:
            if _can_be_had(scenario, remedy):
                found = verify(scenario, [remedy], _SEEDS, _RUN, jobs=_SEEDS)
                return Trial(found, "", tuple(passed_over))
            passed_over.append(remedy)
    except AirtcpError as error:
        return Trial(None, _first_line(str(error)))
    return Trial(None, f"this kernel has none of {', '.join(helping)}")


def _can_be_had(scenario: Path, remedy: str) -> bool:
    try:
        # Any deviation will do: whether there is a way does not depend on it.
        check(KernelRun(str(scenario), settings_of(_RUN), remedy, 1.0))
    except ScenarioError:
        return False
    return True


def _namespace_refusal(scenario: Path) -> str:
    """Why this user may not make namespaces; empty where they may."""
    # The quickest way to find out is to try.
    command = [
        find_program(),
        "emulate",
        "--quiet",
        "--server",
        "true",
        str(scenario),
        "--",
        "true",
    ]
    tried = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if tried.returncode == 0 else _first_line(tried.stderr.removeprefix("airtcp-net: "))


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0].removesuffix(".")
