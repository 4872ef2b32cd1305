"""The diagnosis of a ping log: faults of the link, advice, and remedies that help."""

import os
import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from airtcp.comparison.ranking.askers import parse_askers
from airtcp.core.quantities import format_bit_rate, format_count, format_percent
from airtcp.core.recordings.events import Events, find_events
from airtcp.core.recordings.link import PlayedLink, played_link
from airtcp.core.recordings.log import PingLog, read_ping
from airtcp.core.shown import InNotebook, Reported
from airtcp.diagnosis.finding import Finding, span_words
from airtcp.diagnosis.ping_findings import find, said
from airtcp.diagnosis.starlink import starlink_sentence

if TYPE_CHECKING:
    from collections.abc import Callable

    from airtcp.comparison.compared import Comparison
    from airtcp.comparison.sequential import Rounds
    from airtcp.diagnosis.ping_answer import PingAnswer

_PLAYED_AT = "12 Mbit/s"
READ_TWICE = 1.5
"""Processor time of a log's reading and of its tables, for that of its reading alone."""
MIN_TRIALS_S = 10.0
"""Minimum processor time of the trials over a log that took long to read."""
MAX_PLAYED = 50_000
"""Maximum number of probes, the last ones, over which remedies are tried: every run reads them."""


@dataclass(frozen=True)
class PingDiagnosis(Reported, InNotebook):
    """Findings from a ping log, and refusals with their reasons."""

    log: PingLog
    events: Events
    findings: tuple[Finding, ...]
    """Faults, the worst first."""
    answer: "PingAnswer | None"
    """The remedies over the log's link; None if too few probes were answered."""
    untried: str = ""
    """Why no remedy was tried over a log with enough answers; empty where they were."""

    @property
    def comparison(self) -> "Comparison | None":
        """Every remedy, at the given rate or the middle one."""
        return None if self.answer is None else self.answer.main.comparison

    @property
    def headline(self) -> str:
        """The one-sentence answer."""
        if self.log.refusal:
            return f"No remedy was tried. {self.log.refusal}"
        return self.facts[0]

    @cached_property
    def facts(self) -> list[str]:
        """The faults in sentences, with advice: known before any remedy is tried."""
        starlink = starlink_sentence(self.log, self.log.hosts)
        return [*([starlink] if starlink else []), *said(self.log, self.findings)]

    @cached_property
    def sentences(self) -> list[str]:
        """The whole answer, the headline first."""
        lines = [self.headline] if self.log.refusal else [*self.facts]
        if self.answer is not None:
            lines += self.answer.sentences
            if len(self.log.rtt_s) > MAX_PLAYED:
                played = self.log.last_probes(MAX_PLAYED)
                lines.append(
                    f"Remedies were tried over the last {span_words(played.duration_s)} of the log."
                )
        if self.untried:
            lines.append(f"No remedy was tried: {self.untried}.")
        lines += [self._numbers(), self.log.clock_words, self.log.cut, self._unknown()]
        return [line for line in lines if line]

    def _numbers(self) -> str:
        log = self.log
        milliseconds = np.quantile(log.answered, (0.0, 0.5, 0.95, 1.0)) * 1e3
        least, median, high, most = (f"{value:.4g} ms" for value in milliseconds)
        return (
            f"{format_count(log.sent)} probes, {format_count(log.lost)} without an answer "
            f"({format_percent(100 * log.loss_rate)}). Round trips: at least {least}, median "
            f"{median}, 95 % within {high}, at most {most}."
        )

    def _unknown(self) -> str:
        every = 1e3 * self.log.interval_s
        return (
            f"Stops shorter than the {every:.0f} ms between two probes do not show, nor does a "
            f"loss below one in {format_count(self.log.sent)}. A ping shows no rate, and some "
            "networks queue it separately: a capture shows more (`airtcp diagnose --advise`)."
        )

    @cached_property
    def deployment(self) -> list[str]:
        """The winner's deployment on a real system; empty without a winner."""
        if self.comparison is None:
            return []
        from airtcp.comparison.deployment import deployment

        return deployment(self.comparison)

    @cached_property
    def link(self) -> PlayedLink:
        """The log as a scenario with its files."""
        rate = _PLAYED_AT if self.answer is None else self.answer.main.rate
        return played_link(self.log, self.events, rate)

    @property
    def toml(self) -> str:
        """The log as a scenario; its files are `link.files`."""
        return self.link.toml


def diagnose_ping(
    path: str | os.PathLike[str],
    can: str = "all",
    progress: "Callable[[float, str], object] | None" = None,
    *,
    rate_bps: float | None = None,
    interval_s: float | None = None,
    rounds: "Rounds | None" = None,
    before_trials: "Callable[[list[str]], object] | None" = None,
) -> PingDiagnosis:
    """Reads a log, finds faults, and tries every remedy on a current Linux sender.

    Args:
        path: the log.
        can: changes that the asker can make, as in `--can`.
        progress: called with the finished share and the current step.
        rate_bps: the rate of the link in bits of IP packets a second; None tries a range.
        interval_s: the probe interval, for a log that does not contain it.
        rounds: seeds and processor time of the comparison.
        before_trials: called with the first sentences of the answer before remedies are tried.

    Raises:
        ScenarioError: the log cannot be read, or the asker is unknown.
        RunError: a simulation could not be finished.
    """
    parse_askers(can)
    begun_s = time.process_time()
    log = read_ping(path, interval_s)
    events = find_events(log)
    found = tuple(find(log, events)) if not log.refusal else ()
    known = PingDiagnosis(log, events, found, None)
    if log.refusal:
        return known
    if before_trials is not None:
        before_trials(known.facts)
    # Imported late: refusals and findings do not need the study engine.
    from airtcp.comparison.budget import FirstSeedError
    from airtcp.diagnosis.ping_answer import ROUNDS, answered

    played = log.last_probes(MAX_PLAYED)
    # A long log takes seconds to read, and the answer is due all the same.
    left_s = ROUNDS.most_cpu_s - READ_TWICE * (time.process_time() - begun_s)
    rounds = rounds or replace(ROUNDS, most_cpu_s=round(max(left_s, MIN_TRIALS_S)))
    try:
        answer = answered(
            played,
            events if played is log else find_events(played),
            can=can,
            rate=None if rate_bps is None else format_bit_rate(rate_bps),
            rounds=rounds,
            progress=None if progress is None else lambda share: progress(share, "trying remedies"),
        )
    except FirstSeedError as error:
        # The findings need no trial.
        return replace(known, untried=error.reason)
    return replace(known, answer=answer)
