"""A fitted link in sentences."""

import math

from airtcp.core.quantities import format_bit_rate, format_bytes, format_count, format_percent
from airtcp.diagnosis.drops import WIDE, Drops
from airtcp.diagnosis.link import FittedLink
from airtcp.diagnosis.stops import StopProcess
from airtcp.diagnosis.wifi import Wifi

FEW_LOSSES = 30
"""Below this many losses the count is reported, too: their interval is wide."""
MANAGED_S = 0.03
"""Maximum delay of a full queue that may be an AQM: while the delay never exceeded it, the two look
alike.
"""


def link_words(link: FittedLink) -> str:
    """The fitted link in a sentence."""
    if link.wifi is not None:
        return _wifi_words(link, link.wifi)
    rate = format_bit_rate(link.bps)
    policer = link.drops.policer
    is_bounded = link.rate.source == "bounds"
    if policer is not None:
        parts = [
            f"a policer of {format_bit_rate(policer.bps)} with a burst of "
            f"{format_bytes(round(policer.burst_bytes))}, which drops and delays nothing"
        ]
    elif link.rate.bounds is not None and link.rate.steps is not None and not is_bounded:
        low, high = link.rate.bounds
        parts = [
            "a varying rate, which showed for only "
            f"{format_percent(100 * (1 - link.rate.interpolated), decimals=0)} of the time: "
            f"{format_bit_rate(low)} to {format_bit_rate(high)} on average (both were tried)"
        ]
    elif link.rate.bounds is not None:
        low, high = link.rate.bounds
        parts = [
            f"at least {format_bit_rate(low)}, since the flow hardly ever filled it (tried up to "
            f"{format_bit_rate(high)}; pass --rate if you know it)"
        ]
    elif link.rate.step is not None:
        step = link.rate.step
        parts = [
            f"{format_bit_rate(step.before_bps)}, and from {step.at_s:.0f} s on "
            f"{format_bit_rate(step.after_bps)}"
        ]
    elif link.rate.steps is not None:
        # A remaining capacity looks like a varying rate to the flow.
        varies = "the rate that others leave" if link.is_shared else "a varying rate"
        if not link.is_shared and link.beside is None:
            varies += ", or one shared with others"
        parts = [
            f"{varies}, {rate} on average "
            f"(interpolated for {format_percent(100 * link.rate.interpolated, decimals=0)} of the "
            "time)"
        ]
    else:
        parts = [rate]
    if link.beside is not None:
        share = format_percent(100 * link.beside.share, decimals=0)
        flows = "flow shares" if link.beside.flows == 1 else "flows share"
        who = (
            f"{link.beside.flows} other captured {flows} it, since their delays rise together"
            if link.beside.is_seen
            else f"traffic that is not in the capture shares it, {link.beside.shown_by}"
        )
        parts.append(f"{who}: this flow gets {share} of the bytes that it delivers")
    if link.aggregates is not None:
        bursts = link.aggregates
        parts.append(
            f"delivered in bursts of {bursts.packets} packets every {1e3 * bursts.pause_s:.1f} ms, "
            "as by aggregation on Wi-Fi, cellular frames or jitter, and replayed at an even rate"
        )
    if link.phases:
        bases = ", ".join(f"{2e3 * delay_s:.0f}" for _, delay_s in link.phases)
        parts.append(f"a path that changes: base round trips of {bases} ms in turn")
    else:
        parts.append(f"{1e3 * link.base_rtt_s:.1f} ms of base round trip")
    if link.drops.marks:
        parts.append(
            f"a queue that marks packets in place of dropping them (AQM, played with "
            f"{aqm_delay(link.drops)} of delay)"
        )
    elif link.drops.aqm_target_s is not None and link.drops.discipline == "pie":
        parts.append("a queue that drops the more the longer its delay is (AQM, played as PIE)")
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
    if link.jitter is not None:
        parts.append(link.jitter.words)
    parts.append(_loss_words(link))
    stops = link.stops
    if stops.stops:
        times = len(stops.stops)
        how = "packets held and released at once" if stops.are_held else "packets queued meanwhile"
        if not stops.shows_release:
            how += ", by the replay: the capture itself does not show it"
        parts.append(
            f"{times} {'stop' if times == 1 else 'stops'} of {stops.mean_length_s:.2f} s on "
            f"average ({'periodic, ' if stops.is_periodic else ''}{how})"
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
    others = "other Wi-Fi link fits" if alike == 1 else "other Wi-Fi links fit"
    return (
        f"{said} {format_count(alike)} {others} as well, with the same goodput and delay, for "
        f"example {_other_wifi(link, wifi)}: only a capture of the radio's own frames tells them "
        "apart, and remedies are tried on all."
    )


def _other_wifi(link: FittedLink, wifi: Wifi) -> str:
    """Of the similar links, the one that differs most in its rate."""
    others = (one for one in link.wifi_alike if one != wifi)
    far = max(others, key=lambda one: abs(math.log(one.mode.bps / wifi.mode.bps)))
    return far.words.removeprefix("a Wi-Fi link that aggregates, as ")


def aqm_delay(drops: Drops) -> str:
    """The delay threshold of an AQM, as far as it is known."""
    target_s = drops.aqm_target_s or 0.0
    low, high = drops.aqm_bounds_s or (target_s, target_s)
    if high <= WIDE * low:
        return f"{1e3 * high:.0f} ms"
    return (
        f"some threshold from {1e3 * low:.0f} to {1e3 * high:.0f} ms "
        f"(played with {1e3 * target_s:.0f} ms)"
    )


def few_stops(process: StopProcess) -> str:
    """The uncertainty that a small number of stops leaves."""
    seen = len(process.stops)
    low, high = process.often
    return (
        f"The link stopped {'once' if seen == 1 else f'{seen} times'}, too seldom to know how "
        f"often it does: remedies are tried on links that stop {low:.0f} to {high:.0f} times in as "
        "long."
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
    packets = 1 / loss.bursts.bad_to_good if loss.bursts.bad_to_good > 0 else loss.sent
    return f"{shown}, in bursts of {packets:.1f} packets"
