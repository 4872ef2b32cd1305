"""Tables of a capture as rows and as columns of NumPy.

Times are nanoseconds from the capture's first packet, offsets bytes from the first byte of data.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from airtcp import _core

Reals = NDArray[np.float64]
Wholes = NDArray[np.int64]
Flags = NDArray[np.bool_]
Words = NDArray[np.str_]

QUEUE_LOSSES = ("tail-drop", "aqm", "policer")
"""Losses caused by a queue or a policer without a radio."""


def _no_reals() -> Reals:
    return np.empty(0, np.float64)


def _no_wholes() -> Wholes:
    return np.empty(0, np.int64)


def _no_flags() -> Flags:
    return np.empty(0, np.bool_)


def _no_words() -> Words:
    return np.empty(0, np.str_)


@dataclass(frozen=True)
class Flow:
    """A TCP connection of a capture."""

    number: int
    client: str
    server: str
    start_s: float
    duration_s: float
    bytes: int
    packets: int
    goodput_bps: float
    rtt_ms: float | None
    """Round trip of the handshake."""
    retransmitted: int
    """Packets below the highest byte."""
    duplicates_reported: int
    data_from: str
    """`client` or `server`."""
    verdict: str

    @property
    def end_s(self) -> float:
        """Time of its last packet, in seconds."""
        return self.start_s + self.duration_s

    @property
    def from_(self) -> str:
        """The end that sends the data."""
        return self.client if self.data_from == "client" else self.server

    @property
    def to(self) -> str:
        """The end that receives the data."""
        return self.server if self.data_from == "client" else self.client


@dataclass(frozen=True)
class Bin:
    """Transmissions that met a queue of some range of lengths."""

    queue_bytes_low: int
    queue_bytes_high: int
    transmissions: int
    lost: int


@dataclass(frozen=True, eq=False)
class Segments:
    """Transmissions of data, in the order of the capture.

    A packet aggregated by offload has a row for each of its segments.
    """

    time_ns: Wholes = field(default_factory=_no_wholes)
    start: Wholes = field(default_factory=_no_wholes)
    end: Wholes = field(default_factory=_no_wholes)
    attempt: Wholes = field(default_factory=_no_wholes)
    """0 for an original, then 1, 2, … for its retransmissions."""
    size: Wholes = field(default_factory=_no_wholes)
    """Bytes of the IP packet."""
    in_flight: Wholes = field(default_factory=_no_wholes)
    """Bytes in flight just after it."""
    lost: Flags = field(default_factory=_no_flags)
    dropped: Flags = field(default_factory=_no_flags)
    """Lost to a queue or a policer."""
    full_queue: Flags = field(default_factory=_no_flags)
    """It met a queue that drops."""
    acked_ns: Reals = field(default_factory=_no_reals)
    """Time of the first report of its arrival; NaN if never."""
    rtt_ns: Reals = field(default_factory=_no_reals)
    """Its round trip; NaN if it is not a valid sample."""

    def __len__(self) -> int:
        return len(self.time_ns)

    @property
    def acked(self) -> Flags:
        """Whether its arrival was reported."""
        known: Flags = np.isfinite(self.acked_ns)
        return known


def segments_of(table: _core.Table) -> Segments:
    """The transmissions of a table of the core that carry data."""
    start, end = table.wholes("start"), table.wholes("end")
    # The SYN carries no data, and has a round trip without serialization of data.
    of_data = end > start
    lost = table.flags("lost")
    dropped = lost & np.isin(words_of(table, "loss"), QUEUE_LOSSES)
    return Segments(
        time_ns=table.wholes("time_ns")[of_data],
        start=start[of_data],
        end=end[of_data],
        attempt=table.wholes("attempt")[of_data],
        size=table.wholes("size")[of_data],
        in_flight=table.wholes("in_flight")[of_data],
        lost=lost[of_data],
        dropped=dropped[of_data],
        full_queue=table.flags("full_queue")[of_data],
        acked_ns=table.reals("acked_ns")[of_data],
        rtt_ns=table.reals("rtt_ns")[of_data],
    )


@dataclass(frozen=True, eq=False)
class Acks:
    """Acknowledgments, in the order of the capture."""

    time_ns: Wholes = field(default_factory=_no_wholes)
    ack: Wholes = field(default_factory=_no_wholes)
    newly: Wholes = field(default_factory=_no_wholes)
    """Payload bytes that it is the first to report."""
    payload: Wholes = field(default_factory=_no_wholes)
    """Bytes of its own data."""
    window: Reals = field(default_factory=_no_reals)
    """Bytes of the receiver's window; NaN if its scale is not known."""
    dsack: Flags = field(default_factory=_no_flags)
    timestamp: Reals = field(default_factory=_no_reals)
    """The receiver's timestamp (TSval); NaN without one."""

    def __len__(self) -> int:
        return len(self.time_ns)

    @property
    def windows(self) -> Reals:
        """The windows that are known, in bytes."""
        known: Reals = self.window[np.isfinite(self.window)]
        return known


