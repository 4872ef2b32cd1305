"""Captures damaged packet by packet, as converters, mirror ports and other clocks damage them.

A file whose bytes were mutated is mostly refused before anything is fitted to it. These mutants
remain captures: their times, lengths, flags, numbers and directions are wrong.
"""

import random
import struct
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

RAW_HEADER = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 101)
"""Little-endian pcap, times in nanoseconds, IP without a link layer."""
ENHANCED_PACKET = 6
MAX_SECONDS = 0xFFFF_FFFF
FLAGS = 13
"""The place of the flags in a TCP header (RFC 9293 §3.1)."""

Packet = tuple[int, bytearray]
"""A time in nanoseconds, and an IPv4 packet of TCP."""
Packets = list[Packet]
Mutation = Callable[[Packets, random.Random], Packets]


def packets_of(path: Path) -> Packets:
    """The packets of a little-endian pcapng file with times in nanoseconds."""
    content, at, found = path.read_bytes(), 0, []
    while at < len(content):
        kind, length = struct.unpack_from("<II", content, at)
        if kind == ENHANCED_PACKET:
            high, low, captured = struct.unpack_from("<III", content, at + 12)
            packet = bytearray(content[at + 28 : at + 28 + captured])
            found.append(((high << 32) + low, packet))
        at += length
    return found


def write(path: Path, packets: Packets) -> None:
    """Writes a pcap file."""
    parts = [RAW_HEADER]
    for nanos, packet in packets:
        seconds, rest = divmod(max(nanos, 0), 1_000_000_000)
        wire = struct.unpack_from(">H", packet, 2)[0] if len(packet) >= 4 else len(packet)
        head = (min(seconds, MAX_SECONDS), rest, len(packet), max(wire, len(packet)))
        parts += [struct.pack("<IIII", *head), bytes(packet)]
    path.write_bytes(b"".join(parts))


def mutants(seeds: Sequence[Packets], first: int, count: int) -> Iterator[tuple[str, Packets]]:
    """Mutants by number, each with its name: the number, its seed and the mutation."""
    for number in range(first, first + count):
        draw = random.Random(number)
        which = draw.randrange(len(seeds))
        packets = [(at, bytearray(packet)) for at, packet in seeds[which]]
        chosen = draw.choices(MUTATIONS, k=draw.choice((1, 1, 2, 3)))
        for mutate in chosen:
            packets = mutate(packets, draw)
        yield f"{number}: seed {which}, {', '.join(one.__name__ for one in chosen)}", packets


def _equal_times(packets: Packets, _: random.Random) -> Packets:
    return [(packets[0][0], packet) for _, packet in packets] if packets else packets


def _microsecond_apart(packets: Packets, _: random.Random) -> Packets:
    return [(1000 * place, packet) for place, (_, packet) in enumerate(packets)]


def _reversed_times(packets: Packets, _: random.Random) -> Packets:
    times = [at for at, _ in packets][::-1]
    return [(at, packet) for at, (_, packet) in zip(times, packets, strict=True)]


def _reversed_packets(packets: Packets, _: random.Random) -> Packets:
    return packets[::-1]


