"""A flow over a queue, written as plainly as can be: the reference for fits of a link."""

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from airtcp.diagnosis.observed import Observed

PAYLOAD = 1448
SIZE = 1500


@dataclass(frozen=True)
class Link:
    """A rate, a delay, a queue, its losses and its stops."""

    rate_bps: float = 10e6
    delay_s: float = 0.025
    queue: int = 100
    lost: frozenset[int] = frozenset()
    """Packets by number that are lost after the queue."""
    stops: tuple[tuple[float, float], ...] = ()
    slow: tuple[float, float, float] | None = None
    """Period, the part of it at its end in which the link is slow, and the rate it has then."""
    jitter_s: float = 0.0
    """Mean of an exponential delay of each packet after the link, which keeps the order."""


def flow_over(link: Link, seconds: float, interval_s: float) -> Observed:
    """A packet every `interval_s`, each acknowledged at once; nothing is retransmitted.

    An open loop: whatever the link does, the next packet leaves at its time.
    """
    later = np.random.default_rng(1).exponential(link.jitter_s, int(seconds / interval_s) + 1)
    sent = np.arange(0.0, seconds, interval_s)
    acked = np.full(len(sent), np.nan)
    lost = np.zeros(len(sent), dtype=np.bool_)
    dropped = np.zeros(len(sent), dtype=np.bool_)
    full = np.zeros(len(sent), dtype=np.bool_)
    leaves: list[float] = []
    latest = 0.0
    for number, now in enumerate(sent):
        waiting = len(leaves) - bisect_right(leaves, now)
        full[number] = waiting >= link.queue - 1
        if waiting > link.queue:
            lost[number] = dropped[number] = True
            continue
        begin = max(now, leaves[-1] if leaves else 0.0)
        packet_s = 8.0 * SIZE / _rate_at(link, begin)
        for start, length in link.stops:
            if start - packet_s < begin < start + length:
                begin = start + length
        leaves.append(begin + packet_s)
        if number in link.lost:
            lost[number] = True
            continue
        latest = max(latest, leaves[-1] + float(later[number]))
        acked[number] = latest + 2 * link.delay_s
    arrived = np.flatnonzero(np.isfinite(acked))
    return Observed(
        sent_s=sent,
        size=np.full(len(sent), float(SIZE)),
        payload=np.full(len(sent), float(PAYLOAD)),
        start=np.arange(len(sent)) * float(PAYLOAD),
        attempt=np.zeros(len(sent), dtype=np.int64),
        lost=lost,
        dropped=dropped,
        full=full & dropped.any(),
        acked_s=acked,
        rtt_s=acked - sent,
        ack_s=acked[arrived],
        newly=np.full(len(arrived), float(PAYLOAD)),
    )


def _rate_at(link: Link, now: float) -> float:
    if link.slow is None:
        return link.rate_bps
    period, part, bps = link.slow
    return bps if now % period >= period - part else link.rate_bps