def acks_of(table: _core.Table) -> Acks:
    """The acknowledgments of a table of the core."""
    return Acks(
        time_ns=table.wholes("time_ns"),
        ack=table.wholes("ack"),
        newly=table.wholes("newly"),
        payload=table.wholes("payload"),
        window=table.reals("window"),
        dsack=table.flags("dsack"),
        timestamp=table.reals("timestamp"),
    )


@dataclass(frozen=True, eq=False)
class Labels:
    """Retransmissions with their verdicts, in the order of the capture."""

    time_ns: Wholes = field(default_factory=_no_wholes)
    start: Wholes = field(default_factory=_no_wholes)
    end: Wholes = field(default_factory=_no_wholes)
    attempt: Wholes = field(default_factory=_no_wholes)
    trigger: Words = field(default_factory=_no_words)
    verdict: Words = field(default_factory=_no_words)
    sureness: Words = field(default_factory=_no_words)
    evidence: Words = field(default_factory=_no_words)
    cause: Words = field(default_factory=_no_words)
    loss: Words = field(default_factory=_no_words)
    """Cause of the previous transmission's loss; empty if it was not lost."""
    late_ns: Reals = field(default_factory=_no_reals)
    """How late the original of a needless one came; NaN if not known."""

    def __len__(self) -> int:
        return len(self.time_ns)

    def count(self, cause: str) -> int:
        """Number of retransmissions with this cause."""
        return int(np.count_nonzero(self.cause == cause))


def labels_of(table: _core.Table) -> Labels:
    """The retransmissions of a table of the core."""
    return Labels(
        time_ns=table.wholes("time_ns"),
        start=table.wholes("start"),
        end=table.wholes("end"),
        attempt=table.wholes("attempt"),
        trigger=words_of(table, "trigger"),
        verdict=words_of(table, "verdict"),
        sureness=words_of(table, "sureness"),
        evidence=words_of(table, "evidence"),
        cause=words_of(table, "cause"),
        loss=words_of(table, "loss"),
        late_ns=table.reals("late_ns"),
    )


def words_of(table: _core.Table, name: str) -> Words:
    """A column of words of a table of the core, with "" for no value."""
    return np.array([word or "" for word in table.words(name)], dtype=np.str_)


@dataclass(frozen=True, eq=False)
class Tables:
    """The flows of a capture, and one of them in detail: empty tables without TCP."""

    flows: tuple[Flow, ...]
    """By decreasing payload."""
    segments: Segments = field(default_factory=Segments)
    acks: Acks = field(default_factory=Acks)
    labels: Labels = field(default_factory=Labels)
    hazard: tuple[Bin, ...] = ()
    """By increasing length of the queue."""

    def flow(self, number: int) -> Flow:
        """The flow of that number."""
        (found,) = (one for one in self.flows if one.number == number)
        return found


def tables_of(read: _core.Capture, *, has_flow: bool) -> Tables:
    """The tables of a capture as the core read it; `has_flow`: one of its flows in detail."""
    flows = tuple(Flow(**row) for row in read.flows().rows())
    if not has_flow:
        return Tables(flows)
    return Tables(
        flows,
        segments_of(read.segments()),
        acks_of(read.acks()),
        labels_of(read.labels()),
        tuple(Bin(**row) for row in read.hazard().rows()),
    )
