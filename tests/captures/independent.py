#!/usr/bin/env python3
"""Scores the causes found for losses, on captures of the kernel over another emulator.

    tests/captures/independent.py FOLDER [--json docs/measurements/diagnose.json]

Two network namespaces of this machine are joined by a few lines of Python between TUN devices: a
token bucket, a drop-tail queue, CoDel after the pseudocode of RFC 8289 §5, and random losses of a
radio. It captures at the sender, and records the fate of each packet. Needs root; 20 s a case.

The emulator runs in real time: it takes precedence over every other program (sched(7)), and a case
in which packets still left late is recorded again.
"""

import argparse
import ctypes
import fcntl
import json
import multiprocessing
import os
import random
import select
import socket
import struct
import subprocess
import sys
import time
from collections import deque
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import polars as pl
from queues import CAUSES, Case, Score, compared

SECONDS = 20
CLONE_NEWNET = 0x40000000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
PORT = 5001
PCAP_HEADER = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 101)
INTERVAL_S = 0.1
"""CoDel's (RFC 8289 §4.3)."""
PRIORITY = 10
"""The emulator's among real-time programs, which precede all others."""
LATE_S = 0.005
"""An eighth of the shortest round trip."""
MAX_LATE = 0.01
"""Largest share of packets that leave more than `LATE_S` after their time."""
TRIES = 5


@dataclass(frozen=True)
class Link:
    """The emulator's treatment of data; acknowledgments are only delayed."""

    kind: str
    name: str
    bps: float
    delay_s: float
    packets: int = 1000
    codel_s: float = 0.0
    """CoDel's target; 0 for a plain queue."""
    burst: float = 0.0
    """Bytes of a token bucket that has the rate in place of the link; 0 for no bucket."""
    loss: float = 0.0
    control: str = "cubic"
    flows: int = 1
    """Number of flows; only the first is captured."""


LINKS = (
    Link("policer", "policer", 5e6, 0.02, burst=80_000),
    Link("policer", "policer reno", 9e6, 0.03, burst=200_000, control="reno"),
    Link("policer and radio", "policer and radio", 7e6, 0.02, burst=60_000, loss=0.003),
    Link("full queue", "full queue", 8e6, 0.02, packets=60),
    Link("radio", "radio", 8e6, 0.02, packets=100, loss=0.005),
    Link("AQM", "codel", 8e6, 0.03, codel_s=0.005),
    Link("AQM", "codel reno", 12e6, 0.02, codel_s=0.005, control="reno"),
    Link("shared, hidden", "shared hidden", 8e6, 0.02, packets=60, flows=3),
)


def main() -> None:
    """Records missing cases, and scores all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", action="append", default=[], metavar="WORD")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    scores: dict[str, Score] = {}
    for link in LINKS:
        if not all(word in link.name for word in options.only):
            continue
        path = options.folder / f"{link.name.replace(' ', '-')}.pcap"
        if not path.exists():
            _record_in_time(link, path)
        name = "policer" if link.burst else "aqm" if link.codel_s else "tail-drop"
        case = Case(link.kind, link.name, {}, 0, name)
        print(f"{link.name:24s} {compared(case, path, scores.setdefault(link.kind, Score()))}")
    matrix = {kind: {t: dict(c) for t, c in s.taken_for.items()} for kind, s in scores.items()}
    for kind, rows in matrix.items():
        for truth, counts in rows.items():
            shown = ", ".join(f"{name} {counts[name]}" for name in CAUSES if name in counts)
            print(f"{kind:20s} {truth:10s} {shown}")
    if options.json:
        found = json.loads(options.json.read_text()) if options.json.exists() else {}
        found.setdefault("causes", {})["independent"] = matrix
        options.json.write_text(json.dumps(found, indent=1) + "\n")


class Capture:
    """A capture and the fates of one flow."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("wb")
        self.file.write(PCAP_HEADER)
        self.begun = time.time()
        self.port = 0
        self.initial = 0
        self.fates: list[tuple[float, str, int]] = []

    def seen(self, packet: bytes) -> None:
        """Writes a packet of the first flow down."""
        header = 4 * (packet[0] & 15)
        ports = struct.unpack_from(">HH", packet, header)
        flags = packet[header + 13]
        if flags == 2 and not self.port:
            self.port = ports[0]
            (self.initial,) = struct.unpack_from(">I", packet, header + 4)
        if self.port in ports:
            now = time.time()
            kept = packet[:128]
            seconds = struct.pack("<II", int(now), int(now % 1 * 1e9))
            self.file.write(seconds + struct.pack("<II", len(kept), len(packet)) + kept)

    def lost(self, packet: bytes, event: str) -> None:
        """Writes the fate of a packet of the first flow down."""
        header = 4 * (packet[0] & 15)
        (port,) = struct.unpack_from(">H", packet, header)
        (number,) = struct.unpack_from(">I", packet, header + 4)
        if port == self.port:
            offset = (number - self.initial - 1) % 2**32
            self.fates.append((time.time() - self.begun, event, offset))

    def close(self, path: Path) -> None:
        """Writes the fates."""
        self.file.close()
        schema = {"time_s": pl.Float64, "event": pl.String, "offset": pl.UInt64}
        pl.DataFrame(self.fates, schema=schema, orient="row").write_parquet(path)


