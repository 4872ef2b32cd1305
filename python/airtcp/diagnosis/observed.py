"""One flow as its sender's capture shows it, in arrays that fits are made from."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]

FLOOR_S = 0.004
"""A queueing delay below this, or below 2.5 packets, could be the hosts' own delay."""


@dataclass(frozen=True)
class Observed:
    """Data transmissions and acknowledgments of a flow, times in seconds from the first packet.

    A transmission that was never acknowledged, or has no unambiguous round trip, has NaN there.
    """

    sent_s: Reals
    size: Reals
    """IP bytes of each transmission."""
    payload: Reals
    start: Reals
    """Offset of its first byte."""
    attempt: NDArray[np.int64]
    """0 for an original, then 1, 2, … for its retransmissions."""
    lost: Flags
    dropped: Flags
    """Those of the lost that a full queue dropped."""
    full: Flags
    """Those that met a queue so long that a loss would be taken for the queue's."""
    acked_s: Reals
    rtt_s: Reals
    ack_s: Reals
    """Arrival of each acknowledgment."""
    newly: Reals
    """Payload bytes that it was the first to report, cumulatively or selectively."""
    phases: tuple[tuple[float, float], ...] = ()
    """Beginnings of the path's phases and their shortest round trips; empty where it has one."""
    beside: "tuple[Observed, ...]" = ()
    """Other flows of the capture that share the link, as far as they show that they do."""

    @cached_property
    def base_rtt_s(self) -> float:
        """The round trip without a queue: the shortest, since nothing comes before its time.

        A quantile would be too long on a link whose queue drains but at the very start.
        """
        return float(np.nanmin(self.rtt_s))

    @cached_property
    def bases_s(self) -> Reals:
        """The shortest round trip of the path that each transmission took."""
        if not self.phases:
            return np.full(len(self.sent_s), self.base_rtt_s)
        begins, bases = (np.array(column) for column in zip(*self.phases, strict=True))
        at = np.maximum(np.searchsorted(begins, self.sent_s, side="right") - 1, 0)
        # Nothing comes before its time: what does belongs to the next phase.
        known: Reals = np.fmin(bases[at], self.rtt_s)
        return known

    @cached_property
    def overhead(self) -> float:
        """IP bytes to a byte of payload, of full segments."""
        full = self.payload >= np.quantile(self.payload, 0.9)
        return float(self.size[full].sum() / self.payload[full].sum())

    @cached_property
    def full_size(self) -> float:
        """IP bytes of a full segment."""
        return float(np.quantile(self.size, 0.9))

    @cached_property
    def delivered(self) -> Reals:
        """IP bytes that had been reported when each acknowledgment came."""
        total: Reals = np.cumsum(self.newly) * self.overhead
        return total

    @cached_property
    def _reports(self) -> tuple[Reals, Reals]:
        flows = (self, *self.beside)
        times = np.concatenate([one.ack_s for one in flows])
        bytes_ = np.concatenate([one.newly * one.overhead for one in flows])
        order = np.argsort(times, kind="stable")
        return times[order], np.cumsum(bytes_[order])

    @property
    def link_ack_s(self) -> Reals:
        """Arrival of each acknowledgment of any flow that shares the link."""
        return self._reports[0]

    @property
    def link_delivered(self) -> Reals:
        """IP bytes that the link had delivered to any of them by each of those."""
        return self._reports[1]

    @property
    def link_share(self) -> float:
        """This flow's share of what the link delivered while it sent."""
        if not self.beside:
            return 1.0
        ends = np.interp((self.begun_s, self.ended_s), self.link_ack_s, self.link_delivered)
        whole = float(ends[1] - ends[0])
        return float(self.delivered[-1]) / whole if whole > 0 else 1.0

    @cached_property
    def sampled(self) -> Flags:
        """Transmissions that have a round trip."""
        has: Flags = np.isfinite(self.rtt_s)
        return has

    @cached_property
    def shows_link(self) -> Flags:
        """Transmissions whose fate is the link's: at a full queue losses are not told apart."""
        told: Flags = ~(self.dropped | self.full)
        return told

    @property
    def begun_s(self) -> float:
        """Departure of the first data."""
        return float(self.sent_s[0])

    @property
    def ended_s(self) -> float:
        """The last departure or acknowledgment of data."""
        return float(max(self.sent_s[-1], self.ack_s[-1]))

    @property
    def seconds(self) -> float:
        """From the first data to the last acknowledgment."""
        return self.ended_s - self.begun_s

    @property
    def goodput_bps(self) -> float:
        """Payload bits a second over that time."""
        return 8.0 * float(self.newly.sum()) / self.seconds if self.seconds > 0 else 0.0

    @cached_property
    def queueing_s(self) -> Reals:
        """Each transmission's delay beyond its path's; NaN where not known."""
        delay: Reals = self.rtt_s - self.bases_s
        return delay

    @cached_property
    def median_rtt_s(self) -> float:
        """The median round trip, one for each acknowledgment as senders measure them.

        Of the transmissions that an acknowledgment reports it is the oldest's (RFC 7323 §4.1).
        """
        known = np.flatnonzero(self.sampled)
        order = known[np.lexsort((self.sent_s[known], self.acked_s[known]))]
        first = np.flatnonzero(np.diff(self.acked_s[order], prepend=-1.0) > 0)
        return float(np.median(self.rtt_s[order[first]]))


def observed(
    segments: pl.DataFrame, acks: pl.DataFrame, phases: tuple[tuple[float, float], ...] = ()
) -> Observed:
    """The arrays of a capture's frames, which have a row at least each, and the path's phases."""
    acks = acks.sort("time_ns", maintain_order=True)
    return Observed(
        sent_s=_seconds(segments["time_ns"]),
        size=segments["size"].cast(pl.Float64).to_numpy(),
        payload=(segments["end"] - segments["start"]).cast(pl.Float64).to_numpy(),
        start=segments["start"].cast(pl.Float64).to_numpy(),
        attempt=segments["attempt"].cast(pl.Int64).to_numpy(),
        lost=segments["lost"].to_numpy(),
        dropped=segments["dropped"].to_numpy(),
        full=segments["full_queue"].to_numpy(),
        acked_s=_seconds(segments["acked_ns"]),
        rtt_s=_seconds(segments["rtt_ns"]),
        ack_s=_seconds(acks["time_ns"]),
        newly=acks["newly"].cast(pl.Float64).to_numpy(),
        phases=phases,
    )


def _seconds(nanoseconds: pl.Series) -> Reals:
    seconds: Reals = nanoseconds.cast(pl.Float64).to_numpy() / 1e9
    return seconds
