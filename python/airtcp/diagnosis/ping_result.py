"""A ping log diagnosed: what the link is like, and which remedies are worth trying."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from airtcp.catalogue import deployments
from airtcp.diagnosis import words
from airtcp.diagnosis.ping import WINDOWS, PingLog, read_ping
from airtcp.diagnosis.ranking import Progress as Cells
from airtcp.diagnosis.ranking import Ranking, candidates, ranked
from airtcp.diagnosis.result import Progress
from airtcp.quantities import format_count, format_percent


@dataclass(frozen=True)
class DiagnosedPing:
    """Findings from a ping log, and refusals with the reason."""

    log: PingLog
    ranking: Ranking | None

    @property
    def headline(self) -> str:
        """The one sentence that matters."""
        if self.log.refusal:
            return f"No remedy was tried. {self.log.refusal}"
        return words.headline(None, self.ranking, ())

    @cached_property
    def sentences(self) -> list[str]:
        """All that is said, the headline first."""
        log = self.log
        milliseconds = np.quantile(log.rtt_s, (0.0, 0.5, 0.95, 1.0)) * 1e3
        least, median, high, most = (f"{value:.4g} ms" for value in milliseconds)
        lines = [
            self.headline,
            f"{format_count(log.sent)} probes, {format_count(log.lost)} without an answer "
            f"({format_percent(100 * log.loss_rate)}). Round trips: at least {least}, median "
            f"{median}, 95 % within {high}, at most {most}; {format_count(log.spikes)} spikes of "
            "more than three medians.",
        ]
        lines += [warning for warning in log.warnings if warning not in lines[0]]
        if self.ranking is not None:
            lines.append(
                "A ping shows neither rate nor queue: a capture says more "
                "(`airtcp diagnose --advise`)."
            )
        return lines

    @cached_property
    def deployment(self) -> list[str]:
        """The winner's deployment on a real system and its costs; empty without a winner."""
        best = self.ranking.winner if self.ranking else None
        if best is None:
            return []
        lines = [f"Deploying {part['name']}: {part['text']}" for part in deployments(best.remedy)]
        return [*lines, words.cost_words(best)]

    @property
    def toml(self) -> str:
        """The log as a scenario."""
        return self.log.toml(WINDOWS[-1], self.log.loss_rate)


def diagnosed_ping(
    path: str | os.PathLike[str],
    places: Sequence[str],
    progress: Progress | None = None,
) -> DiagnosedPing:
    """Reads a log, and tries every remedy that applies on a current Linux sender.

    Raises:
        ScenarioError: the log cannot be read, or a place is unknown.
        RunError: a simulation could not be finished.
    """
    candidates(places)
    log = read_ping(path)
    if log.refusal:
        return DiagnosedPing(log, None)
    cells: Cells | None = None
    if progress is not None:
        told = progress

        def cells(done: int, all_cells: int) -> None:
            told(done / all_cells, "trying remedies")

    return DiagnosedPing(log, ranked(log.ends(), places, cells))
