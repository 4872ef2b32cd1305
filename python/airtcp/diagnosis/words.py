"""A diagnosis in plain sentences."""

import math
from collections.abc import Mapping, Sequence

import polars as pl

from airtcp.diagnosis.capture import SHARES, Facts
from airtcp.diagnosis.ceiling import Ceiling
from airtcp.diagnosis.check import Prediction, Replay
from airtcp.diagnosis.drops import WIDE, Drops
from airtcp.diagnosis.latency import Latency
from airtcp.diagnosis.limits import ENDS_SHARE
from airtcp.diagnosis.link import FittedLink
from airtcp.diagnosis.stops import StopProcess
from airtcp.diagnosis.trials import WORTH_PERCENT, Effect, Trial, Trials
from airtcp.diagnosis.wifi import Wifi
from airtcp.quantities import format_bit_rate, format_bytes, format_count, format_percent
from airtcp.ranking.harm import LARGE_HARM_PERCENT
from airtcp.study.statistics import Outcome, PairedDifference

CAUSES = {
    "delay-spike": "a delay spike",
    "reordering": "reordering",
    "radio": "the radio",
    "tail-drop": "a full queue",
    "aqm": "a queue that keeps its delay short",
    "policer": "a policer",
    "queue-or-radio": "a queue or the radio",
    "tail-of-flight": "a lost tail of a flight",
    "lost-retransmission": "a lost retransmission",
    "not-shown": "a cause that is not shown",
}
FEW_LOSSES = 30
"""Fewer are said by their number, too: their interval is wide."""
MANAGED_S = 0.025
"""A full queue that delays by no more may be one that keeps its delay short: while nothing ever met
a longer one, the two look alike."""
MOST_LIMITS = 2
"""More are left to the sentences behind the first."""


def headline(
    ceiling: Ceiling | None,
    trials: Trials | None,
    refusals: Sequence[str],
    harm: PairedDifference | None = None,
    waits: Latency | None = None,
    limits: Sequence[str] = (),
) -> str:
    """The one sentence that a user came for, with what limits the flow in it.

    A reason not to trust the link comes before all that would be concluded from it.
    """
    if refusals:
        return f"No remedy is recommended: {refusals[0]}"
    why = f": {_listed(limits[:MOST_LIMITS])}" if limits else ""
    is_full = ceiling is not None and ceiling.is_reached
    if ceiling is not None and is_full and (waits is None or not waits.is_large):
        if ceiling.is_shared:
            return (
                f"Others use the link, too, and leave {format_bit_rate(ceiling.most_bps)} at most, "
                f"of which this flow has {format_bit_rate(ceiling.goodput_bps)}: no remedy is "
                "worth it."
            )
        given = f" ({_listed(limits[:MOST_LIMITS])})" if limits else ""
        return (
            f"Of {format_bit_rate(ceiling.goodput_bps)} at most "
            f"{format_bit_rate(ceiling.most_bps)} are possible{given}: no remedy is worth it."
        )
    if ceiling is not None and is_full and waits is not None:
        possible = (
            f"others use it, too, and leave {format_bit_rate(ceiling.most_bps)} at most, of which "
            f"this flow has {format_bit_rate(ceiling.goodput_bps)}"
            if ceiling.is_shared
            else f"of {format_bit_rate(ceiling.goodput_bps)} at most "
            f"{format_bit_rate(ceiling.most_bps)} are possible{why}"
        )
        return f"The link is full ({possible}), but data waits: {_waiting(waits)}{_calmed(trials)}."
    possible = ""
    if ceiling is not None and not ceiling.is_known:
        possible = (
            f"The flow has {format_bit_rate(ceiling.goodput_bps)}, of a link whose rate did not "
            f"show{why}. "
        )
    elif ceiling is not None:
        possible = (
            f"Of {format_bit_rate(ceiling.most_bps)} that are possible the flow has "
            f"{format_bit_rate(ceiling.goodput_bps)}{why}. "
        )
    if trials is None:
        return f"{possible}No remedy was tried: none was asked for."
    best = trials.winner
    if best is not None:
        brings = f"{best.remedy} at the {best.place} brings {interval(best.effect)} of goodput"
        return f"{possible}{brings}{harm_clause(harm)}."
    reach = trials.reach
    where = "" if reach.is_all else f" at {reach.words}"
    if trials.ranking.nothing_helps:
        return f"{possible}Nothing{where} helps: no remedy brings {WORTH_PERCENT:g} % or more."
    open_ones = ", ".join(
        f"{one.remedy} ({interval(trials.of(one.remedy).effect)})"
        for one in trials.ranking.undecided[:3]
    )
    undecided = f"; undecided: {open_ones}" if open_ones else ""
    return f"{possible}No remedy{where} is shown to help{undecided}."


