"""One flow from its sender's view, as arrays for the fits."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from airtcp.diagnosis.busy_back import BusyBack
from airtcp.diagnosis.tables import Acks, Segments

Reals = NDArray[np.float64]
Flags = NDArray[np.bool_]

FLOOR_S = 0.004
"""Minimum queueing delay, together with 2.5 packets; less could be the hosts' delay."""


@dataclass(frozen=True)
class Observed:
    """Data transmissions and acknowledgments of a flow, times in seconds from the first packet.

    Values that a transmission lacks, such as an unambiguous round trip, are NaN.
    """

    sent_s: Reals
    size: Reals
    """IP bytes of each transmission."""
    payload: Reals
    start: Reals
    """Stream offset of its first byte."""
    attempt: NDArray[np.int64]
    """0 for an original, then 1, 2, … for its retransmissions."""
    lost: Flags
    dropped: Flags
    """Lost transmissions dropped by a full queue."""
    full: Flags
    """Transmissions that met a queue so long that a loss would be attributed to it."""
    acked_s: Reals
    rtt_s: Reals
    ack_s: Reals
    """Arrival of each acknowledgment."""
    newly: Reals
    """Payload bytes that it was the first to report, cumulatively or selectively."""
    phases: tuple[tuple[float, float], ...] = ()
    """Start of the path's phases and their minimum round trips; empty with a single phase."""
    beside: "tuple[Observed, ...]" = ()
    """Other flows of the capture that share the link, as far as that shows."""
    busy_back: BusyBack | None = None
    """Captured data in the direction of the acknowledgments, if any."""

    @cached_property
    def base_rtt_s(self) -> float:
        """The round trip without a queue: the minimum, since no packet arrives early.

        A quantile would be too long on a link with a queue that is empty only at the start.
        """
        return float(np.nanmin(self.rtt_s))

    @cached_property
    def bases_s(self) -> Reals:
        """The minimum round trip of the path that each transmission took."""
        if not self.phases:
            return np.full(len(self.sent_s), self.base_rtt_s)
        begins, bases = (np.array(column) for column in zip(*self.phases, strict=True))
        at = np.maximum(np.searchsorted(begins, self.sent_s, side="right") - 1, 0)
        # No packet arrives early: one that seems to belongs to the next phase.
        known: Reals = np.fmin(bases[at], self.rtt_s)
        return known

    @cached_property
    def overhead(self) -> float:
        """Ratio of IP bytes to payload bytes, for full segments."""
        full = self.payload >= np.quantile(self.payload, 0.9)
        return float(self.size[full].sum() / self.payload[full].sum())

    @cached_property
    def full_size(self) -> float:
        """IP bytes of a full segment."""
        return float(np.quantile(self.size, 0.9))

    @cached_property
    def delivered(self) -> Reals:
        """IP bytes reported up to and including each acknowledgment."""
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
        """IP bytes delivered by the link to any of these flows, up to each such acknowledgment."""
        return self._reports[1]

    @property
    def link_share(self) -> float:
        """This flow's share of the link's delivery while it sent."""
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
        """Transmissions with a fate due to the link; at a full queue the cause is ambiguous."""
        told: Flags = ~(self.dropped | self.full)
        return told

    @cached_property
    def survived(self) -> Flags:
        """Originals that arrived although they were retransmitted, as after a spurious timeout."""
        again = np.isin(self.start, self.start[self.attempt > 0])
        arrived: Flags = again & (self.attempt == 0) & ~self.lost & np.isfinite(self.acked_s)
        return arrived

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
        """Time from the first data to the last acknowledgment."""
        return self.ended_s - self.begun_s

    @property
    def goodput_bps(self) -> float:
        """Payload bits a second over `seconds`."""
        return 8.0 * float(self.newly.sum()) / self.seconds if self.seconds > 0 else 0.0

    @cached_property
    def queueing_s(self) -> Reals:
        """Each transmission's delay beyond that of its path; NaN if not known."""
        delay: Reals = self.rtt_s - self.bases_s
        return delay

    @cached_property
    def median_rtt_s(self) -> float:
        """The median round trip, one per acknowledgment as senders measure them.

        Of the transmissions that an acknowledgment reports it is the oldest's (RFC 7323 §4.1).
        """
        known = np.flatnonzero(self.sampled)
        order = known[np.lexsort((self.sent_s[known], self.acked_s[known]))]
        first = np.flatnonzero(np.diff(self.acked_s[order], prepend=-1.0) > 0)
        return float(np.median(self.rtt_s[order[first]]))


def observed(
    segments: Segments, acks: Acks, phases: tuple[tuple[float, float], ...] = ()
) -> Observed:
    """Builds the arrays from a capture's tables, at least one row each, and the path's phases."""
    order = np.argsort(acks.time_ns, kind="stable")
    return Observed(
        sent_s=segments.time_ns / 1e9,
        size=segments.size.astype(np.float64),
        payload=(segments.end - segments.start).astype(np.float64),
        start=segments.start.astype(np.float64),
        attempt=segments.attempt,
        lost=segments.lost,
        dropped=segments.dropped,
        full=segments.full_queue,
        acked_s=segments.acked_ns / 1e9,
        rtt_s=segments.rtt_ns / 1e9,
        ack_s=acks.time_ns[order] / 1e9,
        newly=acks.newly[order].astype(np.float64),
        phases=phases,
    )