class Bottleneck:
    """The link in the direction of the data."""

    def __init__(self, link: Link, capture: Capture) -> None:
        self.link, self.capture = link, capture
        self.random = random.Random(7)
        self.waiting: deque[tuple[float, bytes]] = deque()
        self.free_at = 0.0
        self.tokens, self.filled_at = link.burst, time.monotonic()
        self.first_above = self.drop_next = 0.0
        self.is_dropping, self.drops = False, 0

    def put(self, packet: bytes, now: float) -> None:
        """A packet comes."""
        link = self.link
        if link.burst:
            self.tokens += (now - self.filled_at) * link.bps / 8
            self.tokens, self.filled_at = min(self.tokens, link.burst), now
            if self.tokens < len(packet):
                self.capture.lost(packet, "queue-drop")
                return
            self.tokens -= len(packet)
        if len(self.waiting) >= link.packets:
            self.capture.lost(packet, "queue-drop")
            return
        self.waiting.append((now, packet))

    def due(self) -> float | None:
        """The time at which the next packet has left."""
        return self.free_at if self.waiting else None

    def take(self, now: float) -> bytes | None:
        """A packet that has left by `now`."""
        while self.waiting and self.free_at <= now:
            came, packet = self.waiting.popleft()
            begins = max(self.free_at, came)
            if self.link.codel_s and self._drops(begins, begins - came):
                self.capture.lost(packet, "queue-drop")
                continue
            rate = 100e6 if self.link.burst else self.link.bps
            self.free_at = begins + 8 * len(packet) / rate
            if self.random.random() < self.link.loss:
                self.capture.lost(packet, "link-loss")
                continue
            return packet
        return None

    def _drops(self, now: float, sojourn: float) -> bool:
        """CoDel's decision about the packet at the head (RFC 8289 §5.5)."""
        if sojourn < self.link.codel_s or not self.waiting:
            self.first_above, self.is_dropping = 0.0, False
            return False
        if not self.first_above:
            self.first_above = now + INTERVAL_S
        above = now >= self.first_above
        if self.is_dropping:
            if above and now >= self.drop_next:
                self.drops += 1
                self.drop_next += INTERVAL_S / self.drops**0.5
                return True
        elif above:
            self.is_dropping = True
            again = self.drops - 1 if now - self.drop_next < 16 * INTERVAL_S else 0
            self.drops = max(1, again)
            self.drop_next = now + INTERVAL_S / self.drops**0.5
            return True
        return False


