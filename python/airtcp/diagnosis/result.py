"""The diagnosis of a capture: labels, shares, the link, and the remedies worth deploying."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import polars as pl

from airtcp.comparison.budget import OutOfBudgetError
from airtcp.comparison.ranking import Aim, Direction, reach
from airtcp.comparison.ranking.askers import Asker, parse_askers
from airtcp.comparison.statistics import PairedDifference
from airtcp.comparison.words import harm_words
from airtcp.core.catalogue import deployments, is_known
from airtcp.core.shown import InNotebook, Reported
from airtcp.diagnosis import words
from airtcp.diagnosis.aggregates import aggregates_of
from airtcp.diagnosis.beside import with_beside
from airtcp.diagnosis.busy_back import busy_back
from airtcp.diagnosis.capture import Capture, Facts
from airtcp.diagnosis.ceiling import Ceiling, ceiling
from airtcp.diagnosis.check import (
    MODEL_SEEDS,
    Played,
    Prediction,
    Replay,
    alike,
    likeliest,
    nearest,
    predictions,
    replays,
)
from airtcp.diagnosis.check_words import prediction_words, replay_words
from airtcp.diagnosis.connection import Connection
from airtcp.diagnosis.draws import drawn_links
from airtcp.diagnosis.drops import drops_of
from airtcp.diagnosis.findings.every import before_the_fit, beside_the_fit
from airtcp.diagnosis.findings.finding import CaptureFinding
from airtcp.diagnosis.findings.other_way import are_acks_bunched
from airtcp.diagnosis.fittable import has_times, why_no_fit
from airtcp.diagnosis.harm import with_harms
from airtcp.diagnosis.jitter import fitted_jitter, without_outdated
from airtcp.diagnosis.late import fitted_late
from airtcp.diagnosis.latency import Latency, latency
from airtcp.diagnosis.limits import limits, seen_limits
from airtcp.diagnosis.link import FittedLink, fitted_link
from airtcp.diagnosis.link_words import few_stops, link_words
from airtcp.diagnosis.loss import Loss, fitted_loss
from airtcp.diagnosis.observed import Observed, observed
from airtcp.diagnosis.phases import PhaseLabel, phase_labels
from airtcp.diagnosis.refusals import refused, why_not_ranked
from airtcp.diagnosis.scenario import Stack, WrittenLink, modelled
from airtcp.diagnosis.senders import control_of, sender_words, socket_of, stacks_of
from airtcp.diagnosis.sockets import Sockets
from airtcp.diagnosis.stop_words import stop_advice
from airtcp.diagnosis.trials import Trials
from airtcp.diagnosis.trying import Effort, tried
from airtcp.diagnosis.uncertainty import ends_of
from airtcp.diagnosis.wifi_fit import on_wifi

FEWEST_ACKS = 10
FEW_LOSSES = "few-losses"
"""A reservation of the core that is not a refusal here: few losses give a wide interval."""
Progress = Callable[[float, str], object]
"""Called with the finished share, 0 to 1, and the current step."""


@dataclass(frozen=True)
class Diagnosis(Reported, InNotebook):
    """Findings from a capture, and refusals with their reasons."""

    capture: Capture
    flow: Observed | None = field(repr=False)
    link: FittedLink | None
    stack: Stack | None
    replay: Replay | None
    predictions: tuple[Prediction, ...]
    ceiling: Ceiling | None
    trials: Trials | None
    refusals: tuple[str, ...]
    """Reasons for an incomplete answer; empty if complete."""
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
        )

    @property
    def _of_findings(self) -> list[str]:
        """The evidence of the findings, the other findings, and the link's contribution."""
        if not self.findings:
            return []
        first, *others = self.findings
        lines = list(first.evidence)
        for one in others:
            lines += [one.sentence, *one.evidence]
        has_answer = self.trials is not None or self.is_full
        if not first.is_whole and has_answer and not self.refusals:
            lines.append(self._of_the_link)
        return lines

    @cached_property
    def limits(self) -> list[str]:
        """Limits of the flow by the capture, as parts of a sentence."""
        facts = self.capture.facts
        if facts is None or self.flow is None or self.link is None:
            return []
        return limits(facts, self.flow, self.link, self.labels, self.ceiling)

    @property
    def _seen(self) -> list[str]:
        """The limits that need no fitted link."""
        facts = self.capture.facts
        if facts is None or self.flow is None or self.link is None:
            return []
        return seen_limits(facts, self.flow, self.link, self.labels)

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
        lines = [self.headline, *self._of_findings]
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
                    self.capture.labels,
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
        lines += [reason for reason in self.refusals if reason not in lines[0]]
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
    def labels(self) -> pl.DataFrame:
        """One row per retransmission, with its trigger, verdict, evidence and cause."""
        return self.capture.labels