def _listed(parts: Sequence[str]) -> str:
    """Two or more parts of a sentence as one."""
    return ", and ".join(parts)


def _waiting(waits: Latency) -> str:
    return (
        f"its round trip is {seconds_words(waits.base_s)} without a queue, and "
        f"{seconds_words(waits.median_s)} in the median while sending"
    )


def _calmed(trials: Trials | None) -> str:
    """What shortens the round trip, as the end of a sentence."""
    if trials is None:
        return ""
    calm = trials.calmest
    where = "" if trials.reach.is_all else f" at {trials.reach.words}"
    if calm is None:
        return (
            f". Nothing{where} is shown to shorten it much at no more than a tenth of the goodput"
        )
    return (
        f". {calm.remedy} at the {calm.place} changes the longest in twenty by "
        f"{interval(calm.round_trip)}, and goodput by {interval(calm.effect)}"
    )


def calm_words(trials: Trials) -> str:
    """The remedy for latency beside another answer."""
    return f"Latency{_calmed(trials).replace('. ', ': ', 1)}."


def larger_with_harm(trials: Trials) -> list[str]:
    """The line of a remedy that brings a little more, but harms others much, or may."""
    larger = trials.ranking.larger_with_harm
    if larger is None or larger.harm is None:
        return []
    brings = f"{larger.remedy} brings {interval(trials.of(larger.remedy).effect)}, but"
    if larger.is_harm_open:
        return [f"{brings} what it costs an unchanged flow on the same link is undecided."]
    share = format_percent(-larger.harm, decimals=0)
    return [f"{brings} takes {share} of its goodput from an unchanged flow beside it."]


def seconds_words(seconds: float) -> str:
    """A time as people say it."""
    return f"{seconds:.1f} s" if seconds >= 1.0 else f"{1e3 * seconds:.0f} ms"


def harm_clause(harm: PairedDifference | None) -> str:
    """The end of a headline whose remedy harms others much; else nothing."""
    percent = None if harm is None else harm.mean_percent
    if harm is None or percent is None or harm.outcome is not Outcome.LOWER:
        return ""
    if percent > -LARGE_HARM_PERCENT:
        return ""
    return (
        f", but takes {format_percent(-percent, decimals=0)} of its goodput from an unchanged "
        "flow beside it"
    )


def other_places(trials: Trials) -> list[str]:
    """A line for each place that the asker cannot change and that has a remedy."""
    return [
        f"{other.place}: {other.best.remedy} {interval(trials.of(other.best.remedy).effect)}."
        for other in trials.ranking.elsewhere
    ]


def interval(effect: Effect) -> str:
    """An effect with its interval: "+12 % (8 to 16 %)"."""
    decimals = 0 if effect.high - effect.low > 4 else 1
    low, high = (f"{value:.{decimals}f}" for value in (effect.low, effect.high))
    mean = format_percent(effect.percent, sign=True, decimals=decimals)
    return f"{mean} ({low} to {high} %)".replace("-", "\N{MINUS SIGN}")


