"""A capture diagnosed: labels, shares, the link, and the remedies worth deploying."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl

from airtcp._core import ScenarioError
from airtcp.catalogue import deployments
from airtcp.diagnosis import words
from airtcp.diagnosis.acking import USUAL
from airtcp.diagnosis.aggregates import aggregates_of
from airtcp.diagnosis.beside import with_beside
from airtcp.diagnosis.capture import Capture, Facts, Refusal
from airtcp.diagnosis.ceiling import Ceiling, ceiling
from airtcp.diagnosis.check import MODEL_SEEDS, Prediction, Replay, best_replay, predictions
from airtcp.diagnosis.draws import drawn_links
from airtcp.diagnosis.drops import drops_of
from airtcp.diagnosis.fittable import why_no_fit
from airtcp.diagnosis.harm import with_harms
from airtcp.diagnosis.late import fitted_late
from airtcp.diagnosis.latency import Latency, latency
from airtcp.diagnosis.limits import limits
from airtcp.diagnosis.link import FittedLink, fitted_link
from airtcp.diagnosis.observed import Observed, observed
from airtcp.diagnosis.scenario import Stack, WrittenLink, modelled
from airtcp.diagnosis.sockets import Connection, Sockets, of_ends
from airtcp.diagnosis.trials import Trials, tried
from airtcp.diagnosis.uncertainty import ends_of
from airtcp.diagnosis.wifi_fit import on_wifi
from airtcp.ranking import Direction, reach
from airtcp.ranking.askers import Asker, parse_askers
from airtcp.study.difference_words import beside_words
from airtcp.study.statistics import PairedDifference

PROFILES = ("linux", "linux-reno", "linux-bbr")
"""Stacks of which one is to explain the sender; a capture does not name it."""
CONTROLS: Mapping[str | None, str] = dict(zip(("cubic", "reno", "bbr"), PROFILES, strict=True))
"""Their congestion controls, as sockets name them."""
FEWEST_ACKS = 10
FEW_LOSSES = "few-losses"
"""The core's remark that is no refusal here: few losses make a wide interval."""
WINDOW_SHARE = 0.1
"""A receiver's window that held the flow back for a larger share of the time is part of the fit."""

Progress = Callable[[float, str], object]
"""Called with the share that is done, 0 to 1, and what is being done."""


