"""Captures rewritten: one flow of several, packets out of order."""

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
