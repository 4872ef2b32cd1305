"""Captures of QUIC, written from RFC 9000's formats: headers as an observer sees them, no content.

A sender with a window that fills a link of a known rate, delay and queue, and a receiver that
acknowledges every second packet; both take part in the spin bit (RFC 9000 §17.4), or do not.
"""

import heapq
import random
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

CLIENT_PORT, SERVER_PORT = 50_000, 443
FULL, SMALL = 1200, 40
RAW_IP = 101


@dataclass(frozen=True)
class Link:
    """The link from the server to the client; the return path has a delay only."""

    rate_bps: float = 10e6
    one_way_s: float = 0.02
    window_packets: int = 100
    """The sender's packets in flight: beyond rate times round trip they queue."""
    stop: tuple[float, float] | None = None
    """Start and length of a stop of the link."""


@dataclass(frozen=True)
class Shape:
    """How the connection looks."""

    spin: str = "used"
    """`used`, `constant` or `random`."""
    is_ipv6: bool = False
    version: int = 1
    id_bytes: tuple[int, int] = (8, 5)
    """Connection IDs that client and server choose."""
    negotiates: bool = False
    """The server first answers with the versions that it has (RFC 9000 §17.2.1)."""
    begins_late: bool = False
    """The capture begins after the handshake."""
    at_client: bool = True


@dataclass
class End:
    """An end's part in the spin bit: the server reflects, the client inverts."""

    is_client: bool
    highest: int = -1
    bit: int = 0

    def took(self, number: int, bit: int) -> None:
        """A packet of that number came: only the newest counts (RFC 9000 §17.4)."""
        if number > self.highest:
            self.highest = number
            self.bit = 1 - bit if self.is_client else bit


def long_header(kind: int, version: int, to: int, source: int, length: int) -> bytes:
    """A packet with a long header (RFC 9000 §17.2; types as of RFC 9369 §3.2 in version 2)."""
    turned = (kind + 1) % 4 if version == 0x6B3343CF else kind
    # In negotiation the fixed bit is unused, and better set (§17.2.1).
    first = 0xC0 if version == 0 else 0xC0 | turned << 4
    head = struct.pack(">BI", first, version) + bytes([to]) + b"\xaa" * to
    head += bytes([source]) + b"\xbb" * source
    return head.ljust(length, b"\0")


def short_header(spin: int, length: int) -> bytes:
    """A packet with a short header (§17.3.1), its protected bits as they come."""
    return bytes([0x40 | spin << 5]).ljust(length, b"\x5c")


def datagrams(
    link: Link, shape: Shape, seconds: float, seed: int
) -> Iterator[tuple[float, bool, bytes]]:
    """Times at the capture, whether from the server, and payloads; not in order of time."""
    draws = random.Random(seed)
    client_id, server_id = shape.id_bytes
    delay = link.one_way_s
    # At the client packets are seen as they arrive and as they leave.
    seen_late = 0.0 if shape.at_client else delay

    def up(at: float, payload: bytes) -> tuple[float, bool, bytes]:
        return at + seen_late, False, payload

    def down(arrives: float, leaves: float, payload: bytes) -> tuple[float, bool, bytes]:
        return (arrives if shape.at_client else leaves), True, payload

    now = 0.0
    if shape.negotiates:
        yield up(now, long_header(0, 0x0A0A0A0A, 8, client_id, FULL))
        yield down(now + 2 * delay, now + delay, long_header(0, 0, client_id, 8, 60))
        now += 2 * delay
    yield up(now, long_header(0, shape.version, 8, client_id, FULL))
    answer = long_header(0, shape.version, client_id, server_id, FULL)
    yield down(now + 2 * delay, now + delay, answer)
    now += 2 * delay
    yield up(now, long_header(2, shape.version, server_id, client_id, 80))
    yield from _transfer(link, shape, now + delay, now + seconds, draws, up, down)


Row = tuple[float, bool, bytes]


def _transfer(
    link: Link,
    shape: Shape,
    begun: float,
    until: float,
    draws: random.Random,
    up: Callable[[float, bytes], Row],
    down: Callable[[float, float, bytes], Row],
) -> Iterator[Row]:
    client, server = End(is_client=True), End(is_client=False)

    def bit_of(end: End) -> int:
        match shape.spin:
            case "constant":
                return 0
            case "random":
                return draws.getrandbits(1)
            case _:
                return end.bit

    free_at, order, acks = begun, 0, 0
    events: list[tuple[float, int, str, int, int]] = []
    for number in range(link.window_packets):
        heapq.heappush(events, (begun + 1e-5 * number, order, "send", number, 0))
        order += 1
    sent = link.window_packets
    while events:
        at, _, what, number, bit = heapq.heappop(events)
        if at > until:
            break
        order += 1
        if what == "send":
            bit = bit_of(server)
            free_at = max(free_at, at) + 8 * (FULL + 28) / link.rate_bps
            if link.stop and link.stop[0] <= free_at < sum(link.stop):
                free_at = sum(link.stop)
            arrives = free_at + link.one_way_s
            yield down(arrives, at, short_header(bit, FULL))
            heapq.heappush(events, (arrives, order, "came", number, bit))
        elif what == "came":
            client.took(number, bit)
            if number % 2:
                bit = bit_of(client)
                yield up(at, short_header(bit, SMALL))
                heapq.heappush(events, (at + link.one_way_s, order, "ack", acks, bit))
                acks += 1
        else:
            server.took(number, bit)
            for more in range(2):
                heapq.heappush(events, (at, order + more, "send", sent + more, 0))
            order += 2
            sent += 2


def write(
    path: Path, link: Link, shape: Shape | None = None, seconds: float = 10.0, seed: int = 1
) -> Path:
    """Writes such a capture as pcap, of raw IP packets."""
    shape = shape or Shape()
    rows = sorted(datagrams(link, shape, seconds, seed), key=lambda row: row[0])
    if shape.begins_late:
        rows = [row for row in rows if row[0] > 1.0]
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65_535, RAW_IP))
        for at, from_server, payload in rows:
            packet = _packet(payload, from_server=from_server, is_ipv6=shape.is_ipv6)
            whole, nanos = divmod(round(at * 1e9), 10**9)
            kept = packet[:128]
            file.write(struct.pack("<IIII", whole, nanos, len(kept), len(packet)) + kept)
    return path


def _packet(payload: bytes, *, from_server: bool, is_ipv6: bool) -> bytes:
    ports = (SERVER_PORT, CLIENT_PORT) if from_server else (CLIENT_PORT, SERVER_PORT)
    udp = struct.pack(">HHHH", *ports, 8 + len(payload), 0) + payload
    ends = [b"\1", b"\2"] if from_server else [b"\2", b"\1"]
    if is_ipv6:
        prefix = b"\x20\x01\x0d\xb8" + bytes(11)
        head = struct.pack(">IHBB", 6 << 28, len(udp), 17, 64)
        return head + prefix + ends[0] + prefix + ends[1] + udp
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0)
    return head + b"\x0a\0\0" + ends[0] + b"\x0a\0\0" + ends[1] + udp
