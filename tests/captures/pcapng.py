"""Captures rewritten: one flow of several, packets out of order, segments joined by offload."""

import struct
from collections.abc import Iterator
from pathlib import Path

ENHANCED_PACKET = 6


def blocks(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Kinds and bytes of the blocks of a little-endian pcapng file (pcapng §3.1)."""
    at = 0
    while at < len(content):
        kind, length = struct.unpack_from("<II", content, at)
        yield kind, content[at : at + length]
        at += length


def packet_of(block: bytes) -> bytes:
    """The bytes of an enhanced packet block's packet."""
    (length,) = struct.unpack_from("<I", block, 20)
    return block[28 : 28 + length]


def ports_of(packet: bytes) -> frozenset[int]:
    """The ports of a TCP packet over IPv4, without a link header."""
    header = 4 * (packet[0] & 15)
    return frozenset(struct.unpack_from(">HH", packet, header))


def only_port(path: Path, flow: int) -> None:
    """Leaves of a capture the flow that began as number `flow`, from 0."""
    content = path.read_bytes()
    kept, seen = [], []
    for kind, block in blocks(content):
        if kind == ENHANCED_PACKET:
            ends = packet_of(block)[12:20], ports_of(packet_of(block))
            key = (frozenset((ends[0][:4], ends[0][4:])), ends[1])
            if key not in seen:
                seen.append(key)
            if seen.index(key) != flow:
                continue
        kept.append(block)
    path.write_bytes(b"".join(kept))


def out_of_order(path: Path, into: Path, every: int) -> None:
    """Writes each `every`-th packet after the next eight, as buffers of two processors are."""
    order, late, packets = [], [], 0
    for kind, block in blocks(path.read_bytes()):
        if kind != ENHANCED_PACKET:
            order.append(block)
            continue
        packets += 1
        late = [(left - 1, one) for left, one in late]
        order += [one for left, one in late if left < 0]
        late = [(left, one) for left, one in late if left >= 0]
        if packets > 20 and packets % every == 0:
            late.append((8, block))
        else:
            order.append(block)
    into.write_bytes(b"".join(order + [one for _, one in late]))


def joined(path: Path, into: Path, most: int, within_ns: int = 0) -> int:
    """Joins up to `most` consecutive segments that left at one time, as offload hands them over.

    One time is `within_ns` of the first of them.

    Returns the number of joins.
    """
    order: list[bytes] = []
    joins, parts = 0, 0
    for kind, block in blocks(path.read_bytes()):
        before = order[-1] if order else b""
        is_next = kind == ENHANCED_PACKET and parts and _follows(before, block, within_ns)
        if is_next and parts < most:
            order[-1] = _with_payload(before, _payload(packet_of(block)))
            joins, parts = joins + 1, parts + 1
        else:
            order.append(block)
            parts = int(kind == ENHANCED_PACKET and len(_payload(packet_of(block))) > 0)
    into.write_bytes(b"".join(order))
    return joins


def _payload(packet: bytes) -> bytes:
    header = 4 * (packet[0] & 15)
    return packet[header + 4 * (packet[header + 12] >> 4) :]


def _time_of(block: bytes) -> int:
    high, low = struct.unpack_from("<II", block, 12)
    return int(high << 32 | low)


def _follows(one: bytes, other: bytes, within_ns: int) -> bool:
    """Whether a segment of the same connection goes on where another ends, at the same time."""
    first, second = packet_of(one), packet_of(other)
    header = 4 * (first[0] & 15)
    begins = [struct.unpack_from(">I", packet, header + 4)[0] for packet in (first, second)]
    return (
        0 <= _time_of(other) - _time_of(one) <= within_ns
        and first[12 : header + 4] == second[12 : header + 4]
        and first[header + 8 : header + 12] == second[header + 8 : header + 12]
        and len(_payload(second)) > 0
        and begins[1] == (begins[0] + len(_payload(first))) % 2**32
    )


def _with_payload(block: bytes, more: bytes) -> bytes:
    """The block of a packet with more payload; its checksums no longer hold."""
    packet = bytearray(packet_of(block) + more)
    struct.pack_into(">H", packet, 2, len(packet))
    padding = bytes(-len(packet) % 4)
    length = 28 + len(packet) + len(padding) + 4
    ends = struct.pack("<I", length)
    lengths = struct.pack("<II", len(packet), len(packet))
    return block[:4] + ends + block[8:20] + lengths + bytes(packet) + padding + ends