def retransmissions(facts: Facts, labels: pl.DataFrame) -> str:
    """Their number, the needless among them, and their causes."""
    count = len(labels)
    if count == 0:
        return "Nothing was retransmitted."
    sentence = (
        f"{format_count(count)} {'retransmission' if count == 1 else 'retransmissions'}, "
        f"{format_count(facts['needless'])} of them needless; {format_count(facts['timeouts'])} "
        f"{'timeout' if facts['timeouts'] == 1 else 'timeouts'}, "
        f"{format_count(facts['timeouts_spurious'])} of them spurious."
    )
    counts = labels.group_by("cause").len().sort("len", "cause", descending=[True, False])
    causes = [
        f"{CAUSES.get(cause, cause)} ({format_count(number)})" for cause, number in counts.rows()
    ]
    return f"{sentence} Causes: {', '.join(causes)}."


def other_way(facts: Facts) -> list[str]:
    """What was lost on the way back, and what marks tell; nothing where neither shows."""
    lines = []
    lost = facts["acks_lost"]
    if lost:
        sent = facts["acks"] + lost
        lines.append(
            f"On the way back {format_count(lost)} of {format_count(sent)} acknowledgments were "
            f"lost ({format_percent(100 * lost / sent, decimals=1)}), by the receiver's numbering."
        )
    if facts["other_repeats"]:
        lines.append(
            f"The other direction sent {format_bytes(facts['other_bytes'])} and retransmitted "
            f"{format_count(facts['other_repeats'])} "
            f"{'packet' if facts['other_repeats'] == 1 else 'packets'}."
        )
    queues = facts["queues"]
    if queues["echoes"] or queues["marked"]:
        lines.append(
            f"A queue marks congestion in place of dropping (ECN): "
            f"{format_count(queues['marked'])} packets carry a mark here, "
            f"{format_count(queues['echoes'])} acknowledgments report one, and the sender slowed "
            f"down {format_count(queues['reductions'])} times."
        )
    return lines


def on_the_air(facts: Facts) -> list[str]:
    """What a radio's monitor saw, where one captured."""
    frames, retries = facts["radio_frames"]
    if not frames:
        return []
    return [
        f"On the air: {format_count(frames)} frames of TCP, {format_count(retries)} of them "
        f"retries ({format_percent(100 * retries / frames)}), as far as the monitor heard them."
    ]


def time_shares(facts: Facts) -> str:
    """Shares of the time, the largest first."""
    seconds = facts["seconds"]
    shares = sorted(facts["shares"].items(), key=lambda item: -item[1])
    parts = [
        f"{SHARES.get(name, name)} {format_percent(100 * share, decimals=0)} "
        f"({seconds[name]:.1f} s)"
        for name, share in shares
        if share >= 0.005
    ]
    return f"Of {sum(seconds.values()):.1f} s: {', '.join(parts)}."


