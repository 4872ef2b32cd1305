"""Faults of a link by its ping log, the worst first, with advice for the link itself."""

from collections.abc import Iterator, Sequence

import numpy as np

from airtcp.core.quantities import format_count, format_percent
from airtcp.core.recordings.events import Events, Spans
from airtcp.core.recordings.log import PingLog, Reals
from airtcp.diagnosis.finding import Finding, span_words
from airtcp.diagnosis.how_often import how_long, how_often
from airtcp.diagnosis.period import FEWEST, Period, period
from airtcp.diagnosis.ping_radio import hours, power_save, queue_under_load
from airtcp.diagnosis.radio import (
    NEAR_S,
    RADIO_ADVICE,
    ROAMING_ADVICE,
    SCAN_ADVICE,
    SCAN_EVERY_S,
    is_scan,
)
from airtcp.diagnosis.starlink import ADVICE as STARLINK_ADVICE
from airtcp.diagnosis.starlink import comes_with_beams

OUTAGE_S = 20.0
"""Minimum length of an outage; shorter gaps are stops."""
ROAMED_S = 3.0
"""Maximum distance of a step of the base delay from a gap for the two to be one event."""
MANY_LOST = 0.05
LOST_WORTH_SAYING = 0.002
"""Minimum share of lost probes that is reported: less hardly slows a flow on a short path."""
BUSY_PER_MINUTE = 4.0
FEWEST_BURSTS = 3
"""Minimum number of bursts of several probes; with variable delays fewer are chance."""
LATE_SHARE = 0.02
VERY_LATE_S = 0.3
"""Minimum delay of very late answers; rarer ones that are never later are not reported."""

DUPLICATES_WORTH_SAYING = 0.01
"""Minimum share of doubled answers that is reported."""
MAX_SAID = 4
"""Maximum number of findings reported."""
SYMPTOMS = {
    "queue": ("steps", "bursts"),
    "hours": ("steps", "queue"),
    "power-save": ("bursts", "steps"),
}
"""Findings that another finding explains."""


def find(log: PingLog, events: Events) -> list[Finding]:
    """All findings, the worst first; empty if nothing is wrong."""
    found = [finding for of in FINDERS for finding in of(log, events)]
    kinds = {finding.kind for finding in found}
    hidden = {kind for cause in kinds for kind in SYMPTOMS.get(cause, ())}
    busy = _busy(log, events)
    if busy is not None:
        found.append(busy)
        hidden |= {"losses", "bursts", "stops"}
    found = [finding for finding in found if finding.kind not in hidden]
    return sorted(found, key=lambda one: -one.severity)


def said(log: PingLog, found: Sequence[Finding]) -> list[str]:
    """The findings in sentences, the worst first with advice; one sentence if nothing is wrong."""
    if not found:
        return [nothing_wrong(log)]
    first, *others = found[:MAX_SAID]
    advice = [first.advice] if first.advice else []
    return [first.sentence, *advice, *(one.sentence for one in others)]


def _regular(log: PingLog, spans: Spans) -> Period | None:
    return period(spans.start_s, log.interval_s) if len(spans) else None


def _stops(log: PingLog, events: Events) -> Iterator[Finding]:
    stops = events.stops
    if not len(stops):
        return
    regular = _regular(log, stops)
    often = how_often(stops, log, regular)
    share = float(stops.length_s.sum()) / log.duration_s
    length_s = float(np.median(stops.length_s))
    scans = regular is not None and is_scan(length_s, regular.every_s)
    cause = ", as a radio does that scans for other networks" if scans else ""
    yield Finding(
        "stops",
        f"The link stalls for {how_long(stops)}, {often}{cause}: nothing is answered "
        "meanwhile, and then everything at once.",
        share,
        SCAN_ADVICE if scans else RADIO_ADVICE,
        regular,
    )


def _gaps(log: PingLog, events: Events) -> Iterator[Finding]:
    gaps = events.gaps
    is_outage = gaps.length_s >= OUTAGE_S
    for start, length in zip(gaps.start_s[is_outage], gaps.length_s[is_outage], strict=True):
        begin = "the start" if start < log.interval_s else span_words(float(start))
        yield Finding(
            "outage",
            f"The link was down for {span_words(float(length))}, from {begin} on: no probe was "
            "answered.",
            float(length) / log.duration_s,
            "No change of TCP helps while a link is down; after it, a sender that has backed off "
            "waits for up to as long again.",
        )
    short = Spans(gaps.start_s[~is_outage], gaps.length_s[~is_outage], gaps.size_s[~is_outage])
    if not len(short):
        return
    regular = _regular(log, short)
    moved = [
        step
        for step in events.steps
        if np.min(np.abs(short.start_s + short.length_s / 2 - step.at_s)) <= ROAMED_S
    ]
    with_step, advice = "", RADIO_ADVICE
    if regular is not None and comes_with_beams(regular.every_s, log):
        with_step = ", and the base round trip changes with them: as Starlink's beams do each 15 s"
        advice = STARLINK_ADVICE
    elif moved:
        advice = ROAMING_ADVICE
        them = "it" if len(short) == 1 else "them"
        low, high = sorted((moved[0].before_s, moved[0].after_s))
        with_step = (
            f", and the base round trip changes with {them}, between {span_words(low)} and "
            f"{span_words(high)}: as a device does that moves from one access point to another"
        )
    yield Finding(
        "gaps",
        f"Everything is lost for {how_long(short)}, {how_often(short, log, regular)}{with_step}.",
        1.5 * float(short.length_s.sum()) / log.duration_s,
        advice,
        regular,
    )


