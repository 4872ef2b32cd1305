"""Segments at the data sender, of a simulation or of a recorded kernel.

Both as the same rows: offsets in bytes of the stream from 0, times from the flow's SYN.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from airtcp._core import AirtcpError, Table

_ENHANCED_PACKET = 6
"""Block type of a packet (pcapng §4.3)."""
_BYTE_ORDER = 0x1A2B3C4D
"""The byte-order magic of a section (pcapng §4.1)."""
_FLAGS_OPTION = 2
_OUTBOUND = 2
_TCP = 6
_FIN, _SYN, _RST, _ACK = 0x01, 0x02, 0x04, 0x10
_SACK_OPTION = 5
_HALF = 1 << 31


class RecordingError(AirtcpError):
    """A capture cannot be read."""


@dataclass(frozen=True)
class Segment:
    """A segment that leaves or reaches the data sender."""

    time_s: float
    """Since the flow's first SYN."""
    is_out: bool
    offset: int
    """Offset of the first byte of a data segment, or of the next expected byte of an ACK."""
    size: int
    """Bytes of data."""
    is_syn: bool
    sack: tuple[tuple[int, int], ...] = ()
    """SACK blocks of an acknowledgment, as first byte and one past the last."""

    @property
    def words(self) -> str:
        """The segment in words, for one line."""
        if self.is_syn:
            return "SYN" if self.is_out else "SYN+ACK"
        if self.is_out:
            return f"sends {self.offset}..{self.offset + self.size}"
        blocks = "".join(f", SACK {begin}..{end}" for begin, end in self.sack)
        return f"hears ACK {self.offset}{blocks}"


def simulated_segments(packets: Table, flow: int) -> list[Segment]:
    """The segments of a flow of a simulated run (`Run.arrow("packets")`)."""
    rows = [row for row in packets.rows() if row["flow"] == flow]
    start = next((row["time_s"] for row in rows if "SYN" in row["flags"]), 0.0)
    found = []
    for row in rows:
        is_syn = "SYN" in row["flags"]
        if row["is_data"]:
            offset, size = row["offset"] or 0, 0 if is_syn else row["bytes"] or 0
        else:
            offset, size = row["acknowledges"] or 0, 0
        found.append(
            Segment(
                row["time_s"] - start, row["is_data"], offset, size, is_syn, _blocks(row["sack"])
            )
        )
    return [segment for segment in found if _counts(segment)]


def _counts(segment: Segment) -> bool:
    """Whether a segment is compared: pure ACKs of the data sender are not."""
    return segment.is_syn or not segment.is_out or segment.size > 0


def _blocks(text: str | None) -> tuple[tuple[int, int], ...]:
    """SACK blocks as the core writes them, "1448-2896 4344-5792"."""
    if not text:
        return ()
    pairs = (block.split("-") for block in text.replace(",", " ").split())
    return tuple((int(begin), int(end)) for begin, end in pairs)


def recorded_segments(capture: bytes, interface: int) -> list[Segment]:
    """The segments of a recording at the data sender, of the connection with most.

    Others, such as probes under load, use the same interface.

    Args:
        capture: the file that `airtcp emulate --record` writes for that end.
        interface: the number of the flow's interface in it.

    Raises:
        RecordingError: it is damaged.
    """
    connections: dict[bytes, _Connection] = {}
    for number, is_out, nanos, packet in _packets(capture):
        read = _segment(packet) if number == interface else None
        if read is not None:
            ends = _ends(packet, is_out)
            connections.setdefault(ends, _Connection()).take(nanos, is_out, read)
    longest = max(connections.values(), key=lambda one: one.sent, default=_Connection())
    return longest.segments


