"""The tables of a diagnosis."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from airtcp.comparison.ranking import State
from airtcp.core.quantities import format_bit_rate, format_bytes, format_count, format_percent
from airtcp.diagnosis.air import Air
from airtcp.diagnosis.capture import SHARES, Facts
from airtcp.diagnosis.link import FittedLink
from airtcp.diagnosis.link_words import aqm_delay
from airtcp.diagnosis.observed import Reals
from airtcp.diagnosis.phases import PhaseLabel
from airtcp.diagnosis.tables import Bin, Flow, Labels
from airtcp.diagnosis.trials import Trials
from airtcp.diagnosis.words import CAUSES, change, interval
from airtcp.pages.tables import Table

_STRETCHES = 12
_MAX_PAIRS = 30


def flows_table(flows: Sequence[Flow]) -> Table:
    """The flows, one row each."""
    rows = [
        (
            str(one.number),
            f"{one.client} \N{LEFT RIGHT ARROW} {one.server}",
            one.verdict,
            format_bytes(one.bytes),
            f"{one.duration_s:.1f} s",
            format_bit_rate(one.goodput_bps),
        )
        for one in flows
    ]
    return Table(("flow", "ends", "verdict", "bytes", "time", "goodput"), rows, 3)


def air_table(air: Air) -> Table:
    """Airtime by transmitter, largest first."""
    rows = [
        (
            one.transmitter,
            one.receiver,
            f"{100 * air.share(one):.1f} %",
            format_bytes(one.data_bytes),
            "" if one.mean_rate_bps is None else format_bit_rate(one.mean_rate_bps),
            f"{100 * one.retry_share:.1f} %",
            f"{one.frames_a_ppdu:.1f}",
        )
        for one in air.pairs[:_MAX_PAIRS]
    ]
    heads = ("from", "to", "airtime", "data", "mean rate", "retries", "frames a transmission")
    return Table(heads, rows, 2)


def trials_table(trials: Trials, *, excluded: bool | None = None) -> Table:
    """The remedies with their effect and costs, the best first.

    Args:
        trials: the trials.
        excluded: only the remedies without a worthwhile effect, or all others; None for all.
    """
    rows = []
    for one in trials.ranking.candidates:
        row = trials.of(one.remedy)
        is_excluded = one.state is State.EXCLUDED and not row.depends
        if excluded is not None and is_excluded is not excluded:
            continue
        if row.depends:
            shown = f"depends on {trials.open_point}"
        elif one.state is State.SHOWN:
            shown = "helps" if one.gain > 0 else "hurts"
        else:
            shown = one.state.value
        rows.append(
            (
                row.remedy,
                row.place,
                shown,
                interval(row.effect),
                format_bit_rate(row.goodput_bps),
                change(row.cost.retransmitted_points, 2),
                change(row.cost.timeouts, 1),
                f"{change(row.cost.srtt_ms, 0)} ms",
            )
        )
    heads = ("remedy", "at", "state", "goodput, 95 %", "mean", "resent, points", "timeouts", "RTT")
    return Table(heads, rows, 3)


def shares_table(facts: Facts) -> Table:
    """Shares of the time by limit of the flow."""
    rows = [
        (
            SHARES.get(name, name),
            format_percent(100 * share),
            f"{facts['seconds'][name]:.2f} s",
        )
        for name, share in facts["shares"].items()
    ]
    return Table(("limited by", "share", "time"), rows)


def labels_table(labels: Labels) -> Table:
    """Retransmissions by cause, trigger and verdict."""
    kinds = (labels.cause, labels.trigger, labels.verdict, labels.sureness)
    counts = Counter(zip(*(kind.tolist() for kind in kinds), strict=True))
    rows = [
        (
            CAUSES.get(cause, cause),
            trigger,
            verdict,
            sureness,
            format_count(count),
        )
        for (cause, trigger, verdict, sureness), count in sorted(
            counts.items(), key=lambda item: (-item[1], item[0])
        )
    ]
    return Table(("cause", "trigger", "verdict", "evidence", "retransmissions"), rows, 4)


def round_trips_table(seconds: Reals, rtts_s: Reals) -> Table:
    """Quantiles of the round trip in stretches of the flow."""
    known = np.isfinite(rtts_s)
    seconds, rtts_s = seconds[known], rtts_s[known]
    edges = np.linspace(seconds[0], seconds[-1], _STRETCHES + 1)
    place = np.clip(np.searchsorted(edges, seconds, side="right") - 1, 0, _STRETCHES - 1)
    rows = []
    for at in np.unique(place):
        quantiles = np.quantile(1e3 * rtts_s[place == at], (0.0, 0.5, 0.95, 1.0))
        shown = tuple(f"{value:.1f} ms" for value in quantiles)
        rows.append((f"{edges[at]:.1f} to {edges[at + 1]:.1f} s", *shown))
    return Table(("time", "shortest", "median", "95 %", "longest"), rows)


def hazard_table(hazard: Sequence[Bin]) -> Table:
    """Losses by the queue length that a packet met."""
    rows = [
        (
            format_bytes(one.queue_bytes_low),
            format_count(one.transmissions),
            format_count(one.lost),
            format_percent(100 * one.lost / one.transmissions, decimals=2)
            if one.transmissions
            else "none",
        )
        for one in hazard
    ]
    return Table(("queued before it, at least", "transmissions", "lost", "share"), rows)


def phases_table(phases: Sequence[PhaseLabel]) -> Table:
    """The phases of a path that changes, in order."""
    rows = [
        (
            f"{one.from_s:.1f} to {one.until_s:.1f} s",
            f"{1e3 * one.base_rtt_s:.1f} ms",
            "" if one.median_rtt_s is None else f"{1e3 * one.median_rtt_s:.1f} ms",
            format_bit_rate(one.rate_bps),
            format_bit_rate(one.goodput_bps),
            f"{format_count(one.lost)} of {format_count(one.sent)}",
            one.limit,
        )
        for one in phases
    ]
    heads = (
        "phase",
        "base round trip",
        "median",
        "rate, at least",
        "goodput",
        "lost",
        "limit",
    )
    return Table(heads, rows, 1)


def link_table(link: FittedLink) -> Table:
    """The fitted link, one row per part."""
    rate = format_bit_rate(link.bps)
    if link.rate.bounds is not None:
        rate = " to ".join(format_bit_rate(bps) for bps in link.rate.bounds)
    elif link.rate.steps is not None:
        rate = f"recorded, {rate} in the mean"
    if link.wifi is not None:
        return Table(
            ("part", "fitted"),
            [
                ("Wi-Fi", link.wifi.words),
                *(("or", one.words) for one in link.wifi_alike if one != link.wifi),
                ("base round trip", f"{1e3 * link.base_rtt_s:.2f} ms"),
            ],
            2,
        )
    low, high = link.loss.interval
    rows = [
        ("rate", rate),
        ("base round trip", f"{1e3 * link.base_rtt_s:.2f} ms"),
        ("delay each way", f"{1e3 * link.delay_s:.2f} ms"),
        ("queue", f"{'' if link.queue.is_known else 'at least '}{link.queue.packets} packets"),
        (
            "loss",
            f"{100 * link.loss.rate:.3g} % ({100 * low:.2g} to {100 * high:.2g} %), "
            f"{format_count(link.loss.lost)} of {format_count(link.loss.sent)}",
        ),
    ]
    policer = link.drops.policer
    if policer is not None:
        burst = format_bytes(policer.burst_bytes)
        rows.append(("policer", f"{format_bit_rate(policer.bps)}, burst {burst}"))
    if link.drops.aqm_target_s is not None:
        does = "marks" if link.drops.marks else "drops"
        rows.append(("AQM", f"{does} above {aqm_delay(link.drops)} of delay"))
    if link.late is not None:
        rows.append(("late", link.late.words))
    if link.loss.bursts is not None:
        bursts = link.loss.bursts
        rows.append(
            (
                "bursts",
                f"good to bad {bursts.good_to_bad:.2g}, back {bursts.bad_to_good:.2g}, "
                f"loss in bad {bursts.loss_in_bad:.2g}",
            )
        )
    stops = link.stops
    if stops.stops:
        rows.append(
            (
                "stops",
                f"{len(stops.stops)}, {stops.mean_length_s:.3g} s each in the mean, "
                f"{'held and released at once' if stops.are_held else 'packets wait'}",
            )
        )
    return Table(("part", "fitted"), rows, 2)
