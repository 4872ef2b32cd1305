"""The answer to a capture: causes, the fitted link, its replay, and remedies tried on it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from airtcp.comparison.budget import OutOfBudgetError
from airtcp.comparison.ranking import Aim, Direction, reach
from airtcp.comparison.ranking.askers import Asker, Reach, parse_askers
from airtcp.diagnosis.aggregates import aggregates_of
from airtcp.diagnosis.beside import with_beside
from airtcp.diagnosis.busy_back import busy_back
from airtcp.diagnosis.capture import Capture, Facts
from airtcp.diagnosis.ceiling import ceiling
from airtcp.diagnosis.check import (
    MODEL_SEEDS,
    Played,
    Prediction,
    alike,
    likeliest,
    nearest,
    predictions,
    replays,
)
from airtcp.diagnosis.draws import drawn_links
from airtcp.diagnosis.drops import Drops, drops_of
from airtcp.diagnosis.findings.every import before_the_fit, beside_the_fit
from airtcp.diagnosis.findings.other_way import are_acks_bunched
from airtcp.diagnosis.fittable import why_no_fit
from airtcp.diagnosis.harm import with_harms
from airtcp.diagnosis.jitter import fitted_jitter, without_outdated
from airtcp.diagnosis.late import fitted_late
from airtcp.diagnosis.latency import latency
from airtcp.diagnosis.link import FittedLink, fitted_link
from airtcp.diagnosis.loss import Loss, fitted_loss
from airtcp.diagnosis.observed import Observed, observed
from airtcp.diagnosis.ordered_jitter import with_ordered_jitter
from airtcp.diagnosis.refusals import refused, why_not_ranked
from airtcp.diagnosis.result import Diagnosis
from airtcp.diagnosis.scenario import Stack
from airtcp.diagnosis.senders import control_of, socket_of, stacks_of
from airtcp.diagnosis.sockets import Sockets
from airtcp.diagnosis.trying import Effort, tried
from airtcp.diagnosis.uncertainty import ends_of
from airtcp.diagnosis.wifi_fit import on_wifi

FEWEST_ACKS = 10
FEW_LOSSES = "few-losses"
"""A reservation of the core that is not a refusal here: few losses give a wide interval."""
Progress = Callable[[float, str], object]
"""Called with the finished share, 0 to 1, and the current step."""


def diagnosed(
    capture: Capture,
    can: str | None = "all",
    progress: Progress | None = None,
    rate_bps: float | None = None,
    sockets: Sockets | None = None,
    sender: str | None = None,
    effort: Effort | None = None,
    before_trials: Callable[[list[str]], object] | None = None,
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
        before_trials: called with the first sentences of the answer before remedies are tried.

    Raises:
        ScenarioError: the asker is unknown, or `sockets` has no connection of the flow's ends.
        RunError: a simulation could not be finished.
    """
    asked = () if can is None else parse_askers(can)  # reports a mistake before the work
    control_of(None, sender)
    facts = capture.facts
    socket = socket_of(facts, sockets)
    findings = before_the_fit(capture)
    flow = flow_of(capture)
    known = Diagnosis(capture, flow, socket=socket, findings=findings)
    if findings and findings[0].is_whole:
        return known
    seen = capture.at_sender
    if facts is None or flow is None or seen is None or why_no_fit(flow) is not None:
        return replace(known, refusals=tuple(_why_no_link(capture, flow)))
    _say(progress, 0.1, "fitting the link")
    flow, link = _fitted(capture, facts, flow, rate_bps)
    waits = latency(flow, facts["queues"])
    findings += beside_the_fit(capture, flow, link, waits, socket)
    aim = Aim.BULK if effort is None else effort.aim
    known = replace(known, flow=flow, link=link, latency=waits, aim=aim, findings=findings)
    if findings and findings[0].is_whole:
        return replace(known, ceiling=ceiling(link, flow))
    _say(progress, 0.2, "playing the capture back")
    senders = stacks_of(capture, flow, control_of(socket, sender))
    known = _replayed(known, facts, flow, link, seen.timeouts, senders)
    if known.refusals or can is None or not asked or _is_well(known):
        return known
    if before_trials is not None:
        before_trials(known.facts)
    return _tried(known, reach(can, _direction(facts, asked)), progress, effort or Effort())


def _why_no_link(capture: Capture, flow: Observed | None) -> list[str]:
    """Why no link is fitted, the cause first."""
    refusals = _refusals(capture)
    if capture.facts is not None and capture.at_sender is None and not refusals:
        refusals.append(
            "The link is fitted to what the sender saw, which its own capture shows, and that "
            "of the receiver if the connection has timestamps: capture at the sender with "
            "`tcpdump -s 128`."
        )
    unfit = None if flow is None else why_no_fit(flow)
    if unfit is not None:
        # The others follow from it.
        refusals.insert(0, unfit)
    return refusals or ["Too little of the flow was seen: capture a longer transfer."]


def _refusals(capture: Capture) -> list[str]:
    """The core's refusals; its reservations leave an answer."""
    return [
        refused(one)
        for one in capture.refusals
        if not one["is_reservation"] and one["kind"] != FEW_LOSSES
    ]


