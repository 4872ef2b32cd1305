"""A diagnosis in plain sentences."""

from collections import Counter
from collections.abc import Sequence

from airtcp.comparison.ranking import Aim
from airtcp.comparison.ranking.harm import LARGE_HARM_PERCENT
from airtcp.comparison.statistics import Outcome, PairedDifference
from airtcp.core.quantities import (
    format_bit_rate,
    format_bytes,
    format_count,
    format_part,
    format_percent,
)
from airtcp.diagnosis.capture import SHARES, Facts
from airtcp.diagnosis.ceiling import Ceiling
from airtcp.diagnosis.latency import Latency
from airtcp.diagnosis.limits import OTHERS
from airtcp.diagnosis.seconds import seconds_words
from airtcp.diagnosis.tables import Labels
from airtcp.diagnosis.trials import Effect, Trial, Trials

OUTDATED = "jitter or a full queue"
CAUSES = {
    "delay-spike": "a delay spike",
    "reordering": "reordering",
    "lost-acks": "lost acknowledgments",
    "crowded-acks": "acknowledgments without room for every gap",
    "radio": "the radio",
    "tail-drop": "a full queue",
    "aqm": "a queue that keeps its delay short",
    "policer": "a policer",
    "queue-or-radio": "a queue or the radio",
    "tail-of-flight": "a lost tail of a flight",
    "lost-retransmission": "a lost retransmission",
    "not-shown": "unknown",
}
UNDER_JITTER = {"radio": OUTDATED, "queue-or-radio": OUTDATED}
UNASKED = "No remedies were tried (pass --can to try them)."
MAX_LIMITS = 2
"""Maximum number of limits in the first sentence; more are left to the following ones."""


def headline(
    ceiling: Ceiling | None,
    trials: Trials | None,
    refusals: Sequence[str],
    harm: PairedDifference | None = None,
    waits: Latency | None = None,
    limits: Sequence[str] = (),
    aim: Aim = Aim.BULK,
    seen: Sequence[str] = (),
    untried: str = "",
) -> str:
    """The one-sentence answer, including the limits of the flow.

    A reason to distrust the link precedes all conclusions from it; limits that the capture shows
    without a fit (`seen`) come first. `untried` is why there are no trials that were asked for.
    """
    if refusals:
        found = _listed(seen[:MAX_LIMITS])
        cause = f"{found[0].upper()}{found[1:]}. " if found else ""
        return f"{cause}No remedy is recommended: {refusals[0]}"
    if trials is None and not untried:
        told = [] if ceiling is not None and ceiling.is_reached else [UNASKED]
        return " ".join([*_of_goodput(ceiling, waits, limits), *told])
    facts = before_trials(ceiling, waits, limits, aim)
    if trials is None:
        told = [untried]
    elif _is_of_waits(aim, waits):
        told = [_calmed(trials)]
    elif ceiling is not None and ceiling.is_reached:
        told = [_calmed(trials)] if waits and waits.is_large else []
    else:
        told = [_best_words(trials, ceiling, harm)]
    return " ".join([*facts, *told])


def before_trials(
    ceiling: Ceiling | None, waits: Latency | None, limits: Sequence[str], aim: Aim
) -> list[str]:
    """The first sentences of :func:`headline`, which no trial changes: goodput and limits.

    For an aim of latency it is how long data waits.
    """
    if waits is not None and _is_of_waits(aim, waits):
        waiting = _waiting(waits)
        return [f"{waiting[0].upper()}{waiting[1:]}."]
    return _of_goodput(ceiling, waits, limits)


def _of_goodput(ceiling: Ceiling | None, waits: Latency | None, limits: Sequence[str]) -> list[str]:
    """The goodput, the limits, and how long data waits if the link is full."""
    if ceiling is None:
        return []
    has, named = _has(ceiling, is_reached=ceiling.is_reached), _named(ceiling, limits)
    if ceiling.is_reached:
        return [_full(has, named, _waiting(waits) if waits and waits.is_large else "")]
    return [f"{has[0].upper()}{has[1:]}{f': {named}' if named else ''}."]


def _is_of_waits(aim: Aim, waits: Latency | None) -> bool:
    """Whether the asker's first question is how long data waits, and that was measured."""
    return aim in (Aim.LATENCY, Aim.CALLS) and waits is not None