def _deploying(remedy: str) -> list[str]:
    """A remedy's deployment on a real system, one line for each part."""
    return [f"Deploying {part['name']}: {part['text']}" for part in deployments(remedy)]


_VIEWS = {
    "sender": "at the sender",
    "receiver": "at the receiver",
    "middle": "between the two",
}


def diagnosed(
    capture: Capture,
    can: str | None = "all",
    progress: Progress | None = None,
    rate_bps: float | None = None,
    sockets: Sockets | None = None,
    sender: str | None = None,
    effort: Effort | None = None,
) -> Diagnosis:
    """The whole diagnosis of a capture's chosen flow.

    Args:
        capture: the capture.
        can: changes that the asker can make, as in `--can`; None tries no remedy.
        progress: called with the finished share and the current step.
        rate_bps: the link's rate, if the user knows it, in bits of IP packets a second.
        sockets: the sender kernel's counters of its connections, taken during the transfer.
        sender: the congestion control in use, if the user knows it.
        effort: bounds on the trials' cost, and the smallest effect worth having.

    Raises:
        ScenarioError: the asker is unknown, or `sockets` has no connection of the flow's ends.
        RunError: a simulation could not be finished.
    """
    asked = () if can is None else parse_askers(can)  # reports a mistake before the work
    control_of(None, sender)
    facts = capture.facts
    socket = socket_of(facts, sockets)
    control = control_of(socket, sender)
    refusals = [
        refused(one)
        for one in capture.refusals
        if not one["is_reservation"] and one["kind"] != FEW_LOSSES
    ]
    findings = before_the_fit(capture)
    if findings and findings[0].is_whole:
        return _explained(capture, findings, socket)
    flow = flow_of(capture)
    seen = capture.at_sender
    unfit = None if flow is None else why_no_fit(flow)
    if facts is None or flow is None or seen is None or unfit is not None:
        if facts is not None and seen is None and not refusals:
            refusals.append(
                "The link is fitted to what the sender saw, which its own capture shows, and that "
                "of the receiver if the connection has timestamps: capture at the sender with "
                "`tcpdump -s 128`."
            )
        if unfit is not None:
            # The cause first: the other refusals follow from it.
            refusals.insert(0, unfit)
        if not refusals:
            refusals.append("Too little of the flow was seen: capture a longer transfer.")
        return Diagnosis(
            capture,
            flow,
            None,
            None,
            None,
            (),
            None,
            None,
            tuple(refusals),
            None,
            socket,
            findings=findings,
        )
    _say(progress, 0.1, "fitting the link")
    waits = latency(flow, facts["queues"])
    queues = facts["queues"]
    link = fitted_link(
        flow,
        drops_of(queues),
        rate_bps,
        is_shared=queues["is_shared"],
        are_acks_bunched=are_acks_bunched(capture, flow),
    )
    if facts["view"] == "sender":
        late = fitted_late(flow, capture.labels, capture.acks)
        jitter = fitted_jitter(flow) if late is None else None
        # Wi-Fi keeps the order: reordered packets did not come in its bursts.
        bursts = link.aggregates if jitter is None else None
        link = replace(link, late=late, jitter=jitter, aggregates=bursts)
        if jitter is not None:
            flow = without_outdated(flow, jitter)
            link = replace(link, loss=fitted_loss(flow))

    def found(
        stack: Stack | None = None,
        replay: Replay | None = None,
        predicted: tuple[Prediction, ...] = (),
        most: Ceiling | None = None,
        trials: Trials | None = None,
    ) -> Diagnosis:
        return Diagnosis(
            capture,
            flow,
            link,
            stack,
            replay,
            predicted,
            most,
            trials,
            tuple(refusals),
            waits,
            socket,
            Aim.BULK if effort is None else effort.aim,
            stacks,
            findings,
        )

    stacks: tuple[Stack, ...] = ()
    findings += beside_the_fit(capture, flow, link, waits, socket)
    if findings and findings[0].is_whole:
        refusals.clear()
        return found(most=ceiling(link, flow))
    _say(progress, 0.2, "playing the capture back")
    senders = stacks_of(capture, flow, control)
    played = _played_back(flow, link, seen.timeouts, senders)
    if link.jitter is not None and link.loss.lost:
        # Round trips blurred by jitter do not separate a full queue's drops from the link's losses:
        # a link without losses is the simpler answer.
        dropped = replace(flow, dropped=flow.lost)
        no_loss = replace(link, loss=Loss(len(flow.sent_s), 0, None))
        simpler = _played_back(dropped, no_loss, seen.timeouts, senders)
        played = simpler if nearest(simpler)[0].explains else played

    def predicted_by(one: Played) -> list[Prediction]:
        replay, stack, link = one
        drawn = (
            [replace(link, wifi=each) for each in link.wifi_alike]
            if link.wifi is not None
            else list(drawn_links(link, flow, MODEL_SEEDS))
        )
        return predictions(drawn, flow, stack, replay)

    (replay, stack, link), predicted = likeliest(played, predicted_by)
    stacks = tuple(alike(played)) if nearest(played)[1] is stack else (stack,)
    most = ceiling(link, flow)
    unexplained = why_not_ranked(replay, predicted, facts["shares"])
    if unexplained:
        # A capture that lacks something explains why the link does not.
        refusals += [refused(one) for one in capture.refusals if one["is_reservation"]]
    refusals += unexplained
    effort = effort or Effort()
    # For a latency-sensitive aim, round trips matter however short they are.
    data_waits = waits.is_large or effort.aim is not Aim.BULK
    is_well = most.is_reached and not data_waits
    if refusals or is_well or can is None or not asked:
        return found(stack, replay, tuple(predicted), most)
    try:
        trials = tried(
            ends_of(link, flow, stacks, most),
            reach(can, _direction(facts, asked)),
            lambda done, cells: _say(progress, 0.3 + 0.65 * done / cells, "trying remedies"),
            effort,
            data_waits=data_waits,
        )
    except OutOfBudgetError as error:
        refusals.append(f"No remedies were tried. {error}.")
        return found(stack, replay, tuple(predicted), most)
    if not most.is_reached:
        trials = with_harms(trials, link, stack)
    return found(stack, replay, tuple(predicted), most, trials)