class _Connection:
    """The segments of one connection, from its SYN on."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self.sent = 0
        """Data bytes in all segments sent so far."""
        self._start: int | None = None
        # The initial sequence number of the data sender.
        self._base = 0

    def take(self, nanos: int, is_out: bool, read: "_Parts") -> None:
        """Adds a packet of the connection."""
        sequence, acknowledged, size, flags, sack = read
        is_syn = bool(flags & _SYN)
        if is_syn and is_out:
            self._base = sequence + 1
        if is_syn and self._start is None:
            self._start = nanos
        if self._start is None or flags & _RST:
            return
        base = self._base
        offset = 0 if is_syn else _after(base, sequence if is_out else acknowledged)
        blocks = tuple((_after(base, begin), _after(base, end)) for begin, end in sack)
        time_s = (nanos - self._start) / 1e9
        segment = Segment(time_s, is_out, offset, size, is_syn, () if is_out else blocks)
        self.sent += size * is_out
        if _counts(segment):
            self.segments.append(segment)


def is_sender(capture: bytes) -> bool:
    """Whether a recording was made at the data sender.

    Raises:
        RecordingError: it is damaged.
    """
    sent = 0
    for _, is_out, _, packet in _packets(capture):
        read = _segment(packet)
        if read and read[2] > 0:
            sent += 1 if is_out else -1
    return sent > 0


def _after(base: int, sequence: int) -> int:
    """The distance of two sequence numbers (RFC 9293 §3.4); negative before the base."""
    return (sequence - base + _HALF) % (1 << 32) - _HALF


_Parts = tuple[int, int, int, int, list[tuple[int, int]]]


def _segment(packet: bytes) -> _Parts | None:
    """Sequence number, acknowledged, bytes of data, flags and SACK blocks of an IPv4 TCP packet."""
    if len(packet) < 40 or packet[0] >> 4 != 4 or packet[9] != _TCP:
        return None
    ip = (packet[0] & 15) * 4
    total = int.from_bytes(packet[2:4], "big")
    if len(packet) < ip + 20:
        return None
    sequence, acknowledged, head, flags = struct.unpack_from(">IIBB", packet, ip + 4)
    tcp = (head >> 4) * 4
    return (
        sequence,
        acknowledged if flags & _ACK else 0,
        total - ip - tcp,
        flags,
        _sack(packet[ip + 20 : ip + tcp]),
    )


def _ends(packet: bytes, is_out: bool) -> bytes:
    """The addresses and ports of an IPv4 TCP packet, the local end first."""
    ip = (packet[0] & 15) * 4
    halves = packet[12:16] + packet[ip : ip + 2], packet[16:20] + packet[ip + 2 : ip + 4]
    return b"".join(halves if is_out else reversed(halves))


def _sack(options: bytes) -> list[tuple[int, int]]:
    at = 0
    while at + 1 < len(options) and options[at] != 0:
        if options[at] == 1:
            at += 1
            continue
        length = max(2, options[at + 1])
        if options[at] == _SACK_OPTION:
            inside = options[at + 2 : at + length]
            numbers = [
                int.from_bytes(inside[place : place + 4], "big")
                for place in range(0, len(inside) - 7 + 4, 4)
            ]
            return list(zip(numbers[::2], numbers[1::2], strict=False))
        at += length
    return []


def _packets(capture: bytes) -> Iterator[tuple[int, bool, int, bytes]]:
    """Interface, direction, nanoseconds and bytes of each packet of a pcapng file (§4.3)."""
    order = "<" if capture[8:12] == _BYTE_ORDER.to_bytes(4, "little") else ">"
    at = 0
    while at + 12 <= len(capture):
        kind, length = struct.unpack_from(f"{order}II", capture, at)
        if length < 12 or length % 4 or at + length > len(capture):
            raise RecordingError(f"the capture is damaged at byte {at}")
        if kind == _ENHANCED_PACKET and length >= 32:
            interface, high, low, kept, _ = struct.unpack_from(f"{order}IIIII", capture, at + 8)
            data = at + 28
            end = data + kept
            if end > at + length:
                raise RecordingError(f"the capture is damaged at byte {at}")
            flags = _flags(capture[end + -kept % 4 : at + length - 4], order)
            yield interface, flags & 3 == _OUTBOUND, (high << 32) + low, capture[data:end]
        at += length


def _flags(options: bytes, order: str) -> int:
    """The value of epb_flags (pcapng §4.3.1); 0 if absent."""
    at = 0
    while at + 8 <= len(options):
        kind, length = struct.unpack_from(f"{order}HH", options, at)
        if kind == _FLAGS_OPTION and length == 4:
            (value,) = struct.unpack_from(f"{order}I", options, at + 4)
            return int(value)
        at += 4 + length + -length % 4
    return 0