def _named(ceiling: Ceiling | None, limits: Sequence[str]) -> str:
    """The limits as part of a sentence."""
    if ceiling is not None and ceiling.is_shared:
        # Already mentioned with the rate.
        limits = [one for one in limits if one != OTHERS]
    return _listed(limits[:MAX_LIMITS])


def _full(has: str, named: str, waiting: str) -> str:
    """The sentence on a link that is full, with its limits; brackets are not nested."""
    begins = f"{has[0].upper()}{has[1:]}"
    if "(" in named and waiting:
        return f"The link is full, and {has}: {named}. But data waits: {waiting}."
    if "(" in named:
        return f"{begins}: {named}. No remedy is worth deploying."
    if waiting:
        return (
            f"The link is full ({has}{f': {named}' if named else ''}), but data waits: {waiting}."
        )
    return f"{begins}{f' ({named})' if named else ''}: no remedy is worth deploying."


def _has(ceiling: Ceiling, *, is_reached: bool) -> str:
    """The goodput of the flow and its upper bound, as a clause."""
    if not ceiling.is_known and not is_reached:
        rate = format_bit_rate(ceiling.goodput_bps)
        return f"the flow gets {rate}; the capacity of the link does not show"
    of_most = format_part(ceiling.goodput_bps, ceiling.most_bps)
    if ceiling.is_shared:
        already = "already " if is_reached else ""
        return f"others use the link, too, and the flow {already}gets {of_most} that they leave"
    return f"the flow {'already ' if is_reached else ''}gets {of_most}"


def _best_words(trials: Trials, ceiling: Ceiling | None, harm: PairedDifference | None) -> str:
    """The effects of the remedies, within the gain that the link permits."""
    best = trials.winner
    if best is not None:
        return (
            f"{best.remedy} at the {best.place} brings {_within(best, trials, ceiling)}"
            f"{harm_clause(harm)}."
        )
    reach = trials.reach
    where = "" if reach.is_all else f" at {reach.words}"
    if trials.ranking.nothing_helps:
        return f"Nothing{where} helps: no remedy brings {trials.worth_percent:g} % or more."
    open_ones = ", ".join(
        f"{one.remedy} ({interval(trials.of(one.remedy).effect)})"
        for one in trials.ranking.undecided[:3]
    )
    undecided = f"; undecided: {open_ones}" if open_ones else ""
    return f"No remedy{where} is shown to help{undecided}."


def _within(row: Trial, trials: Trials, ceiling: Ceiling | None) -> str:
    """A gain in words; if the link's rate did not show, its lower bound."""
    whole = f"{interval(row.effect)} of goodput"
    if ceiling is None or ceiling.is_known or len(row.at_ends) < 2:
        return whole
    least = min(row.at_ends, key=lambda one: one.percent)
    most = max(one.percent for one in row.at_ends)
    if most - least.percent <= trials.worth_percent:
        return whole
    return f"{interval(least)} of goodput at least, more if the link has more"


def _listed(parts: Sequence[str]) -> str:
    """Two or more parts of a sentence, joined."""
    return ", and ".join(parts)


def _waiting(waits: Latency) -> str:
    return (
        f"its round trip is {seconds_words(waits.base_s)} without a queue, and "
        f"{seconds_words(waits.median_s)} in the median while sending"
    )


def _calmed(trials: Trials) -> str:
    """The remedy that shortens the round trip."""
    calm = trials.calmest
    where = "" if trials.reach.is_all else f" at {trials.reach.words}"
    if calm is None:
        return f"No remedy{where} is shown to shorten it much for at most a tenth of the goodput."
    return (
        f"{calm.remedy} at the {calm.place} changes its 95th percentile by "
        f"{interval(calm.round_trip)}, and goodput by {interval(calm.effect)}."
    )


def calm_words(trials: Trials) -> str:
    """The remedy for latency in addition to another answer."""
    return f"Latency: {_calmed(trials)}"


def larger_with_harm(trials: Trials) -> list[str]:
    """The line of a remedy with a slightly larger effect that harms others much, or may."""
    larger = trials.ranking.larger_with_harm
    if larger is None or larger.harm is None:
        return []
    brings = f"{larger.remedy} brings {interval(trials.of(larger.remedy).effect)}, but"
    if larger.is_harm_open:
        return [f"{brings} its cost to an unchanged competing flow is undecided."]
    share = format_percent(-larger.harm, decimals=0)
    return [f"{brings} takes {share} of its goodput from an unchanged competing flow."]


