"""Writers of the recordings for the page of cases, each with one fault.

Some are spoilt after the recording: by a converter, a coarse clock, a short snap length, or a
tunnel around each packet.
"""

import struct
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

import airtcp
from capture_mutants import Packets, packets_of
from capture_mutants import write as write_packets
from ping_kinds import PingedLink

Write = Callable[[Path], Path]
"""Writes a recording into a folder; returns its path."""

PIPE = {
    "link.rate": "10 Mbit/s",
    "link.delay": "20 ms",
    "link.queue.packets": 100,
    "tcp.profile": "linux",
}
SEED = 3


def simulated(seconds: int = 20, **keys: object) -> Write:
    """A simulated capture; `link__loss__rate` is `link.loss.rate`, and None takes a key out."""
    settings = PIPE | {key.replace("__", "."): value for key, value in keys.items()}
    settings = {key: value for key, value in settings.items() if value is not None}

    def write(folder: Path) -> Path:
        for name, text in _FILES.items():
            (folder / name).write_text(text)
        here = {
            key: str(folder / value) if value in _FILES else value
            for key, value in settings.items()
        }
        path = folder / "recording.pcapng"
        toml = f'name = "captured"\nduration = "{seconds} s"\n'
        airtcp.run(toml, SEED, settings=here, pcap=path)
        return path

    return write


def made(fault: Callable[..., Path], *words: object, **options: object) -> Write:
    return lambda folder: fault(folder / "recording.pcap", *words, **options)


def pinged(link: PingedLink, seconds: float, interval: float = 0.2) -> Write:
    return lambda folder: link.write(folder / "recording.ping", seconds, interval)


def _opportunities(*phases: tuple[float, float]) -> str:
    """Delivery opportunities of phases of seconds at a rate in Mbit/s."""
    at, end, lines = 0.0, 0.0, []
    for seconds, rate in phases:
        end += 1e3 * seconds
        while at < end:
            at += 12.0 / rate
            lines.append(f"{max(1, round(at))}\n")
    return "".join(lines)


_FILES = {
    "path.csv": "time_ms,delay_ms,loss\n0,16,0\n15000,31,0\n30000,22,0\n",
    "outage.csv": "start_ms,length_ms\n15000,20000\n",
    "satellite.opportunities": _opportunities((15, 12), (15, 7), (30, 15)),
    "cell.opportunities": _opportunities(
        *((1.5, rate) for rate in (22, 9, 14, 4, 7, 18, 3, 11, 6, 16, 5, 9, 13, 4, 8, 20))
    ),
}


def spoilt(write: Write, change: Callable[[Packets], Packets]) -> Write:
    """A simulated capture, changed."""

    def written(folder: Path) -> Path:
        path = folder / "recording.pcap"
        write_packets(path, change(packets_of(write(folder))))
        return path

    return written


def ticking(packets: Packets) -> Packets:
    """Times of a clock that ticks as Windows' does, 64 times a second."""
    tick = 15_625_000
    return [(at // tick * tick, packet) for at, packet in packets]


def without_times(packets: Packets) -> Packets:
    """Times that a converter lost."""
    return [(0, packet) for _, packet in packets]


def cut(packets: Packets) -> Packets:
    """What `tcpdump -s 68` keeps of a packet behind Ethernet's 14 bytes."""
    return [(at, packet[:54]) for at, packet in packets]


def in_wireguard(packets: Packets) -> Packets:
    """Each packet in a message of WireGuard, between the tunnel's ends, encrypted."""
    found = []
    for number, (at, packet) in enumerate(packets):
        # Type 4, receiver, counter; the content is padded to a multiple of 16, and authenticated.
        message = struct.pack("<IIQ", 4, 7, number) + bytes(len(packet) + -len(packet) % 16 + 16)
        back = packet[12:16] > packet[16:20]
        ends = (b"\xc0\0\2\1", b"\xc6\x33\x64\7")
        udp = struct.pack(">HHHH", 51820, 51820, 8 + len(message), 0)
        head = struct.pack(">BBHHHBBH", 0x45, 0, 28 + len(message), number & 0xFFFF, 0, 64, 17, 0)
        addresses = b"".join(ends[::-1] if back else ends)
        found.append((at, bytearray(head + addresses + udp + message)))
    return found