def _bursts(log: PingLog, events: Events) -> Iterator[Finding]:
    bursts = events.bursts
    if not len(bursts):
        return
    regular = _regular(log, bursts)
    usual, most = (span_words(float(np.quantile(bursts.size_s, at))) for at in (0.5, 1.0))
    share = 0.5 * float(bursts.length_s.sum()) / log.duration_s
    often = how_often(bursts, log, regular)
    wide = int(np.count_nonzero(bursts.length_s > 1.01 * log.interval_s))
    if wide >= max(FEWEST_BURSTS, len(bursts) / 2):
        length = span_words(float(np.median(bursts.length_s)))
        irregular = "" if regular or len(bursts) < FEWEST else ", at no regular times"
        sentence = (
            f"The delay rises in bursts, by {usual} in the median and {most} at most, for {length} "
            f"at a time, {often}{irregular}."
        )
    elif regular is not None or _are_many(bursts, log):
        scans = (
            ", as a radio does that scans for other networks"
            if regular and SCAN_EVERY_S[0] <= regular.every_s <= SCAN_EVERY_S[1]
            else ""
        )
        sentence = (
            f"Single answers come late, by {usual} in the median and {most} at most, {often}"
            f"{scans}: delays or stops shorter than the {span_words(log.interval_s)} between two "
            "probes."
        )
    else:
        return
    is_near = log.least_s < NEAR_S
    yield Finding("bursts", sentence, share, RADIO_ADVICE if is_near else "", regular)


def _are_many(bursts: Spans, log: PingLog) -> bool:
    """Whether late answers are more than the tail of a variable delay."""
    often = len(bursts) >= LATE_SHARE * len(log.rtt_s)
    return often or float(bursts.size_s.max()) >= VERY_LATE_S


def _steps(log: PingLog, events: Events) -> Iterator[Finding]:
    gaps = events.gaps
    steps = [
        step
        for step in events.steps
        if not len(gaps) or np.min(np.abs(gaps.start_s + gaps.length_s / 2 - step.at_s)) > ROAMED_S
    ]
    if not steps:
        return
    size = float(np.median([abs(step.after_s - step.before_s) for step in steps]))
    first = steps[0]
    times = {1: "once", 2: "twice"}.get(len(steps), f"{len(steps)} times")
    regular = period(np.array([step.at_s for step in steps]), log.interval_s)
    every = f", every {span_words(regular.every_s)}" if regular else ""
    yield Finding(
        "steps",
        f"The base round trip changes in steps of {span_words(size)}, {times}{every}: from "
        f"{span_words(first.before_s)} to {span_words(first.after_s)} at "
        f"{span_words(first.at_s)}. That is another path (a handover, a satellite, a route), or a "
        "queue that others keep full.",
        0.05 + 0.05 * min(size / max(log.least_s, 1e-3), 2.0),
        "",
        regular,
    )


def _losses(log: PingLog, events: Events) -> Iterator[Finding]:
    rate = events.loss_rate(log)
    if rate < LOST_WORTH_SAYING:
        return
    count = int(events.alone.sum()) + log.unplaced
    yield Finding(
        "losses",
        f"{format_percent(100 * rate)} of the probes are lost one by one "
        f"({format_count(count)} of {format_count(log.sent)}).",
        2 * rate,
    )


def _duplicates(log: PingLog, _: Events) -> Iterator[Finding]:
    share = log.duplicates / log.sent
    if share < DUPLICATES_WORTH_SAYING:
        return
    yield Finding(
        "duplicates",
        f"Answers come twice ({format_count(log.duplicates)} for {format_count(log.sent)} probes): "
        "two machines have the address, it is a group's, or a bridge, a loop or a radio doubles "
        "packets.",
        share,
        "See who answers with `arping -c 5 ADDRESS` (two hardware addresses are two machines), and "
        "look for a loop: pull one cable after another.",
    )


FINDERS = (
    _stops,
    _gaps,
    _bursts,
    _steps,
    _losses,
    _duplicates,
    power_save,
    queue_under_load,
    hours,
)


def _busy(log: PingLog, events: Events) -> Finding | None:
    """Many short stops or bursts, and many losses, on a link with short round trips otherwise."""
    rate = events.loss_rate(log)
    per_minute = 60 * (len(events.bursts) + len(events.stops)) / log.duration_s
    if rate < MANY_LOST or per_minute < BUSY_PER_MINUTE or log.least_s > NEAR_S:
        return None
    sizes: Reals = np.concatenate((events.bursts.size_s, events.stops.size_s))
    return Finding(
        "busy",
        f"The channel is busy, or the driver stalls: {format_percent(100 * rate, decimals=0)} of "
        f"the probes are lost, and {per_minute:.0f} times a minute the delay jumps, by "
        f"{span_words(float(np.median(sizes)))} in the median, on a link of "
        f"{1e3 * log.least_s:.2g} ms (if you sent nothing else meanwhile).",
        1.0,
        RADIO_ADVICE,
    )


def nothing_wrong(log: PingLog) -> str:
    """The first sentence on a log without a finding."""
    high = span_words(float(np.quantile(log.answered, 0.99)))
    lost = "all are" if not log.lost else f"all but {format_count(log.lost)} are"
    return (
        f"Nothing is wrong in this log: of {format_count(log.sent)} probes in "
        f"{span_words(log.duration_s)} {lost} answered, 99 % within {high}."
    )