def _fitted(
    capture: Capture, facts: Facts, flow: Observed, rate_bps: float | None
) -> tuple[Observed, FittedLink]:
    """The link, and the flow without acknowledgments that jitter has made out of date."""
    queues = facts["queues"]
    link = fitted_link(
        flow,
        drops_of(queues),
        rate_bps,
        is_shared=queues["is_shared"],
        are_acks_bunched=are_acks_bunched(capture, flow),
    )
    if facts["view"] != "sender":
        return flow, link
    late = fitted_late(flow, capture.tables.labels, capture.tables.acks)
    jitter = fitted_jitter(flow) if late is None else None
    # Wi-Fi keeps the order: reordered packets did not come in its bursts.
    bursts = link.aggregates if jitter is None else None
    link = replace(link, late=late, jitter=jitter, aggregates=bursts)
    if jitter is None:
        return flow, link
    flow = without_outdated(flow, jitter)
    return flow, replace(link, loss=fitted_loss(flow))


def _replayed(
    known: Diagnosis,
    facts: Facts,
    flow: Observed,
    link: FittedLink,
    timeouts: int,
    senders: Sequence[Stack],
) -> Diagnosis:
    """The diagnosis with the sender and the link that explain the capture best."""
    played = _played_back(flow, link, timeouts, senders)
    if link.jitter is not None and link.loss.lost:
        # Round trips blurred by jitter do not separate a full queue's drops from the link's losses:
        # a link without losses is the simpler answer.
        dropped = replace(flow, dropped=flow.lost)
        no_loss = replace(link, loss=Loss(len(flow.sent_s), 0, None))
        simpler = _played_back(dropped, no_loss, timeouts, senders)
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
    refusals = _refusals(known.capture)
    unexplained = why_not_ranked(replay, predicted, facts["shares"])
    if unexplained:
        # A capture that lacks something explains why the link does not.
        refusals += [refused(one) for one in known.capture.refusals if one["is_reservation"]]
    return replace(
        known,
        link=link,
        stack=stack,
        replay=replay,
        predictions=tuple(predicted),
        ceiling=ceiling(link, flow),
        refusals=(*refusals, *unexplained),
        stacks=tuple(alike(played)) if nearest(played)[1] is stack else (stack,),
    )


def _is_well(known: Diagnosis) -> bool:
    """Whether the flow is as fast as the link, and nobody waits for its data."""
    return known.ceiling is not None and known.ceiling.is_reached and not _is_waited_for(known)


def _is_waited_for(known: Diagnosis) -> bool:
    """For a latency-sensitive aim, round trips matter however short they are."""
    waits = known.latency
    return (waits is not None and waits.is_large) or known.aim is not Aim.BULK


def _tried(
    known: Diagnosis, reached: Reach, progress: Progress | None, effort: Effort
) -> Diagnosis:
    """The diagnosis with the remedies that the asker can deploy, tried on its link."""
    flow, link, stack, most = known.flow, known.link, known.stack, known.ceiling
    if flow is None or link is None or stack is None or most is None:
        return known
    try:
        trials = tried(
            ends_of(link, flow, known.stacks, most),
            reached,
            lambda done, cells: _say(progress, 0.3 + 0.65 * done / cells, "trying remedies"),
            effort,
            data_waits=_is_waited_for(known),
        )
    except OutOfBudgetError as error:
        return replace(known, untried=f"No remedies were tried. {error}.")
    if not most.is_reached:
        trials = with_harms(trials, link, stack)
    return replace(known, trials=trials)


def _played_back(
    flow: Observed, link: FittedLink, timeouts: int, stacks: Sequence[Stack]
) -> list[Played]:
    """Replays over the link that reproduces the capture, or comes nearest, one for each sender.

    One rate with jitter that shows is a simpler answer than Wi-Fi, which is tried next for
    deliveries in bursts; if an even rate explains a capture with bursts, it is the simpler answer.
    """
    varies = None
    if link.late is None and link.jitter is None and link.drops == Drops():
        varies = with_ordered_jitter(link, flow)
    if varies is None:
        return _without_jitter(flow, link, timeouts, stacks)
    delayed = replays(varies, flow, stacks, timeouts)
    if nearest(delayed)[0].explains:
        return delayed
    played = _without_jitter(flow, link, timeouts, stacks)
    return min(delayed, played, key=lambda each: nearest(each)[0].distance)


def _without_jitter(
    flow: Observed, link: FittedLink, timeouts: int, stacks: Sequence[Stack]
) -> list[Played]:
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
    if seen is None or not len(seen.segments) or len(seen.acks) < FEWEST_ACKS:
        return None
    phases = capture.facts["phases"]
    bases = tuple((one["from_ns"] / 1e9, one["base_rtt_ns"] / 1e9) for one in phases)
    flow = replace(
        observed(seen.segments, seen.acks, bases),
        busy_back=busy_back(capture.back_ns, capture.tables.acks),
    )
    others = (observed(one.segments, one.acks) for one in capture.others)
    return with_beside(flow, others) if flow.sampled.any() else flow


def _say(progress: Progress | None, share: float, what: str) -> None:
    if progress:
        progress(share, what)
