"""Packets of one TCP connection, written into a pcap as a capture would hold them."""

import struct
from dataclasses import dataclass, field
from pathlib import Path

SYN, FIN, ACK = 0x02, 0x01, 0x10
ETHERNET = bytes(12) + b"\x08\x00"


@dataclass
class Connection:
    """A connection from 10.0.0.1 to 10.0.0.2; sequence numbers count from 0 at either end."""

    window: int = 65_536
    mss: int = 1460
    scale: int = 7
    has_timestamps: bool = True
    port: int = 40_000
    is_reverse: bool = False
    """It was opened by the other end, whose data is of interest."""
    records: list[tuple[float, bytes]] = field(default_factory=list, repr=False)

    def open(self, at_s: float, rtt_s: float, *, is_at_client: bool = True) -> None:
        """The handshake, captured at the client or at the server."""
        options = struct.pack("!BBH", 2, 4, self.mss) + b"\x04\x02" + b"\x01" * 2
        options += struct.pack("!BBB", 3, 3, self.scale) + b"\x01"
        answer = at_s + (rtt_s if is_at_client else 0.0)
        self._packet(at_s, 0, -1, 0, SYN, 0, options)
        self._packet(answer, 1, -1, 0, SYN | ACK, 0, options)
        self._packet(answer + (0.0 if is_at_client else rtt_s), 0, 0, 0, ACK, 0)

    def data(
        self,
        at_s: float,
        start: int,
        length: int,
        ack: int = 0,
        *,
        back: bool = False,
        stamped_s: tuple[float, float] | None = None,
    ) -> None:
        """Data of the client, or of the server (`back`), from byte `start` on.

        Captured at the other end, it is `stamped_s`: when it left, and when the acknowledgment did
        that it echoes.
        """
        self._packet(at_s, int(back), start, ack, ACK, length, stamped_s=stamped_s)

    def ack(
        self,
        at_s: float,
        ack: int,
        *,
        start: int = 0,
        sack: tuple[int, int] | None = None,
        window: int | None = None,
        back: bool = True,
        stamped_s: tuple[float, float] | None = None,
    ) -> None:
        """An acknowledgment of the server, or of the client; `stamped_s` as for data."""
        options = b""
        if sack is not None:
            options = struct.pack("!BBBBII", 1, 1, 5, 10, 1 + sack[0], 1 + sack[1])
        self._packet(at_s, int(back), start, ack, ACK, 0, options, window, stamped_s)

    def _packet(
        self,
        at_s: float,
        side: int,
        start: int,
        ack: int,
        flags: int,
        length: int,
        options: bytes = b"",
        window: int | None = None,
        stamped_s: tuple[float, float] | None = None,
    ) -> None:
        if self.has_timestamps:
            # RFC 7323 §5.2: the clock wraps.
            value, echo = (int(1000 * one + 1) % 2**32 for one in stamped_s or (at_s, at_s))
            options += b"\x01\x01" + struct.pack("!BBII", 8, 10, value, echo if flags & ACK else 0)
        options += b"\x01" * (-len(options) % 4)
        side ^= int(self.is_reverse)
        ends = [(bytes((10, 0, 0, 1)), self.port), (bytes((10, 0, 0, 2)), 5001)]
        (source, sport), (sink, dport) = ends[side], ends[1 - side]
        offered = self.window if window is None else window
        shown = offered if flags & SYN else offered >> self.scale
        tcp = struct.pack(
            "!HHIIBBHHH",
            sport,
            dport,
            (1 + start) % 2**32,
            (1 + ack) % 2**32 if flags & ACK else 0,
            (5 + len(options) // 4) << 4,
            flags,
            min(shown, 65_535),
            0,
            0,
        )
        whole = 20 + len(tcp) + len(options) + length
        ip = struct.pack("!BBHHHBBH", 0x45, 0, whole, 0, 0, 64, 6, 0) + source + sink
        self.records.append((at_s, ETHERNET + ip + tcp + options + bytes(min(length, 8))))
        self.lengths.append(14 + whole)

    @property
    def lengths(self) -> list[int]:
        """The lengths of the packets on the wire."""
        return self.__dict__.setdefault("_lengths", [])


def write(path: Path, *connections: Connection) -> Path:
    """Writes a pcap of the connections' packets, in the order of time; returns its path."""
    records = [
        (at, number, packet, length)
        for number, one in enumerate(connections)
        for (at, packet), length in zip(one.records, one.lengths, strict=True)
    ]
    records.sort(key=lambda record: record[0])
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65_535, 1))
        for at, _, packet, length in records:
            nanos = round(1e9 * (1_700_000_000 + at))
            file.write(struct.pack("<IIII", *divmod(nanos, 10**9), len(packet), length))
            file.write(packet)
    return path