@dataclass(frozen=True)
class DiagnosedCapture:
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
    """Reasons for which the answer is not whole; empty where it is."""
    latency: Latency | None = None
    """The round trips of the flow; None where none was measured."""
    socket: Connection | None = None
    """The sender's socket, where it was given beside the capture."""

    @property
    def harm(self) -> PairedDifference | None:
        """The goodput of an unchanged flow beside the winner, against that beside its like."""
        best = self.trials.winner if self.trials else None
        return None if self.trials is None or best is None else self.trials.harms.get(best.remedy)

    @property
    def is_of_quic(self) -> bool:
        """Most of the capture is QUIC, of which it shows less than of TCP."""
        return any(one["kind"] == "quic" for one in self.capture.refusals)

    @property
    def is_full(self) -> bool:
        """The flow has all that is possible: no remedy is worth it."""
        return self.ceiling is not None and self.ceiling.is_reached

    @property
    def headline(self) -> str:
        """The one sentence that matters."""
        quic = self.capture.quic
        if quic is not None and self.is_of_quic:
            return f"{quic.headline} No remedy is recommended: those of airtcp are TCP's."
        return words.headline(
            self.ceiling, self.trials, self.refusals, self.harm, self.latency, self.limits
        )

    @cached_property
    def limits(self) -> list[str]:
        """What the capture shows to hold the flow back, as parts of a sentence."""
        facts = self.capture.facts
        if facts is None or self.flow is None or self.link is None:
            return []
        return limits(facts, self.flow, self.link, self.labels)

    @cached_property
    def sentences(self) -> list[str]:
        """All that is said, the headline first."""
        facts = self.capture.facts
        lines = [self.headline]
        waits = self.latency is not None and self.latency.is_large
        if self.trials is not None and not self.is_full:
            lines += words.larger_with_harm(self.trials)
            if waits:
                lines.append(words.calm_words(self.trials))
            lines += words.other_places(self.trials)
        if self.latency is not None and waits:
            lines.append(self.latency.sentence)
        lines += self.capture.warnings
        quic, air = self.capture.quic, self.capture.air
        lines += quic.sentences[0 if not self.is_of_quic else 1 :] if quic is not None else []
        lines += air.sentences if air is not None else []
        if facts is not None:
            view = _VIEWS[facts["view"]]
            lines += [
                f"Flow {facts['flow']} from {facts['sender']} to {facts['receiver']}, captured "
                f"{view}{'' if facts['is_view_certain'] else ', as far as its delays tell'}.",
                words.retransmissions(facts, self.capture.labels),
                *words.other_way(facts),
                *words.on_the_air(facts),
            ]
            if any(facts["shares"].values()):
                lines.append(words.time_shares(facts))
            lines += _of_socket(self.socket)
        if self.link is not None:
            lines.append(words.link_words(self.link))
            acking = facts["acking"].sentence if facts is not None else None
            lines += [acking] if acking else []
        if self.replay is not None:
            is_same = self.link is None or self.link.wifi is None
            lines.append(words.replay_words(self.replay, is_same=is_same))
            if self.predictions:
                lines.append(
                    words.prediction_words(self.predictions, is_replayed=self.replay.explains)
                )
        lines += [reason for reason in self.refusals if reason not in lines[0]]
        if self.link is not None and self.link.stops.are_few and self.trials is not None:
            lines.append(words.few_stops(self.link.stops))
        if self.link is not None and self.link.is_shared and self.trials is not None:
            lines.append(
                "Remedies are tried on what others leave of the link, as if they did not give way."
            )
        lines += [_refused(one) for one in self.capture.refusals if one["is_reservation"]]
        return lines

    @cached_property
    def deployment(self) -> list[str]:
        """The winner's deployment on a real system and its costs; empty without a winner."""
        best = self.trials.winner if self.trials else None
        if self.is_full and self.trials is not None:
            best = self.trials.calmest
        if best is None:
            return []
        lines = [f"Deploying {part['name']}: {part['text']}" for part in deployments(best.remedy)]
        lines.append(words.cost_words(best))
        if self.harm is not None and not self.is_full:
            lines.append(beside_words(self.harm, best.remedy))
        return lines

    @property
    def scenario(self) -> WrittenLink | None:
        """The fitted link as a scenario, where there is one."""
        if self.link is None or self.stack is None or self.flow is None:
            return None
        return modelled(self.link, self.stack, max(60.0, self.flow.seconds))

    @property
    def labels(self) -> pl.DataFrame:
        """One row a retransmission, with its trigger, verdict, evidence and cause."""
        return self.capture.labels


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
) -> DiagnosedCapture:
    """The whole diagnosis of a capture's chosen flow.

    Args:
        capture: the capture.
        can: what the asker may change, as in `--can`; None tries no remedy.
        progress: called with the share that is done, and what is being done.
        rate_bps: the link's rate, where the user knows it, in bits of IP packets a second.
        sockets: what the sender's kernel counts of its connections, taken during the transfer.

    Raises:
        ScenarioError: the asker is unknown, or `sockets` has no connection of the flow's ends.
        RunError: a simulation could not be finished.
    """
    asked = () if can is None else parse_askers(can)  # a mistake comes before the work
    facts = capture.facts
    socket = _socket_of(facts, sockets)
    refusals = [
        _refused(one)
        for one in capture.refusals
        if not one["is_reservation"] and one["kind"] != FEW_LOSSES
    ]
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
            # The cause: what else is refused follows from it.
            refusals.insert(0, unfit)
        if not refusals:
            refusals.append("Too little of the flow was seen: capture a longer transfer.")
        return DiagnosedCapture(capture, flow, None, None, None, (), None, None, tuple(refusals))
    _say(progress, 0.1, "fitting the link")
    waits = latency(flow, facts["queues"])
    queues = facts["queues"]
    link = fitted_link(flow, drops_of(queues), rate_bps, is_shared=queues["is_shared"])
    if facts["view"] == "sender":
        link = replace(link, late=fitted_late(flow, capture.labels, capture.acks))

    def found(
        stack: Stack | None = None,
        replay: Replay | None = None,
        predicted: tuple[Prediction, ...] = (),
        most: Ceiling | None = None,
        trials: Trials | None = None,
    ) -> DiagnosedCapture:
        return DiagnosedCapture(
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
        )

    _say(progress, 0.2, "playing the capture back")
    replay, stack, link = _played_back(capture, flow, link, seen.timeouts, socket)
    most = ceiling(link, flow)
    predicted: tuple[Prediction, ...] = ()
    if replay.may_be_a_draw:
        drawn = (
            [replace(link, wifi=one) for one in link.wifi_alike]
            if link.wifi is not None
            else list(drawn_links(link, flow, MODEL_SEEDS))
        )
        predicted = tuple(predictions(drawn, flow, stack, replay))
    refusals += _why_not_ranked(flow, link, replay, predicted, facts["shares"])
    is_well = most.is_reached and not waits.is_large
    if refusals or is_well or can is None or not asked:
        return found(stack, replay, predicted, most)
    trials = tried(
        ends_of(link, flow, stack),
        reach(can, _direction(facts, asked)),
        lambda done, cells: _say(progress, 0.3 + 0.65 * done / cells, "trying remedies"),
    )
    if not most.is_reached:
        trials = with_harms(trials, link, stack)
    return found(stack, replay, predicted, most, trials)