def link_words(link: FittedLink) -> str:
    """The fitted link in a sentence."""
    if link.wifi is not None:
        return _wifi_words(link, link.wifi)
    rate = format_bit_rate(link.bps)
    policer = link.drops.policer
    if policer is not None:
        parts = [
            f"a policer of {format_bit_rate(policer.bps)} with a burst of "
            f"{format_bytes(round(policer.burst_bytes))}, which drops and delays nothing"
        ]
    elif link.rate.bounds is not None and link.rate.steps is not None:
        low, high = link.rate.bounds
        parts = [
            f"a rate that varies, and showed in "
            f"{format_percent(100 * (1 - link.rate.interpolated), decimals=0)} of the time alone: "
            f"from {format_bit_rate(low)} to {format_bit_rate(high)} in the mean (both were tried)"
        ]
    elif link.rate.bounds is not None:
        low, high = link.rate.bounds
        parts = [
            f"at least {format_bit_rate(low)}, hardly ever full (tried up to "
            f"{format_bit_rate(high)}; --rate says it where it is known)"
        ]
    elif link.rate.step is not None:
        step = link.rate.step
        parts = [
            f"{format_bit_rate(step.before_bps)}, and from {step.at_s:.0f} s on "
            f"{format_bit_rate(step.after_bps)}"
        ]
    elif link.rate.steps is not None:
        # What others take of a link looks like a rate that varies, to the flow that it is left to.
        varies = "what others leave of its rate" if link.is_shared else "a rate that varies"
        if not link.is_shared and link.beside is None:
            varies += ", or that others share"
        parts = [
            f"{varies}, {rate} in the mean "
            f"(interpolated for {format_percent(100 * link.rate.interpolated, decimals=0)} of the "
            "time)"
        ]
    else:
        parts = [rate]
    if link.beside is not None:
        share = format_percent(100 * link.beside.share, decimals=0)
        flows = "flow shares" if link.beside.flows == 1 else "flows share"
        who = (
            f"{link.beside.flows} other {flows} it, by their delays"
            if link.beside.is_seen
            else "traffic that is not in the capture shares it, by the gaps between packets"
        )
        parts.append(f"{who}: this flow has {share} of what it delivers")
    if link.aggregates is not None:
        bursts = link.aggregates
        parts.append(
            f"delivered in bursts of {bursts.packets} packets every {1e3 * bursts.pause_s:.1f} ms, "
            "as Wi-Fi that aggregates, a cellular frame or jitter does, and played as an even rate"
        )
    parts.append(f"{1e3 * link.base_rtt_s:.1f} ms of base round trip")
    if link.drops.marks:
        parts.append(
            f"a queue that marks packets in place of dropping them (AQM, played with "
            f"{aqm_delay(link.drops)} of delay)"
        )
    elif link.drops.aqm_target_s is not None:
        parts.append(f"a queue that drops above {aqm_delay(link.drops)} of delay (AQM)")
    elif policer is None:
        least = "" if link.queue.is_known else "at least "
        short = ""
        if link.queue.is_known and link.queue_s <= MANAGED_S:
            short = f", or one that keeps its delay at {1e3 * link.queue_s:.0f} ms (AQM)"
        parts.append(f"a queue of {least}{link.queue.packets} packets{short}")
    if link.late is not None:
        parts.append(link.late.words)
    parts.append(_loss_words(link))
    stops = link.stops
    if stops.stops:
        times = len(stops.stops)
        how = "held and released at once" if stops.are_held else "packets waiting"
        if not stops.shows_release:
            how += " by its replay, which the capture itself does not show"
        parts.append(
            f"{times} {'stop' if times == 1 else 'stops'} of {stops.mean_length_s:.2f} s in the "
            f"mean ({'periodic, ' if stops.is_periodic else ''}{how})"
        )
    return f"The link: {'; '.join(parts)}."


def _wifi_words(link: FittedLink, wifi: Wifi) -> str:
    bursts = link.aggregates
    seen = (
        ""
        if bursts is None
        else f" (bursts of {bursts.packets} packets every {1e3 * bursts.pause_s:.1f} ms)"
    )
    base = f"{1e3 * link.base_rtt_s:.1f} ms of base round trip"
    said = f"The link: {wifi.words}{seen}; {base}."
    alike = len(link.wifi_alike) - 1
    if alike < 1:
        return said
    bring = "other brings" if alike == 1 else "others bring"
    return (
        f"{said} {format_count(alike)} {bring} as much as late, among them "
        f"{_other_wifi(link, wifi)}: without the radio's own frames they are not told apart, and "
        "remedies are tried on all."
    )


def _other_wifi(link: FittedLink, wifi: Wifi) -> str:
    """The one of those alike that differs most in its rate."""
    others = (one for one in link.wifi_alike if one != wifi)
    far = max(others, key=lambda one: abs(math.log(one.mode.bps / wifi.mode.bps)))
    return far.words.removeprefix("a Wi-Fi link that aggregates, as ")


