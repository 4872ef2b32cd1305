"""A capture as read by the core: its flows, and one of them in detail."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from airtcp import _core
from airtcp.core.extras import required
from airtcp.core.frames import frame_of
from airtcp.diagnosis.acking import Acking
from airtcp.diagnosis.air import Air
from airtcp.diagnosis.quic import QuicFlow
from airtcp.diagnosis.tables import Acks, Segments, Tables

if TYPE_CHECKING:
    import polars as pl

SHARES: dict[str, str] = {
    "held": "held by the link",
    "timeout": "idle until a timeout",
    "small_writes": "short segments held back",
    "receiver_window": "receiver's window",
    "application": "application",
    "link": "link full",
    "recovery": "recovery",
    "window": "window too small",
}
"""Limits that account for the flow's time, and their names in words."""


_PORT = re.compile(r":\d+$")


def host_of(end: str) -> str:
    """The address of an end, without its port."""
    return _PORT.sub("", end)


class Refusal(TypedDict):
    """Why an answer is refused, and the capture that would give it."""

    kind: str
    reason: str
    capture_hint: str
    is_total: bool
    """Whether not even labels and shares are meaningful."""
    is_reservation: bool
    """Whether it is only a reservation: every answer is given."""


class Queues(TypedDict):
    """Evidence of queues and policers on the path, from the sender's view."""

    is_shared: bool
    """Whether other traffic fills the queue, too."""
    policer_bps: float | None
    """Rate of a policer's tokens, in bits of IP packets a second."""
    policer_burst_bytes: float | None
    aqm_delay_ns: int | None
    """The delay threshold above which an AQM drops."""
    aqm_least_delay_ns: int | None
    """The lowest threshold that the losses admit instead."""
    aqm_likelihood: float | None
    """Probability that a loss above the threshold is the AQM's."""
    marked: int
    """Data packets that carry a congestion mark."""
    echoes: int
    """Acknowledgments that echo a congestion mark."""
    reductions: int
    """Segments with CWR: the sender has reduced its window for a mark."""


class SmallWrites(TypedDict):
    """Short segments that waited for the acknowledgment of previous data."""

    waits: int
    delayed: int
    """Segments for which the receiver delayed its acknowledgment."""
    delay_ns: int | None
    """The median of these delays."""
    held_s: float
    """The time of all waits."""


class PathPhase(TypedDict):
    """A period in which the path's minimum round trip is constant."""

    from_ns: int
    base_rtt_ns: int


class LastSeen(TypedDict):
    """The end of one endpoint's transmission."""

    time_ns: int
    closed: bool
    """Whether it closed or reset the connection."""


class Facts(TypedDict):
    """The chosen flow as a whole."""

    flow: int
    """The flow's number in the table of flows."""
    view: str
    """Vantage point: `sender`, `receiver` or `middle`."""
    is_view_certain: bool
    sender: str
    receiver: str
    sack: bool
    timestamps: bool
    retransmitted: int
    needless: int
    timeouts: int
    timeouts_spurious: int
    shares: Mapping[str, float]
    """Share of the time for each key of `SHARES`; they sum to 1."""
    seconds: Mapping[str, float]
    """Seconds for each key of `SHARES`."""
    under_way_s: float
    """Time in which data was in flight, or waited for the receiver's window."""
    phases: Sequence[PathPhase]
    """Phases of the path; empty if its minimum round trip does not change."""
    small_writes: SmallWrites
    overtaken: int
    """Packets that came after one sent later, and were not retransmitted."""
    zero_windows: int
    """Number of times that the receiver closed its window."""
    last: tuple[LastSeen, LastSeen]
    """For the data sender, and for the receiver."""
    acking: Acking
    """The receiver's acknowledgment policy."""
    shows_tail_drop: bool
    queues: Queues
    acks: int
    """Number of acknowledgments received."""
    acks_lost: int | None
    """Acknowledgments lost on the way, by the receiver's numbering; None if that does not show."""
    radio_frames: tuple[int, int]
    """TCP frames seen by a monitor, and how many of them were retries."""
    other_bytes: int
    """Payload of the opposite direction."""
    other_repeats: int
    """Packets of the opposite direction below the highest byte: retransmissions, minus
    reordering.
    """