def _played_back(
    capture: Capture,
    flow: Observed,
    link: FittedLink,
    timeouts: int,
    socket: Connection | None,
) -> tuple[Replay, Stack, FittedLink]:
    """The link and the sender that give the capture back, or come nearest.

    Deliveries in bursts are Wi-Fi's first; where an even rate explains a capture that has some, it
    is the simpler answer.
    """
    stacks = _stacks(capture, flow, socket)
    in_bursts = aggregates_of(flow) is not None and link.drops.policer is None
    on_air = on_wifi(link, flow, stacks, timeouts) if link.aggregates is not None else None
    if on_air is not None and on_air[0].explains:
        return on_air
    even = best_replay(link, flow, stacks, timeouts)
    if link.aggregates is None and in_bursts and not even[0].explains:
        on_air = on_wifi(link, flow, stacks, timeouts)
    if on_air is None or even[0].distance <= on_air[0].distance:
        return even
    return on_air


def _direction(facts: Facts, asked: Sequence[Asker]) -> Direction:
    """The direction of the data, by where the capture was taken: on the asker's own machine."""
    is_server = Asker.SERVER in asked and Asker.MY_MACHINE not in asked
    match facts["view"]:
        case "sender":
            return Direction.DOWN if is_server else Direction.UP
        case "receiver":
            return Direction.UP if is_server else Direction.DOWN
        case _:
            return Direction.UNKNOWN


def flow_of(capture: Capture) -> Observed | None:
    """The flow as arrays; None where too little of it was seen."""
    if capture.facts is None or any(one["is_total"] for one in capture.refusals):
        return None
    seen = capture.at_sender
    if seen is None or seen.segments.is_empty() or len(seen.acks) < FEWEST_ACKS:
        return None
    flow = observed(seen.segments, seen.acks)
    others = (observed(one.segments, one.acks) for one in capture.others)
    return with_beside(flow, others) if flow.sampled.any() else flow


def _socket_of(facts: Facts | None, sockets: Sockets | None) -> Connection | None:
    if facts is None or sockets is None:
        return None
    found = of_ends(sockets, facts["sender"], facts["receiver"])
    if found is None:
        raise ScenarioError(
            f"{sockets.source}: has no connection from {facts['sender']} to {facts['receiver']}: "
            "expected `ss -ti` of the machine that sends, taken while the transfer is under way"
        )
    return found


def _of_socket(socket: Connection | None) -> list[str]:
    """What the socket tells that a capture does not."""
    if socket is None or socket.control is None:
        return []
    if socket.control not in CONTROLS:
        return [
            f"Its socket names the congestion control {socket.control}, which airtcp does not "
            "play: the nearest of those that it has stands for it."
        ]
    return [f"Its socket names the congestion control {socket.control}: no other was tried."]


def _stacks(capture: Capture, flow: Observed, socket: Connection | None) -> list[Stack]:
    """Candidates for the sender, whose congestion control is not on the wire."""
    facts = capture.facts
    assert facts is not None
    window = capture.acks["window"].max()
    limited = facts["shares"]["receiver_window"] > WINDOW_SHARE
    # A window of nothing all along is no buffer's: nothing would have been sent.
    buffer = window if limited and isinstance(window, int) and window > 0 else None
    mss = int(np.quantile(flow.payload, 0.9))
    marks = drops_of(facts["queues"]).marks
    segments = facts["acking"].segments
    habit = None if segments == USUAL else segments
    return [
        Stack(profile, mss, facts["sack"], facts["timestamps"], buffer, habit, marks)
        for profile in _profiles(socket)
    ]


def _profiles(socket: Connection | None) -> tuple[str, ...]:
    control = None if socket is None else socket.control
    return PROFILES if control not in CONTROLS else (CONTROLS[control],)


def _refused(one: Refusal) -> str:
    """A refusal as sentences."""
    return f"{_sentence(one['reason'])} {_sentence(one['capture_hint'])}"


def _why_not_ranked(
    flow: Observed,
    link: FittedLink,
    replay: Replay,
    predicted: Sequence[Prediction],
    shares: Mapping[str, float],
) -> list[str]:
    """Reasons to stop at labels and shares, each with the capture that would help.

    A flow without losses of the link's own needs none: its queue and stops are known otherwise.
    """
    reasons = []
    is_a_draw = bool(predicted) and all(one.holds for one in predicted)
    if not replay.explains and not is_a_draw:
        off = ", ".join(f"{name} {100 * by:+.0f} %" for name, by in replay.deviations.items())
        reasons.append(
            f"The link model does not explain this capture: {off}, "
            f"{replay.simulated.timeouts} timeouts for {replay.capture.timeouts}."
            f"{words.not_played_back(shares)}"
        )
    elif not is_a_draw:
        missed = ", ".join(one.measure for one in predicted if not one.holds)
        reasons.append(
            f"The fitted process does not explain this capture: its {missed} is outside of what "
            "20 seeds give."
        )
    return reasons


def _sentence(reason: str) -> str:
    return reason[0].upper() + reason[1:].rstrip(".") + "."


def _say(progress: Progress | None, share: float, what: str) -> None:
    if progress:
        progress(share, what)
