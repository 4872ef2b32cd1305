"""The diagnosis of a ping log, with its report; loads faster than that of a capture."""

import os
from collections.abc import Callable
from pathlib import Path

from airtcp.diagnosis.ping_result import DiagnosedPing, diagnosed_ping
from airtcp.study.sequential import Rounds


class PingDiagnosis(DiagnosedPing):
    """Findings from a ping log, and refusals with their reasons."""

    def report(self, directory: str | os.PathLike[str], command: str | None = None) -> Path:
        """Writes index.html and link.toml; returns the first.

        Args:
            directory: created if absent.
            command: the command line of this diagnosis, for the provenance.

        Raises:
            OSError: the directory cannot be written.
        """
        from airtcp.report.diagnosis import write_ping_report

        return write_ping_report(self, Path(directory), command)


def diagnose_ping(
    path: str | os.PathLike[str],
    can: str = "all",
    progress: Callable[[float, str], object] | None = None,
    *,
    rate_bps: float | None = None,
    interval_s: float | None = None,
    rounds: Rounds | None = None,
) -> PingDiagnosis:
    """Diagnoses a ping log; see `airtcp.diagnose`.

    Raises:
        ScenarioError: the log cannot be read, or the asker is unknown.
        RunError: a simulation could not be finished.
    """
    found = diagnosed_ping(
        path, can, progress, rate_bps=rate_bps, interval_s=interval_s, rounds=rounds
    )
    return PingDiagnosis(found.log, found.events, found.findings, found.answer)
