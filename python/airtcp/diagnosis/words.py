"""A diagnosis in plain sentences."""

from collections.abc import Mapping, Sequence

import polars as pl

from airtcp.diagnosis.capture import SHARES, Facts
from airtcp.diagnosis.ceiling import Ceiling
from airtcp.diagnosis.check import Prediction, Replay
from airtcp.diagnosis.link import FittedLink
from airtcp.diagnosis.trials import WORTH_PERCENT, Effect, Trial, Trials
from airtcp.quantities import format_bit_rate, format_count, format_percent
from airtcp.ranking.candidate import LARGE_HARM_PERCENT
from airtcp.study.statistics import Outcome, PairedDifference

CAUSES = {
    "delay-spike": "a delay spike",
    "reordering": "reordering",
    "radio": "the radio",
    "tail-drop": "a full queue",
    "tail-of-flight": "a lost tail of a flight",
    "lost-retransmission": "a lost retransmission",
    "not-shown": "a cause that is not shown",
}
ENDS_SHARE = 0.1
"""What one end held back for a smaller share of the time explains nothing."""


def headline(
    ceiling: Ceiling | None,
    trials: Trials | None,
    refusals: Sequence[str],
    harm: PairedDifference | None = None,
) -> str:
    """The one sentence that a user came for."""
    if ceiling is not None and ceiling.is_reached:
        return (
            f"Of {format_bit_rate(ceiling.goodput_bps)} at most "
            f"{format_bit_rate(ceiling.most_bps)} are possible: no remedy is worth it."
        )
    if trials is None:
        return f"No remedy is recommended: {refusals[0]}" if refusals else "No remedy was tried."
    best = trials.winner
    possible = ""
    if ceiling is not None:
        possible = (
            f"Of {format_bit_rate(ceiling.most_bps)} that are possible the flow has "
            f"{format_bit_rate(ceiling.goodput_bps)}. "
        )
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
    rate = format_bit_rate(link.bps)
    if link.rate.why_refused:
        parts = [f"at least {rate}"]
    elif link.rate.steps is not None:
        parts = [
            f"a rate that varies, {rate} in the mean "
            f"(interpolated for {format_percent(100 * link.rate.interpolated, decimals=0)} of the "
            "time)"
        ]
    else:
        parts = [rate]
    parts.append(f"{1e3 * link.base_rtt_s:.1f} ms of base round trip")
    least = "" if link.queue.is_known else "at least "
    parts.append(f"a queue of {least}{link.queue.packets} packets")
    parts.append(_loss_words(link))
    stops = link.stops
    if stops.stops:
        times = len(stops.stops)
        how = "held and released at once" if stops.are_held else "packets waiting"
        parts.append(
            f"{times} {'stop' if times == 1 else 'stops'} of {stops.mean_length_s:.2f} s in the "
            f"mean ({'periodic, ' if stops.is_periodic else ''}{how})"
        )
    return f"The link: {'; '.join(parts)}."


def _loss_words(link: FittedLink) -> str:
    loss = link.loss
    if not loss.lost:
        return "no losses beside the queue's"
    low, high = loss.interval
    shown = f"{100 * loss.rate:.2g} % lost ({100 * low:.2g} to {100 * high:.2g} %)"
    if loss.bursts is None:
        return f"{shown}, independently"
    return f"{shown}, in bursts of {1 / loss.bursts.bad_to_good:.1f} packets"


def replay_words(replay: Replay) -> str:
    """The link gives the capture back."""
    parts = [
        f"{name} {format_percent(100 * off, sign=True)}" for name, off in replay.deviations.items()
    ]
    parts.append(
        f"timeouts {format_count(replay.simulated.timeouts)} for "
        f"{format_count(replay.capture.timeouts)}"
    )
    outcome = "gives the capture back" if replay.explains else "does not explain the capture"
    return (
        f"Played back under {replay.profile} with the same stops and losses, this link {outcome}: "
        f"{', '.join(parts)}."
    )


def prediction_words(predictions: Sequence[Prediction]) -> str:
    """The capture beside the draws of the process."""
    missed = [one for one in predictions if not one.holds]
    if not missed:
        return "As a process it does, too: the capture lies in the 95 % interval of 20 seeds."
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
