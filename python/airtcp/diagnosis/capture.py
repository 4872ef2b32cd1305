"""A capture as read by the core: its flows, and one of them in detail."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

import polars as pl

from airtcp.diagnosis.acking import Acking
from airtcp.diagnosis.air import Air
from airtcp.diagnosis.quic import QuicFlow

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

    segments: pl.DataFrame
    acks: pl.DataFrame
    timeouts: int


@dataclass(frozen=True)
class Capture:
    """A capture as read: frames are Polars', times in nanoseconds from its first packet."""

    path: Path
    facts: Facts | None
    """None if it holds no TCP."""
    refusals: list[Refusal]
    flows: pl.DataFrame
    """One row per flow: `number`, ends, bytes, duration, goodput, round trip, verdict in a line."""
    segments: pl.DataFrame = field(default_factory=pl.DataFrame)
    """One row per data transmission: `time_ns`, `packet` (Wireshark's number), `index`, `start`,
    `end`, `attempt`, `lost`, `loss` (cause of the loss), `dropped` (by a queue or a policer),
    `full_queue` (it met one that drops), `acked_ns`, `rtt_ns`, `size` (IP bytes), and more. A
    packet aggregated by offload has a row for each of its segments.
    """
    acks: pl.DataFrame = field(default_factory=pl.DataFrame)
    """One row per acknowledgment: `time_ns`, `packet`, `ack`, `window`, `newly`,
    `payload`, and more."""
    labels: pl.DataFrame = field(default_factory=pl.DataFrame)
    """One row per retransmission: `flow`, `time_utc`, `time_ns`, `packet`, `start`, `end`,
    `attempt`,
    `trigger`, `backoff`, `verdict`, `sureness`, `evidence`, `cause`, `loss`, and more."""
    hazard: pl.DataFrame = field(default_factory=pl.DataFrame)
    """One row per range of queue length: `queue_bytes_low`, `queue_bytes_high`, `transmissions`,
    `lost`."""
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
    annotate: Callable[[Path], None] | None = field(default=None, repr=False)
    """Writes the capture to a path as pcapng, with comments on the retransmissions."""