def _explained(
    capture: Capture, findings: tuple[CaptureFinding, ...], socket: Connection | None
) -> Diagnosis:
    """A diagnosis that needs no link."""
    flow = flow_of(capture)
    return Diagnosis(
        capture, flow, None, None, None, (), None, None, (), None, socket, findings=findings
    )


def _played_back(
    flow: Observed, link: FittedLink, timeouts: int, stacks: Sequence[Stack]
) -> list[Played]:
    """Replays over the link that reproduces the capture, or comes nearest, one for each sender.

    Tries Wi-Fi first for deliveries in bursts; if an even rate explains a capture with bursts, it
    is the simpler answer.
    """
    may_burst = link.drops.policer is None and link.jitter is None
    in_bursts = may_burst and aggregates_of(flow) is not None
    on_air = on_wifi(link, flow, stacks, timeouts) if link.aggregates is not None else None
    if on_air is not None and nearest(on_air)[0].explains:
        return on_air
    even = replays(link, flow, stacks, timeouts)
    if link.aggregates is None and in_bursts and not nearest(even)[0].explains:
        on_air = on_wifi(link, flow, stacks, timeouts)
    if on_air is None or nearest(even)[0].distance <= nearest(on_air)[0].distance:
        return even
    return on_air


def _direction(facts: Facts, asked: Sequence[Asker]) -> Direction:
    """The direction of the data: the capture is taken to be from the asker's machine."""
    is_server = Asker.SERVER in asked and Asker.MY_MACHINE not in asked
    match facts["view"]:
        case "sender":
            return Direction.DOWN if is_server else Direction.UP
        case "receiver":
            return Direction.UP if is_server else Direction.DOWN
        case _:
            return Direction.UNKNOWN


def flow_of(capture: Capture) -> Observed | None:
    """The flow as arrays; None if too little of it was seen."""
    if capture.facts is None or any(one["is_total"] for one in capture.refusals):
        return None
    seen = capture.at_sender
    if seen is None or seen.segments.is_empty() or len(seen.acks) < FEWEST_ACKS:
        return None
    phases = capture.facts["phases"]
    bases = tuple((one["from_ns"] / 1e9, one["base_rtt_ns"] / 1e9) for one in phases)
    flow = replace(
        observed(seen.segments, seen.acks, bases),
        busy_back=busy_back(capture.back_ns, capture.acks),
    )
    others = (observed(one.segments, one.acks) for one in capture.others)
    return with_beside(flow, others) if flow.sampled.any() else flow


def _say(progress: Progress | None, share: float, what: str) -> None:
    if progress:
        progress(share, what)
