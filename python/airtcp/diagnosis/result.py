"""The diagnosis of a capture: labels, shares, the link, and the remedies worth deploying."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from airtcp.comparison.ranking import Aim
from airtcp.comparison.statistics import PairedDifference
from airtcp.comparison.words import harm_words
from airtcp.core.catalogue import deployments, is_known
from airtcp.core.shown import InNotebook, Reported
from airtcp.diagnosis import words
from airtcp.diagnosis.capture import Capture
from airtcp.diagnosis.ceiling import Ceiling
from airtcp.diagnosis.check import (
    Prediction,
    Replay,
)
from airtcp.diagnosis.check_words import prediction_words, replay_words
from airtcp.diagnosis.connection import Connection
from airtcp.diagnosis.findings.finding import CaptureFinding
from airtcp.diagnosis.fittable import has_times
from airtcp.diagnosis.latency import Latency
from airtcp.diagnosis.limits import limits, seen_limits
from airtcp.diagnosis.link import FittedLink
from airtcp.diagnosis.link_words import few_stops, link_words
from airtcp.diagnosis.observed import Observed
from airtcp.diagnosis.phases import PhaseLabel, phase_labels
from airtcp.diagnosis.refusals import refused
from airtcp.diagnosis.scenario import Stack, WrittenLink, modelled
from airtcp.diagnosis.senders import sender_words
from airtcp.diagnosis.stop_words import stop_advice
from airtcp.diagnosis.trials import Trials

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Diagnosis(Reported, InNotebook):
    """Findings from a capture, and refusals with their reasons."""

    capture: Capture
    flow: Observed | None = field(repr=False)
    link: FittedLink | None = None
    stack: Stack | None = None
    replay: Replay | None = None
    predictions: tuple[Prediction, ...] = ()
    ceiling: Ceiling | None = None
    trials: Trials | None = None
    refusals: tuple[str, ...] = ()
    """Reasons for an incomplete answer; empty if complete."""
    untried: str = ""
    """Why no remedy could be tried on a link that explains the capture; empty if one was."""
    latency: Latency | None = None
    """The round trips of the flow; None if not measured."""
    socket: Connection | None = None
    """The sender's socket, if given with the capture."""
    aim: Aim = Aim.BULK
    """Intended use of the link."""
    stacks: tuple[Stack, ...] = ()
    """Senders that explain the capture equally well, the nearest first."""
    findings: tuple[CaptureFinding, ...] = ()
    """Causes other than the link, in order of precedence."""

    @property
    def harm(self) -> PairedDifference | None:
        """The goodput of a flow competing with the winner, against competing with its like."""
        best = self.trials.winner if self.trials else None
        return None if self.trials is None or best is None else self.trials.harms.get(best.remedy)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the answer is incomplete: refusals, and why no remedy could be tried."""
        return (*self.refusals, *([self.untried] if self.untried else []))

    @property
    def is_of_quic(self) -> bool:
        """Whether most of the capture is QUIC, for which it shows less than for TCP."""
        return any(one["kind"] == "quic" for one in self.capture.refusals)

    @property
    def is_full(self) -> bool:
        """Whether the flow has all the goodput possible: no remedy is worth deploying."""
        return self.ceiling is not None and self.ceiling.is_reached

    @property
    def headline(self) -> str:
        """The one-sentence answer."""
        quic = self.capture.quic
        if quic is not None and self.is_of_quic:
            return f"{quic.headline} No remedy is recommended: those of airtcp are TCP's."
        return self.findings[0].sentence if self.findings else self._of_the_link

    @property
    def _of_the_link(self) -> str:
        """The first sentence if only the link limits the flow."""
        return words.headline(
            self.ceiling,
            self.trials,
            self.refusals,
            self.harm,
            self.latency,
            self.limits,
            self.aim,
            self._seen,
            self.untried,
        )

    @property
    def facts(self) -> list[str]:
        """The first sentences, which no trial changes: known before any remedy is tried."""
        if self.findings or (self.is_of_quic and self.capture.quic is not None):
            return [self.headline, *self._of_findings]
        return words.before_trials(self.ceiling, self.latency, self.limits, self.aim)

    @property
    def _of_findings(self) -> list[str]:
        """The evidence of the findings, and the other findings with theirs."""
        if not self.findings:
            return []
        first, *others = self.findings
        lines = list(first.evidence)
        for one in others:
            lines += [one.sentence, *one.evidence]
        return lines

    @property
    def _beside_findings(self) -> list[str]:
        """The link's contribution next to findings that do not explain the whole flow."""
        if not self.findings or self.findings[0].is_whole or self.refusals:
            return []
        has_answer = self.trials is not None or self.untried or self.is_full
        return [self._of_the_link] if has_answer else []

    @cached_property
    def limits(self) -> list[str]:
        """Limits of the flow by the capture, as parts of a sentence."""
        facts = self.capture.facts
        if facts is None or self.flow is None or self.link is None:
            return []
        return limits(facts, self.flow, self.link, self.capture.tables.labels, self.ceiling)

    @property
    def _seen(self) -> list[str]:
        """The limits that need no fitted link."""
        facts = self.capture.facts
        if facts is None or self.flow is None or self.link is None:
            return []
        return seen_limits(facts, self.flow, self.link, self.capture.tables.labels)

    @cached_property
    def phases(self) -> tuple[PhaseLabel, ...]:
        """The phases of a path that changes, each with its limit; empty for a single path."""
        if self.flow is None or self.link is None:
            return ()
        return phase_labels(self.flow, self.link.stops)

    @cached_property
    def sentences(self) -> list[str]:
        """The whole answer, the headline first."""
        facts = self.capture.facts
        lines = [self.headline, *self._of_findings, *self._beside_findings]
        waits = self.latency is not None and self.latency.is_large
        if self.trials is not None and not self.is_full:
            lines += words.larger_with_harm(self.trials)
            if waits or self.aim is Aim.BALANCE:
                lines.append(words.calm_words(self.trials))
            lines += words.other_places(self.trials) + words.cut_short(self.trials)
        lines += self.advice
        if self.latency is not None and waits:
            lines.append(self.latency.sentence)
        lines += self.capture.warnings
        quic, air = self.capture.quic, self.capture.air
        lines += quic.sentences[0 if not self.is_of_quic else 1 :] if quic is not None else []
        lines += air.sentences if air is not None else []
        if facts is not None:
            has_clock = self.flow is None or has_times(self.flow)
            lines += [
                f"Flow {facts['flow']} from {facts['sender']} to {facts['receiver']}, captured "
                f"{_VIEWS[facts['view']]}"
                f"{'' if facts['is_view_certain'] else ' (judged by its delays)'}.",
                words.retransmissions(
                    facts,
                    self.capture.tables.labels,
                    is_lossless=self.link is not None and self.link.has_jitter_alone,
                    has_times=has_clock,
                ),
                *words.other_way(facts),
                *words.on_the_air(facts),
            ]
            if has_clock and any(facts["shares"].values()):
                kinds = {one.kind for one in self.findings}
                lines.append(words.time_shares(facts, is_buffer="send-buffer" in kinds))
            lines += sender_words(self.socket, self.stacks)
        if self.link is not None:
            lines.append(link_words(self.link))
            acking = facts["acking"].sentence if facts is not None else None
            lines += [acking] if acking else []
        if self.replay is not None:
            is_same = self.link is None or self.link.wifi is None
            lines.append(replay_words(self.replay, is_same=is_same))
            if self.predictions:
                lines.append(prediction_words(self.predictions, is_replayed=self.replay.explains))
        lines += [one for one in self.reasons if not any(one in line for line in lines)]
        if self.link is not None and self.link.stops.are_few and self.trials is not None:
            lines.append(few_stops(self.link.stops))
        if self.link is not None and self.link.is_shared and self.trials is not None:
            lines.append(
                "Remedies are tried on the rate that others leave, as if they never gave way."
            )
        lines += [
            reason
            for one in self.capture.refusals
            if one["is_reservation"] and (reason := refused(one)) not in self.refusals
        ]
        return lines

    @cached_property
    def advice(self) -> list[str]:
        """Changes of the radio to try before any remedy of TCP."""
        if self.link is None or self.flow is None:
            return []
        return list(stop_advice(self.link.stops, self.flow.seconds, self.flow.base_rtt_s))

    @cached_property
    def deployment(self) -> list[str]:
        """The winner's deployment on a real system and its costs; empty without a winner."""
        best = self.trials.winner if self.trials else None
        if self.is_full and self.trials is not None:
            best = self.trials.calmest
        lines = [
            line
            for one in self.findings
            for remedy in one.remedies
            if is_known(remedy) and (best is None or remedy != best.remedy)
            for line in _deploying(remedy)
        ]
        if best is None:
            return lines
        lines += _deploying(best.remedy)
        lines.append(words.cost_words(best))
        if self.harm is not None and not self.is_full:
            lines.append(harm_words(self.harm, best.remedy))
        return lines

    @property
    def scenario(self) -> WrittenLink | None:
        """The fitted link as a scenario, if there is one."""
        if self.link is None or self.stack is None or self.flow is None:
            return None
        return modelled(self.link, self.stack, max(60.0, self.flow.seconds))

    @property
    def labels(self) -> "pl.DataFrame":
        """A frame of Polars: a row per retransmission, with trigger, verdict, evidence, cause."""
        return self.capture.labels


def _deploying(remedy: str) -> list[str]:
    """A remedy's deployment on a real system, one line for each part."""
    return [f"Deploying {part['name']}: {part['text']}" for part in deployments(remedy)]


_VIEWS = {
    "sender": "at the sender",
    "receiver": "at the receiver",
    "middle": "between the two",
}