def _record_in_time(link: Link, path: Path) -> None:
    """Records a case until few of its packets are late."""
    os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(PRIORITY))
    for _ in range(TRIES):
        late = _record(link, path)
        print(f"{link.name:24s} recorded, {100 * late:.2f} % of the packets late", flush=True)
        if late <= MAX_LATE:
            break
    else:
        path.unlink()
        sys.exit(f"{link.name}: late {TRIES} times: record it where the machine has less to do")
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def _record(link: Link, path: Path) -> float:
    """Runs senders and receivers in separate namespaces, and the link between them.

    Returns the share of packets that left late.
    """
    parents, children = zip(*(multiprocessing.Pipe() for _ in range(2)), strict=True)
    ends = [
        multiprocessing.Process(target=_end, args=(link, place, children[place]))
        for place in range(2)
    ]
    for end in ends:
        end.start()
    devices = [_received(parent) for parent in parents]
    capture = Capture(path.with_suffix(".part"))
    bottleneck = Bottleneck(link, capture)
    under_way: tuple[deque[tuple[float, bytes]], ...] = (deque(), deque())
    for parent in parents:
        parent.send("go")
    left_late, left_all = 0, 0
    until = time.monotonic() + SECONDS + 2
    while (now := time.monotonic()) < until:
        times = [line[0][0] for line in under_way if line]
        due = bottleneck.due()
        times += [] if due is None else [due]
        wait = max(0.0, min([*times, now + 0.1]) - now)
        ready, _, _ = select.select(devices, [], [], wait)
        now = time.monotonic()
        for device in ready:
            packet = os.read(device, 65536)
            if packet[0] >> 4 != 4 or packet[9] != socket.IPPROTO_TCP:
                continue
            if device == devices[0]:
                capture.seen(packet)
                bottleneck.put(packet, now)
            else:
                under_way[0].append((now + link.delay_s, packet))
        while (left := bottleneck.take(now)) is not None:
            # By the link's own clock, however late this program was told of it.
            under_way[1].append((bottleneck.free_at + link.delay_s, left))
        for place, line in enumerate(under_way):
            while line and line[0][0] <= now:
                at, packet = line.popleft()
                left_all += 1
                left_late += now - at > LATE_S
                if place == 0:
                    capture.seen(packet)
                os.write(devices[place], packet)
    for end in ends:
        end.terminate()
        end.join()
    capture.close(path.with_suffix(".parquet"))
    path.with_suffix(".part").rename(path)
    return left_late / max(left_all, 1)


def _received(parent: Connection) -> int:
    """The device of a child, as a descriptor of this process."""
    pid, number = parent.recv()
    pidfd = os.pidfd_open(pid)
    libc = ctypes.CDLL(None, use_errno=True)
    pidfd_getfd = 438
    device: int = libc.syscall(pidfd_getfd, pidfd, number, 0)
    if device < 0:
        raise OSError(ctypes.get_errno(), "pidfd_getfd")
    return device


def _end(link: Link, place: int, pipe: Connection) -> None:
    """One end: a namespace with a TUN device, and its program."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare: this needs root")
    device = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", b"tun0", IFF_TUN | IFF_NO_PI))
    own, other = (f"10.77.0.{1 + number}" for number in (place, 1 - place))
    for words in (
        ["ip", "address", "add", own, "peer", other, "dev", "tun0"],
        ["ip", "link", "set", "tun0", "up"],
        ["ip", "link", "set", "lo", "up"],
    ):
        subprocess.run(words, check=True)
    pipe.send((os.getpid(), device))
    if place == 1:
        _receive(link.flows, pipe)
    else:
        _send(link, other, pipe)


def _receive(flows: int, pipe: Connection) -> None:
    with socket.create_server(("0.0.0.0", PORT), backlog=flows) as server:
        pipe.recv()
        streams = [server]
        while True:
            for stream in select.select(streams, [], [])[0]:
                if stream is server:
                    streams.append(server.accept()[0])
                else:
                    stream.recv(1 << 16)


def _send(link: Link, other: str, pipe: Connection) -> None:
    pipe.recv()
    time.sleep(0.5)  # the receiver listens by then
    streams = []
    for _ in range(link.flows):
        stream = socket.socket()
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, link.control.encode())
        stream.connect((other, PORT))
        stream.setblocking(False)
        streams.append(stream)
    until = time.monotonic() + SECONDS
    data = bytes(1 << 16)
    while time.monotonic() < until:
        for stream in select.select([], streams, [], 0.1)[1]:
            stream.send(data)
    time.sleep(5)


if __name__ == "__main__":
    main()
