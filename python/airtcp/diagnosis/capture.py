"""A capture as the core reads it: its flows, and one of them in depth."""

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
"""The limits that the time of a flow is shared between, and their names in words."""


class Refusal(TypedDict):
    """The reason for which something is not said, and the capture that would say it."""

    kind: str
    reason: str
    capture_hint: str
    is_total: bool
    """Not even labels and shares mean anything."""
    is_reservation: bool
    """A remark only: all else is said."""


class Queues(TypedDict):
    """What queues and policers on the way did, as the sender's view shows it."""

    is_shared: bool
    """Other traffic fills the queue, too."""
    policer_bps: float | None
    """Rate of a policer's tokens, in bits of IP packets a second."""
    policer_burst_bytes: float | None
    aqm_delay_ns: int | None
    """The delay above which a queue drops that looks after its own."""
    aqm_least_delay_ns: int | None
    """The lowest delay that the losses admit in its place."""
    aqm_likelihood: float | None
    """Chance that a loss above it is the queue's."""
    marked: int
    """Packets of the data that carry a congestion mark."""
    echoes: int
    """Acknowledgments that report one."""
    reductions: int
    """Segments with which the sender says that it has slowed down for one."""


class SmallWrites(TypedDict):
    """Short segments that waited for the acknowledgment of what was sent before them."""

    waits: int
    delayed: int
    """Those in which the receiver delayed its acknowledgment."""
    delay_ns: int | None
    """The median of these delays."""


class PathPhase(TypedDict):
    """A stretch of time in which the path's shortest round trip is the same."""

    from_ns: int
    base_rtt_ns: int


class LastSeen(TypedDict):
    """The end of what one end of the connection sent."""

    time_ns: int
    closed: bool
    """It closed or reset the connection."""


class Facts(TypedDict):
    """The chosen flow as a whole."""

    flow: int
    """Its number in the table of flows."""
    view: str
    """The place of the capture: `sender`, `receiver` or `middle`."""
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
    """The share of the time for each key of `SHARES`; they sum to 1."""
    seconds: Mapping[str, float]
    """The same in seconds."""
    under_way_s: float
    """Time in which data was in flight, or waited for the receiver's window."""
    phases: Sequence[PathPhase]
    """Phases of the path; empty where its shortest round trip does not change."""
    small_writes: SmallWrites
    zero_windows: int
    """Times at which the receiver closed its window."""
    last: tuple[LastSeen, LastSeen]
    """Of the sender of the data, and of its receiver."""
    acking: Acking
    """The receiver's habit of acknowledging."""
    shows_tail_drop: bool
    queues: Queues
    acks: int
    """Acknowledgments that came."""
    acks_lost: int | None
    """Those lost on their way, by the receiver's numbering; None where it does not tell."""
    radio_frames: tuple[int, int]
    """Frames of TCP that a radio's monitor saw, and those of them that were retries."""
    other_bytes: int
    """Payload of the other direction."""
    other_repeats: int
    """Its packets below the highest byte: retransmissions, but for what was overtaken."""


@dataclass(frozen=True)
class AtSender:
    """A flow as its sender saw it: captured there, or told by timestamps at the receiver."""

    segments: pl.DataFrame
    acks: pl.DataFrame
    timeouts: int


@dataclass(frozen=True)
class Capture:
    """A capture as read: frames are Polars', times in nanoseconds from its first packet."""

    path: Path
    facts: Facts | None
    """None where no TCP is in it."""
    refusals: list[Refusal]
    flows: pl.DataFrame
    """One row a flow: `number`, ends, bytes, duration, goodput, round trip, verdict in a line."""
    segments: pl.DataFrame = field(default_factory=pl.DataFrame)
    """One row a data transmission: `time_ns`, `packet` (Wireshark's number), `index`, `start`,
    `end`, `attempt`, `lost`, `loss` (what lost it), `dropped` (by a queue or a policer),
    `full_queue` (it met one that drops), `acked_ns`, `rtt_ns`, `size` (IP bytes), and more. What
    offload handed over as one packet is a row for each of its segments."""
    acks: pl.DataFrame = field(default_factory=pl.DataFrame)
    """One row an acknowledgment: `time_ns`, `packet`, `ack`, `window`, `newly`,
    `payload`, and more."""
    labels: pl.DataFrame = field(default_factory=pl.DataFrame)
    """One row a retransmission: `flow`, `time_utc`, `time_ns`, `packet`, `start`, `end`, `attempt`,
    `trigger`, `backoff`, `verdict`, `sureness`, `evidence`, `cause`, `loss`, and more."""
    hazard: pl.DataFrame = field(default_factory=pl.DataFrame)
    """One row a range of queueing: `queue_bytes_low`, `queue_bytes_high`, `transmissions`,
    `lost`."""
    at_sender: AtSender | None = None
    """The observations that links are fitted to; None where the capture does not show them."""
    others: tuple[AtSender, ...] = ()
    """Other flows of the capture that went the same way meanwhile, the largest first."""
    warnings: tuple[str, ...] = ()
    """What of the file could not be read; the rest is what was diagnosed."""
    quic: QuicFlow | None = None
    """The largest flow of QUIC, where there is one in a file."""
    air: Air | None = None
    """Who had the channel, where a radio's monitor captured."""
    annotate: Callable[[Path], None] | None = field(default=None, repr=False)
    """Writes the capture to a path as pcapng, with comments on the retransmissions."""
