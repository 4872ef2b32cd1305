"""A wire of two TUN devices that loses, repeats, damages and delays packets.

The endpoint is beyond airtcp0, which this namespace routes to bent0; the wire ends at bent1 in the
far namespace.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import random
import select
import struct
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

FAR = "10.113.0.2"
CLONE_NEWNET = 0x40000000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000


@dataclass(frozen=True)
class Faults:
    """Packet faults of the wire, as probabilities."""

    lost: float = 0.0
    duplicated: float = 0.0
    damaged: float = 0.0
    late: float = 0.0


def sh(*command: str, check: bool = True) -> str:
    """Runs a command, and returns its output."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if check and done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


class Wire:
    """Two TUN devices and the link between them: in the endpoint's and the far namespace."""

    def __init__(self, faults: Faults, mtu: int = 1500, delay: float = 0.002) -> None:
        self.faults, self.delay = faults, delay
        self.draws = random.Random(1)
        self.here = self._tun("bent0", "10.113.0.1/30", mtu)
        self.ready = threading.Event()
        self.stopped = False
        self.far: int | None = None
        self.far_thread = threading.Thread(target=self._far_side, args=(mtu,), daemon=True)
        self.far_work: list[tuple[Callable[[], object], threading.Event, list[object]]] = []
        self.far_thread.start()
        self.ready.wait(10)
        self.thread = threading.Thread(target=self._carry, daemon=True)
        self.thread.start()

    def _tun(self, name: str, address: str, mtu: int) -> int:
        device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
        sh("ip", "address", "add", address, "dev", name)
        sh("ip", "link", "set", name, "up", "mtu", str(mtu))
        return device

    def _far_side(self, mtu: int) -> None:
        """The far namespace belongs to this thread: sockets made here are there."""
        if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "unshare")
        sh("ip", "link", "set", "lo", "up")
        self.far = self._tun("bent1", f"{FAR}/30", mtu)
        sh("ip", "route", "add", "10.112.7.0/24", "via", "10.113.0.1")
        self.ready.set()
        while not self.stopped:
            if self.far_work:
                work, done, result = self.far_work.pop(0)
                result.append(work())
                done.set()
            time.sleep(0.002)

    def there(self, work: Callable[[], object]) -> object:
        """Runs ``work`` in the far namespace."""
        done, result = threading.Event(), []
        self.far_work.append((work, done, result))
        if not done.wait(20):
            raise RuntimeError("the far side does not answer")
        return result[0]

    def _carry(self) -> None:
        assert self.far is not None
        ends = {self.here: self.far, self.far: self.here}
        flying: list[tuple[float, int, int, bytes]] = []
        count = 0
        while not self.stopped:
            now = time.monotonic()
            wait = max(0.0, min([flying[0][0] - now], default=0.05)) if flying else 0.05
            for end in select.select(list(ends), [], [], wait)[0]:
                for _ in range(64):
                    try:
                        packet = os.read(end, 65536)
                    except BlockingIOError:
                        break
                    for copy, late in self._bend(packet):
                        count += 1
                        due = time.monotonic() + self.delay + late
                        flying.append((due, count, ends[end], copy))
            flying.sort()
            now = time.monotonic()
            while flying and flying[0][0] <= now:
                _, _, to, packet = flying.pop(0)
                with suppress(OSError):
                    os.write(to, packet)

    def _bend(self, packet: bytes) -> list[tuple[bytes, float]]:
        draws, faults = self.draws, self.faults
        if draws.random() < faults.lost:
            return []
        copies = 2 if draws.random() < faults.duplicated else 1
        out = []
        for _ in range(copies):
            bent = bytearray(packet)
            if draws.random() < faults.damaged:
                bit = draws.randrange(8 * len(bent))
                bent[bit // 8] ^= 1 << bit % 8
            late = draws.random() * 0.02 if draws.random() < faults.late else 0.0
            out.append((bytes(bent), late))
        return out

    def close(self) -> None:
        self.stopped = True
        self.thread.join()
        self.far_thread.join()
        os.close(self.here)
        if self.far is not None:
            os.close(self.far)