@dataclass(frozen=True)
class AtSender:
    """A flow from the sender's view: captured there, or inferred at the receiver by timestamps."""

    segments: Segments
    acks: Acks
    timeouts: int


@dataclass(frozen=True)
class Capture:
    """A capture as read; its frames are made when they are asked for, and need Polars."""

    path: Path
    facts: Facts | None
    """None if it holds no TCP."""
    refusals: list[Refusal]
    tables: Tables
    """What the diagnosis works with: the tables below as rows and as columns of NumPy."""
    at_sender: AtSender | None = None
    """The observations that links are fitted to; None if the capture does not show them."""
    others: tuple[AtSender, ...] = ()
    """Other flows of the capture in the same direction at the same time, the largest first."""
    back: AtSender | None = None
    """The largest flow that a captured receiver sent to the same host at the same time."""
    back_ns: tuple[int, ...] = ()
    """Arrivals at a captured sender of other flows' data, in the direction of its acknowledgments,
    in order.
    """
    warnings: tuple[str, ...] = ()
    """Unreadable parts of the file; the rest was diagnosed."""
    quic: QuicFlow | None = None
    """The largest QUIC flow of a capture file, if any."""
    air: Air | None = None
    """Airtime by transmitter, in a monitor capture."""
    begun_ns: int = 0
    """Time of day of its first packet, in nanoseconds since 1970."""
    annotate: Callable[[Path], None] | None = field(default=None, repr=False)
    """Writes the capture to a path as pcapng, with comments on the retransmissions."""
    read: _core.Capture | None = field(default=None, repr=False)
    """The core's reading, which has every column of the frames."""

    @cached_property
    def flows(self) -> "pl.DataFrame":
        """One row per flow: `number`, ends, bytes, duration, goodput, round trip, verdict."""
        return _frame(None if self.read is None else self.read.flows())

    @cached_property
    def segments(self) -> "pl.DataFrame":
        """One row per data transmission, with times in nanoseconds from the first packet.

        Columns: `time_ns`, `packet` (Wireshark's number), `index`, `start`, `end`, `attempt`,
        `lost`, `loss` (cause of the loss), `dropped` (by a queue or a policer), `full_queue` (it
        met one that drops), `acked_ns`, `rtt_ns`, `size` (IP bytes), and more. A packet aggregated
        by offload has a row for each of its segments.
        """
        every = _frame(self._of_flow("segments"))
        if not every.columns:
            return every
        import polars as pl

        dropped = pl.Series("dropped", self.tables.segments.dropped)
        return every.filter(pl.col("end") > pl.col("start")).with_columns(dropped)

    @cached_property
    def acks(self) -> "pl.DataFrame":
        """One row per acknowledgment: `time_ns`, `packet`, `ack`, `window`, `newly`, and more."""
        return _frame(self._of_flow("acks"))

    @cached_property
    def labels(self) -> "pl.DataFrame":
        """One row per retransmission.

        Columns: `flow`, `time_utc`, `time_ns`, `packet`, `start`, `end`, `attempt`, `trigger`,
        `backoff`, `verdict`, `sureness`, `evidence`, `cause`, `loss`, and more.
        """
        every = _frame(self._of_flow("labels"))
        if self.facts is None:
            return every
        import polars as pl

        at = (pl.lit(self.begun_ns, dtype=pl.Int64) + pl.col("time_ns")).cast(
            pl.Datetime("ns", "UTC")
        )
        number = pl.lit(self.facts["flow"], dtype=pl.UInt32)
        return every.select(number.alias("flow"), at.alias("time_utc"), pl.all())

    @cached_property
    def hazard(self) -> "pl.DataFrame":
        """One row per range of queue length.

        Columns: `queue_bytes_low`, `queue_bytes_high`, `transmissions`, `lost`.
        """
        return _frame(self._of_flow("hazard"))

    def _of_flow(self, name: str) -> _core.Table | None:
        """A table of the flow in detail, by name; None without one."""
        if self.read is None or self.facts is None:
            return None
        table: _core.Table = getattr(self.read, name)()
        return table


def _frame(table: _core.Table | None) -> "pl.DataFrame":
    """The frame of a table; without one it has no columns."""
    if table is not None:
        return frame_of(table)
    required("polars")
    import polars as pl

    return pl.DataFrame()