def _coarse_clock(packets: Packets, draw: random.Random) -> Packets:
    tick = draw.choice((1_000, 1_000_000, 10_000_000, 15_625_000, 1_000_000_000))
    return [(at // tick * tick, packet) for at, packet in packets]


def _scaled_times(packets: Packets, draw: random.Random) -> Packets:
    factor = draw.choice((0, 1e-6, 1e-3, 0.1, 10, 1e3))
    first = packets[0][0] if packets else 0
    return [(first + int((at - first) * factor), packet) for at, packet in packets]


def _clock_steps(packets: Packets, draw: random.Random) -> Packets:
    at_packet = draw.randrange(len(packets) + 1)
    by = draw.choice((-1, 1)) * 10 ** draw.randrange(5, 17)
    return [
        (at + (by if place >= at_packet else 0), packet)
        for place, (at, packet) in enumerate(packets)
    ]


def _silence(packets: Packets, draw: random.Random) -> Packets:
    by = 10 ** draw.randrange(7, 13)
    at_packet = draw.randrange(len(packets) + 1)
    return packets[:at_packet] + [(at + by, packet) for at, packet in packets[at_packet:]]


def _jitter(packets: Packets, draw: random.Random) -> Packets:
    by = 10 ** draw.randrange(3, 10)
    return [(at + draw.randrange(by), packet) for at, packet in packets]


def _zero_times(packets: Packets, draw: random.Random) -> Packets:
    share = draw.choice((0.01, 0.5, 1.0))
    return [(0 if draw.random() < share else at, packet) for at, packet in packets]


def _without_beginning(packets: Packets, draw: random.Random) -> Packets:
    return packets[draw.choice((1, 2, 3, 10, len(packets) // 2)) :]


def _few(packets: Packets, draw: random.Random) -> Packets:
    return packets[: draw.choice((0, 1, 3, 10, 30, 60, 100))]


def _one_way(packets: Packets, draw: random.Random) -> Packets:
    ends = {bytes(packet[12:16]) for _, packet in packets}
    if not ends:
        return packets
    end, share = draw.choice(sorted(ends)), draw.choice((0.5, 0.9, 0.99, 1.0))
    after = draw.choice((0, 3, 50))
    return [
        one
        for place, one in enumerate(packets)
        if place < after or one[1][12:16] != end or draw.random() >= share
    ]


def _lost(packets: Packets, draw: random.Random) -> Packets:
    share = draw.choice((0.01, 0.1, 0.5, 0.9))
    return [one for one in packets if draw.random() >= share]


def _doubled(packets: Packets, draw: random.Random) -> Packets:
    later = draw.choice((0, 1000, 10**6, 10**9))
    return [(at + add, bytearray(packet)) for at, packet in packets for add in (0, later)]


def _ends_swapped(packets: Packets, draw: random.Random) -> Packets:
    share = draw.choice((0.1, 1.0))
    for _, packet in packets:
        if draw.random() < share and len(packet) >= 24:
            packet[12:20] = packet[16:20] + packet[12:16]
            packet[20:24] = packet[22:24] + packet[20:22]
    return packets


def _other_port(packets: Packets, draw: random.Random) -> Packets:
    after = draw.randrange(len(packets) + 1)
    for _, packet in packets[after:]:
        if len(packet) >= 24:
            packet[20] ^= 1
            packet[22] ^= 1
    return packets


def _cut(packets: Packets, draw: random.Random) -> Packets:
    kept = draw.choice((0, 10, 20, 39, 40, 52, 60))
    share = draw.choice((0.1, 1.0))
    return [(at, packet[:kept] if draw.random() < share else packet) for at, packet in packets]


def _lengths(packets: Packets, draw: random.Random) -> Packets:
    share = draw.choice((0.01, 0.5, 1.0))
    length = draw.choice((0, 20, 40, 52, 53, 576, 1500, 9000, 65535))
    for _, packet in packets:
        if draw.random() < share and len(packet) >= 4:
            struct.pack_into(">H", packet, 2, length)
    return packets


def _in_header(packets: Packets, draw: random.Random, at: int, values: Sequence[bytes]) -> Packets:
    """Sets a field of the TCP header of a share of the packets."""
    share, value = draw.choice((0.01, 0.3, 1.0)), draw.choice(values)
    for _, packet in packets:
        begin = 4 * (packet[0] & 15) + at if packet else at
        if draw.random() < share and len(packet) >= begin + len(value):
            packet[begin : begin + len(value)] = value
    return packets


def _flags(packets: Packets, draw: random.Random) -> Packets:
    bits = (0x00, 0x01, 0x02, 0x04, 0x10, 0x11, 0x12, 0x14, 0x52, 0xD0, 0xFF)
    return _in_header(packets, draw, FLAGS, [bytes((one,)) for one in bits])


def _window(packets: Packets, draw: random.Random) -> Packets:
    return _in_header(packets, draw, 14, (b"\0\0", b"\0\1", b"\xff\xff"))


def _sequence(packets: Packets, draw: random.Random) -> Packets:
    return _in_header(packets, draw, 4, (b"\0" * 4, b"\xff" * 4, b"\x7f\xff\xff\xff"))


def _acknowledgment(packets: Packets, draw: random.Random) -> Packets:
    return _in_header(packets, draw, 8, (b"\0" * 4, b"\xff" * 4, b"\x7f\xff\xff\xff"))


def _numbers_wrap(packets: Packets, draw: random.Random) -> Packets:
    """Sequence numbers of one end, and their acknowledgments, pass 2^32 during the flow."""
    ends = sorted({bytes(packet[12:16]) for _, packet in packets if len(packet) >= 40})
    if not ends:
        return packets
    end, by = draw.choice(ends), 2**32 - draw.randrange(200_000)
    for _, packet in packets:
        if len(packet) >= 40:
            at = 24 if packet[12:16] == end else 28
            number = struct.unpack_from(">I", packet, at)[0]
            struct.pack_into(">I", packet, at, (number + by) % 2**32)
    return packets


def _without_options(packets: Packets, draw: random.Random) -> Packets:
    """Every option is overwritten by padding (RFC 9293 §3.2)."""
    share = draw.choice((0.1, 1.0))
    for _, packet in packets:
        if draw.random() < share and len(packet) >= 40:
            end = 20 + 4 * (packet[32] >> 4)
            packet[40:end] = bytes((1,)) * len(packet[40:end])
    return packets


def _timestamps(packets: Packets, draw: random.Random) -> Packets:
    value = draw.choice((b"\0" * 8, b"\xff" * 8, b"\x80\0\0\0\0\0\0\1"))
    for _, packet in packets:
        at = packet.find(b"\x08\x0a", 40, 80)
        if at > 0 and len(packet) >= at + 10 and draw.random() < 0.7:
            packet[at + 2 : at + 10] = value
    return packets


MUTATIONS: tuple[Mutation, ...] = (
    _equal_times,
    _microsecond_apart,
    _reversed_times,
    _reversed_packets,
    _coarse_clock,
    _scaled_times,
    _clock_steps,
    _silence,
    _jitter,
    _zero_times,
    _without_beginning,
    _few,
    _one_way,
    _lost,
    _doubled,
    _ends_swapped,
    _other_port,
    _cut,
    _lengths,
    _flags,
    _window,
    _sequence,
    _acknowledgment,
    _numbers_wrap,
    _without_options,
    _timestamps,
)