def harm_clause(harm: PairedDifference | None) -> str:
    """The end of a headline for a remedy that harms others much; otherwise empty."""
    percent = None if harm is None else harm.mean_percent
    if harm is None or percent is None or harm.outcome is not Outcome.LOWER:
        return ""
    if percent > -LARGE_HARM_PERCENT:
        return ""
    return (
        f", but takes {format_percent(-percent, decimals=0)} of its goodput from an unchanged "
        "competing flow"
    )


def cut_short(trials: Trials) -> list[str]:
    """Reports that the processor time ended before every contender was measured."""
    if not trials.stopped:
        return []
    return [f"Not every remedy was decided: {trials.stopped} is used up."]


def other_places(trials: Trials) -> list[str]:
    """One line per place that the asker cannot change and that has a remedy."""
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


def retransmissions(
    facts: Facts, labels: Labels, *, is_lossless: bool = False, has_times: bool = True
) -> str:
    """Number of retransmissions, the needless ones among them, and their causes.

    `has_times`: without times no delay tells a full queue from the radio.

    `is_lossless`: the fitted link has jitter and loses nothing. Its delays hide which
    packets met a full queue, and a packet that comes after its repair is discarded as outdated.
    """
    count = len(labels)
    if count == 0:
        return "Nothing was retransmitted."
    sentence = (
        f"{format_count(count)} {'retransmission' if count == 1 else 'retransmissions'}, "
        f"{format_count(facts['needless'])} of them needless; {format_count(facts['timeouts'])} "
        f"{'timeout' if facts['timeouts'] == 1 else 'timeouts'}, "
        f"{format_count(facts['timeouts_spurious'])} of them spurious."
    )
    if not has_times:
        return f"{sentence} Without times their causes do not show."
    known = labels.cause.tolist()
    counts = Counter(UNDER_JITTER.get(one, one) for one in known) if is_lossless else Counter(known)
    if set(counts) == {"not-shown"}:
        return f"{sentence} Their causes do not show in this capture."
    causes = [
        f"{CAUSES.get(cause, cause)} ({format_count(number)})"
        for cause, number in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
    return f"{sentence} Causes: {', '.join(causes)}."


def other_way(facts: Facts) -> list[str]:
    """Losses on the return path and congestion marks; empty if neither shows."""
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
    """The monitor's counts of frames, in a monitor capture."""
    frames, retries = facts["radio_frames"]
    if not frames:
        return []
    return [
        f"On the air: {format_count(frames)} frames of TCP, {format_count(retries)} of them "
        f"retries ({format_percent(100 * retries / frames)}), of those that the monitor received."
    ]


def time_shares(facts: Facts, *, is_buffer: bool = False) -> str:
    """Shares of the time, the largest first; `is_buffer`: the send buffer limits the flow."""
    # A sender with a full buffer has as little to send as one with a slow application.
    names = SHARES | ({"application": "send buffer or application"} if is_buffer else {})
    seconds = facts["seconds"]
    shares = sorted(facts["shares"].items(), key=lambda item: -item[1])
    parts = [
        f"{names.get(name, name)} {format_percent(100 * share, decimals=0)} ({seconds[name]:.1f} s)"
        for name, share in shares
        if share >= 0.005
    ]
    return f"Of {sum(seconds.values()):.1f} s: {', '.join(parts)}."


def cost_words(row: Trial) -> str:
    """The costs of a remedy."""
    cost = row.cost
    return (
        f"{row.remedy} changes the share of retransmissions by "
        f"{change(cost.retransmitted_points, 2)} points, timeouts by {change(cost.timeouts, 1)} a "
        f"run and the smoothed round trip by {change(cost.srtt_ms, 0)} ms."
    )


def change(value: float, decimals: int) -> str:
    """A number with its sign; values that round to zero are 0."""
    rounded = round(value, decimals)
    if rounded == 0:
        return "0"
    return f"{rounded:+.{decimals}f}".replace("-", "\N{MINUS SIGN}")
