"""Packets that come late on a link that keeps the order else, so that others overtake them."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from airtcp.diagnosis.observed import Observed, Reals
from airtcp.quantities import format_percent

FEWEST = 5
"""Fewer tell neither how many are late nor by how much."""
MIN_S = 0.004
"""Hosts that handle several packets at once let some overtake others by less."""
SPREAD = 0.2
"""Where the middle half of the delays lies farther from their median than this share of it, there
is no one delay: that is jitter."""
ANSWERED_SHARE = 0.9
"""A retransmission that is answered after this share of a round trip was answered itself, and what
it repeated came later still: the D-SACK tells when."""


@dataclass(frozen=True)
class Late:
    """The share of the packets that come later, and by how much."""

    share: float
    by_s: float

    @property
    def words(self) -> str:
        """As part of a sentence."""
        share = format_percent(100 * self.share, decimals=1)
        return f"{share} of the packets come {1e3 * self.by_s:.0f} ms late, behind others"


def fitted_late(flow: Observed, labels: pl.DataFrame, acks: pl.DataFrame) -> Late | None:
    """The late packets of a flow; None where there are few, or they differ in their delay."""
    delays = np.concatenate([overtaken_by(flow), _repaired(flow, labels, acks)])
    if len(delays) < FEWEST:
        return None
    low, median, high = (float(one) for one in np.quantile(delays, (0.25, 0.5, 0.75)))
    if max(median - low, high - median) > SPREAD * median:
        return None
    return Late(len(delays) / len(flow.sent_s), median)


def overtaken_by(flow: Observed) -> Reals:
    """By how much those came late that were reported after what left behind them."""
    once = ~np.isin(flow.start, flow.start[flow.attempt > 0])
    came = flow.acked_s[once & np.isfinite(flow.acked_s)]
    if len(came) < 2:
        return np.array([])
    first_behind = np.minimum.accumulate(came[::-1])[::-1]
    delays: Reals = came[:-1] - first_behind[1:]
    return delays[delays > MIN_S]


def _repaired(flow: Observed, labels: pl.DataFrame, acks: pl.DataFrame) -> Reals:
    """The same of those that were retransmitted meanwhile."""
    if not len(labels):
        return np.array([])
    needless = labels.filter((pl.col("cause") == "reordering") & pl.col("late_ns").is_not_null())
    dsacks = acks.filter(pl.col("dsack"))["time_ns"].to_numpy() / 1e9
    delays = []
    sent_of = {
        (start, attempt): sent
        for start, attempt, sent in zip(
            flow.start.tolist(), flow.attempt.tolist(), flow.sent_s.tolist(), strict=True
        )
    }
    rows = needless.select("start", "attempt", "time_ns", "late_ns").iter_rows()
    for start, attempt, time_ns, late_ns in rows:
        sent = sent_of.get((float(start), attempt - 1))
        if sent is None:
            continue
        came = (time_ns + late_ns) / 1e9
        if late_ns / 1e9 > ANSWERED_SHARE * flow.base_rtt_s:
            behind = int(np.searchsorted(dsacks, came, side="right"))
            if behind == len(dsacks):
                continue
            came = float(dsacks[behind])
        delays.append(came - sent - flow.median_rtt_s)
    found = np.array(delays, dtype=np.float64)
    return found[found > MIN_S]
