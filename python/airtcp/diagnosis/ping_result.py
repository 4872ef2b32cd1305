"""A ping log diagnosed: what the link is like, and which remedies are worth trying."""

import os
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from airtcp.diagnosis.ping import PingLog, read_ping
from airtcp.diagnosis.ping_sensitivity import Sensitivity, sensitivities
from airtcp.diagnosis.result import Progress
from airtcp.quantities import format_count, format_percent
from airtcp.ranking.askers import parse_askers
from airtcp.study.compare import ComparedRuns
from airtcp.study.deployment import deployment
from airtcp.study.run_comparison import run_comparison
from airtcp.study.sequential import Rounds
from airtcp.study.verdict import verdict

SCENARIO = "ping"
"""The shipped scenario that plays a log back: `airtcp compare ping` gives the same answer."""
_COMPARING = 0.7
"""Share of the work that the comparison is."""


@dataclass(frozen=True)
class DiagnosedPing:
    """Findings from a ping log, and refusals with the reason."""

    log: PingLog
    comparison: ComparedRuns | None
    """Every remedy over the log's round trips; None where the log is refused."""
    sensitivities: tuple[Sensitivity, ...] = ()
    """The answers if what a ping does not show were otherwise."""

    @property
    def headline(self) -> str:
        """The one sentence that matters."""
        if self.comparison is None:
            return f"No remedy was tried. {self.log.refusal}"
        return verdict(self.comparison)[0]

    @cached_property
    def sentences(self) -> list[str]:
        """All that is said, the headline first."""
        log = self.log
        milliseconds = np.quantile(log.rtt_s, (0.0, 0.5, 0.95, 1.0)) * 1e3
        least, median, high, most = (f"{value:.4g} ms" for value in milliseconds)
        lines = [self.headline]
        if self.comparison is not None:
            lines += verdict(self.comparison)[1:]
        lines.append(
            f"{format_count(log.sent)} probes, {format_count(log.lost)} without an answer "
            f"({format_percent(100 * log.loss_rate)}). Round trips: at least {least}, median "
            f"{median}, 95 % within {high}, at most {most}; {format_count(log.spikes)} spikes of "
            "more than three medians."
        )
        lines += [one.sentence for one in self.sensitivities]
        lines += [warning for warning in log.warnings if warning not in lines[0]]
        if self.comparison is not None:
            lines.append(
                "A ping shows neither rate nor queue: a capture says more "
                "(`airtcp diagnose --advise`)."
            )
        return lines

    @cached_property
    def deployment(self) -> list[str]:
        """The winner's deployment on a real system; empty without a winner."""
        return [] if self.comparison is None else deployment(self.comparison)

    @property
    def toml(self) -> str:
        """The log as a scenario."""
        return self.log.toml()


def diagnosed_ping(
    path: str | os.PathLike[str],
    can: str = "all",
    progress: Progress | None = None,
    *,
    rounds: Rounds | None = None,
) -> DiagnosedPing:
    """Reads a log, and tries every remedy that applies on a current Linux sender.

    Raises:
        ScenarioError: the log cannot be read, or the asker is unknown.
        RunError: a simulation could not be finished.
    """
    parse_askers(can)
    log = read_ping(path)
    if log.refusal:
        return DiagnosedPing(log, None)

    def told(done: int, cells: int) -> None:
        if progress is not None:
            progress(_COMPARING * done / cells, "trying remedies")

    settings: dict[str, object] = {"link.rtt_log.path": str(log.path.absolute())}
    comparison = run_comparison(
        SCENARIO,
        settings=settings,
        can=can,
        rounds=rounds,
        harm=True,
        progress=told,
    )
    if progress is not None:
        progress(_COMPARING, "trying other losses and windows")
    return DiagnosedPing(
        log, comparison, tuple(sensitivities(comparison, SCENARIO, settings, log.lost))
    )
