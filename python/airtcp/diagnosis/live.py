"""Captures packets of a network interface into a file (packet(7), Linux)."""

import contextlib
import ctypes
import os
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from airtcp._core import ScenarioError

SNAP_BYTES = 128
"""IP and TCP headers with all options."""
MAX_PACKETS = 8_000_000
"""Maximum number of packets of a capture, about a gigabyte."""
LAST_S = 0.5
"""Maximum time after the end to read pending packets: more may arrive all the time."""
SOL_PACKET, PACKET_STATISTICS, PACKET_AUXDATA, PACKET_OUTGOING = 263, 6, 8, 4
SO_TIMESTAMPNS, SO_ATTACH_FILTER = 35, 26
ETH_P_ALL = 0x0003
ARPHRD_LOOPBACK = 772
PR_SET_NO_NEW_PRIVS, CAPABILITY_VERSION_3 = 38, 0x20080522
PCAP_HEADER = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 101)
"""Times in nanoseconds, IP without a link layer (LINKTYPE_RAW)."""
TCP_OF_IP = (
    (0x30, 0, 0, 0),  # the first byte: version and length of the header
    (0x74, 0, 0, 4),
    (0x15, 0, 2, 4),
    (0x30, 0, 0, 9),  # IPv4: its protocol
    (0x15, 3, 4, 6),
    (0x15, 0, 3, 6),
    (0x30, 0, 0, 6),  # IPv6: its next header
    (0x15, 0, 1, 6),
    (0x6, 0, 0, SNAP_BYTES),
    (0x6, 0, 0, 0),
)
"""Classic BPF: TCP over IPv4 or IPv6 without extension headers, cut at `SNAP_BYTES`."""

Progress = Callable[[float, str], object]


@dataclass(frozen=True)
class CaptureSummary:
    """Summary of a capture."""

    packets: int
    dropped: int
    """Packets dropped by the kernel for lack of room."""
    seconds: float
    was_ended: bool
    """Whether Ctrl-C ended it."""


def capture_live(
    device: str, seconds: float, path: Path, progress: Progress | None = None
) -> CaptureSummary:
    """Captures the TCP packets of a device for `seconds`, or until Ctrl-C, into a file.

    The privilege to capture is permanently dropped before the first packet is read.

    Raises:
        ScenarioError: there is no such device, permission is missing, or the system is not Linux.
    """
    if not hasattr(socket, "AF_PACKET"):
        raise ScenarioError("-i: captures need Linux; elsewhere give a capture of tcpdump")
    with _opened(device) as packets, path.open("wb") as file:
        _drop_privileges(path)
        return _read(packets, file.write, seconds, progress)


def _opened(device: str) -> socket.socket:
    try:
        # Protocol 0 receives nothing until the filter is attached.
        packets = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
    except PermissionError:
        raise ScenarioError(
            f"-i {device}: may not capture: run it with sudo, or give `python3` CAP_NET_RAW"
        ) from None
    try:
        code = b"".join(struct.pack("HBBI", *one) for one in TCP_OF_IP)
        program = ctypes.create_string_buffer(code, len(code))
        where = struct.pack("HL", len(TCP_OF_IP), ctypes.addressof(program))
        packets.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, where)
        packets.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        packets.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        packets.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        packets.bind((device, ETH_P_ALL))
    except OSError as error:
        packets.close()
        raise ScenarioError(
            f"-i {device}: cannot be captured ({error.strerror}): expected one of "
            f"{', '.join(name for _, name in socket.if_nameindex())}"
        ) from None
    return packets


def _drop_privileges(path: Path) -> None:
    """Becomes the user who called sudo, and gives up every capability."""
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.environ.get("SUDO_UID"), os.environ.get("SUDO_GID")
    if os.geteuid() == 0 and user is not None and group is not None:
        os.chown(path, int(user), int(group))
        if list(path.parent.iterdir()) == [path]:
            os.chown(path.parent, int(user), int(group))  # created for this file
        os.setgroups([])
        os.setgid(int(group))
        os.setuid(int(user))
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    header = struct.pack("II", CAPABILITY_VERSION_3, 0)
    if libc.capset(header, bytes(24)):
        raise ScenarioError(f"-i: cannot drop privileges: {os.strerror(ctypes.get_errno())}")


def _read(
    packets: socket.socket,
    write: Callable[[bytes], object],
    seconds: float,
    progress: Progress | None,
) -> CaptureSummary:
    write(PCAP_HEADER)
    begun = time.monotonic()
    count, bytes_, was_ended, said = 0, 0, False, begun
    until = begun + seconds
    while count < MAX_PACKETS:
        try:
            # Ctrl-C may arrive at any point of a round, its bookkeeping included.
            while count < MAX_PACKETS:
                now = time.monotonic()
                if progress and now - said >= 0.5:
                    said = now
                    rate = 8e-6 * bytes_ / (now - begun)
                    share = min((now - begun) / seconds, 1.0)
                    progress(share, f"{count:,} packets of TCP, {rate:.1f} Mbit/s; Ctrl-C ends it")
                if now > until + LAST_S:
                    break
                # Packets that arrived before the end are read after it.
                packets.settimeout(max(0.0, min(until - now, 0.5)))
                with contextlib.suppress(TimeoutError):
                    length = _written(packets, write)
                    count, bytes_ = count + (length > 0), bytes_ + length
            break
        except BlockingIOError:
            break
        except KeyboardInterrupt:
            was_ended, until = True, time.monotonic()
    dropped = struct.unpack("II", packets.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))[1]
    return CaptureSummary(count, dropped, time.monotonic() - begun, was_ended)


def _written(packets: socket.socket, write: Callable[[bytes], object]) -> int:
    """Writes the next packet; returns its length, or 0 for the second copy of one."""
    data, more, _, address = packets.recvmsg(SNAP_BYTES, 256)
    # The loopback device delivers each packet twice, outgoing and incoming.
    if address[3] == ARPHRD_LOOPBACK and address[2] == PACKET_OUTGOING:
        return 0
    at, length = _details(more, len(data))
    write(struct.pack("<IIII", *at, len(data), length) + data)
    return length


def _details(more: list[tuple[int, int, bytes]], length: int) -> tuple[tuple[int, int], int]:
    """A packet's time, in seconds and nanoseconds, and its length before truncation."""
    now = time.time_ns()
    at = now // 1_000_000_000, now % 1_000_000_000
    for level, kind, data in more:
        if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
            at = struct.unpack_from("qq", data)
        elif level == SOL_PACKET and kind == PACKET_AUXDATA:
            (length,) = struct.unpack_from("I", data, 4)
    return at, length