def aqm_delay(drops: Drops) -> str:
    """The delay above which a managed queue drops, as far as it is known."""
    target_s = drops.aqm_target_s or 0.0
    low, high = drops.aqm_bounds_s or (target_s, target_s)
    if high <= WIDE * low:
        return f"{1e3 * high:.0f} ms"
    return (
        f"some threshold from {1e3 * low:.0f} to {1e3 * high:.0f} ms "
        f"(played with {1e3 * target_s:.0f} ms)"
    )


def few_stops(process: StopProcess) -> str:
    """What few stops leave open."""
    seen = len(process.stops)
    low, high = process.often
    return (
        f"The link stopped {'once' if seen == 1 else f'{seen} times'}, which leaves open how often "
        f"it does: remedies are tried on links that stop {low:.0f} to {high:.0f} times in as long."
    )


def _loss_words(link: FittedLink) -> str:
    loss = link.loss
    if not loss.lost:
        return "no losses of its own"
    low, high = loss.interval
    shown = f"{100 * loss.rate:.2g} % lost ({100 * low:.2g} to {100 * high:.2g} %)"
    if loss.lost < FEW_LOSSES:
        shown += f", by {loss.lost} {'loss' if loss.lost == 1 else 'losses'}"
    if loss.bursts is None:
        return f"{shown}, independently"
    return f"{shown}, in bursts of {1 / loss.bursts.bad_to_good:.1f} packets"


def replay_words(replay: Replay, *, is_same: bool = True) -> str:
    """The link gives the capture back; `is_same` is with its own stops and losses."""
    parts = [
        f"{name} {format_percent(100 * off, sign=True)}" for name, off in replay.deviations.items()
    ]
    parts.append(
        f"timeouts {format_count(replay.simulated.timeouts)} for "
        f"{format_count(replay.capture.timeouts)}"
    )
    outcome = "gives" if replay.explains else "does not give"
    same = "with the same stops and losses, " if is_same else "as a process, "
    return (
        f"Played back under {replay.profile} {same}this link {outcome} the capture back: "
        f"{', '.join(parts)}."
    )


def prediction_words(predictions: Sequence[Prediction], *, is_replayed: bool = True) -> str:
    """The capture beside the draws of the process."""
    missed = [one for one in predictions if not one.holds]
    if not missed:
        does = "does, too" if is_replayed else "does"
        return f"As a process it {does}: the capture lies in the 95 % interval of 20 seeds."
    parts = ", ".join(
        f"{one.measure} {measured(one.measure, one.captured)}, expected "
        f"{measured(one.measure, one.low)} to {measured(one.measure, one.high)}"
        for one in missed
    )
    return f"As a process it does not: {parts}."


def measured(measure: str, value: float) -> str:
    """A value of a prediction in its unit."""
    match measure:
        case "goodput":
            return format_bit_rate(max(value, 0.0))
        case "median round trip":
            return f"{1e3 * value:.1f} ms"
        case _:
            return f"{max(value, 0.0):.0f}"


def cost_words(row: Trial) -> str:
    """The costs of a remedy."""
    cost = row.cost
    return (
        f"{row.remedy} changes the share of retransmissions by "
        f"{change(cost.retransmitted_points, 2)} points, timeouts by {change(cost.timeouts, 1)} a "
        f"run and the smoothed round trip by {change(cost.srtt_ms, 0)} ms."
    )


def change(value: float, decimals: int) -> str:
    """A number with its sign; what rounds to nothing is 0."""
    rounded = round(value, decimals)
    if rounded == 0:
        return "0"
    return f"{rounded:+.{decimals}f}".replace("-", "\N{MINUS SIGN}")


def not_played_back(shares: Mapping[str, float]) -> str:
    """What held the flow back and is at its ends, where a played-back link cannot have it."""
    limits = {"application": "the application", "receiver_window": "the receiver's window"}
    held = [
        f"{who} held it back for {100 * shares[key]:.0f} % of the time"
        for key, who in limits.items()
        if shares[key] > ENDS_SHARE
    ]
    if not held:
        return ""
    return (
        f" No link gives back that {' and '.join(held)}: capture a transfer that sends, and reads, "
        "as much as it can."
    )
