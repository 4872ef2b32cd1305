#!/usr/bin/env python3
"""Records real ``ping`` over an emulated wireless link, between two network namespaces.

    sudo ./record.py record wifi-spikes      writes wifi-spikes.ping (and so for every profile)
    ./record.py predict wifi-spikes          round trips of these probes by the link's model, no
    kernel
    ./record.py summary wifi-spikes.ping...  statistics of recordings

Needs Linux, Python 3.11 and iproute2, util-linux, iputils-ping; ``record`` needs root.
Nothing is left behind however it ends, SIGKILL included: the namespaces have no name, each is held
by a process that ends when this one's pipe to it closes and takes `ping` along as its process
namespace goes, and the TUN devices are held by open files.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import heapq
import itertools
import math
import os
import re
import selectors
import signal
import statistics
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from emulator import Channel, Direction, Link, Suspension, Way, ways

HERE = Path(__file__).resolve().parent
STATION, HOST = "10.77.0.1", "10.77.0.2"
ECHO_BYTES = 1472  # with 8 of ICMP and 20 of IPv4 a whole packet of 1500 bytes


@dataclass(frozen=True)
class Profile:
    """A recording: a link, and the probes sent over it."""

    link: Link
    interval_s: float
    probes: int


PROFILES = {
    # A station at the edge of its cell: fades of some 100 ms in which hardly a frame gets through,
    # a retry each 20 ms (rate fallback and back-off at the largest window), and a scan of
    # other channels every 4 s.
    "wifi-spikes": Profile(
        Link(
            uplink=Direction(20_000_000, 0.008, 200, 0.020),
            downlink=Direction(20_000_000, 0.008, 200, 0.020),
            channel=Channel(good_s=5.0, bad_s=0.45, loss_good=0.02, loss_bad=0.95),
            suspension=Suspension(period_s=4.0, length_s=0.150),
        ),
        interval_s=0.05,
        probes=3400,
    ),
    # A slow cell: each block that is lost waits for a status report before it is retransmitted.
    "cellular-slow": Profile(
        Link(
            uplink=Direction(256_000, 0.080, 100, 0.120),
            downlink=Direction(768_000, 0.080, 100, 0.080),
            channel=Channel(good_s=0.5, bad_s=0.2, loss_good=0.12, loss_bad=0.75),
            suspension=None,
        ),
        interval_s=0.4,
        probes=1500,
    ),
}


# --- the kernel's side: namespaces, devices, ping ---------------------------------------------


@contextlib.contextmanager
def namespace() -> Iterator[int]:
    """Network and process namespaces without a name; yields the id of the process holding them."""
    holder = subprocess.Popen(
        ["unshare", "--net", "--pid", "--fork", "sh", "-c", "echo ready; exec cat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    try:
        if holder.stdout.readline() != b"ready\n":
            sys.exit("record: cannot make a network namespace: run as root")
        yield holder.pid
    finally:
        holder.stdin.close()
        holder.wait()


def run_in(holder: int, *command: str) -> list[str]:
    """The command line that runs another within the namespaces."""
    namespaces = f"/proc/{holder}/ns"
    return [
        "nsenter",
        f"--net={namespaces}/net",
        f"--pid={namespaces}/pid_for_children",
        *command,
    ]


@contextlib.contextmanager
def tun(name: str, holder: int, address: str) -> Iterator[int]:
    """A TUN device in the namespace; yields the file that reads and writes its IP packets."""
    tunsetiff, iff_tun, iff_no_pi = 0x400454CA, 0x0001, 0x1000  # linux/if_tun.h
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.ioctl(device, tunsetiff, struct.pack("16sH", name.encode(), iff_tun | iff_no_pi))
        subprocess.run(["ip", "link", "set", name, "netns", str(holder)], check=True)
        for command in (
            ["ip", "address", "add", f"{address}/24", "dev", name],
            ["ip", "link", "set", name, "mtu", "1500", "txqueuelen", "1000", "up"],
        ):
            subprocess.run(run_in(holder, *command), check=True)
        yield device
    finally:
        os.close(device)


@contextlib.contextmanager
def ping(holder: int, profile: Profile) -> Iterator[int]:
    """``ping`` at work in the namespace; yields the file on which it prints."""
    deadline = math.ceil(profile.probes * profile.interval_s + 10)
    command = ["ping", "-n", "-D", "-i", str(profile.interval_s), "-s", str(ECHO_BYTES)]
    command += ["-c", str(profile.probes), "-W", "10", "-w", str(deadline), HOST]
    process = subprocess.Popen(
        run_in(holder, *command), stdout=subprocess.PIPE, env={**os.environ, "LC_ALL": "C"}
    )
    assert process.stdout is not None
    try:
        yield process.stdout.fileno()
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def carry(devices: tuple[int, int], link: tuple[Way, Way], log: int) -> bytes:
    """Carries packets between the devices until ``ping`` has ended; returns its output."""
    start = time.monotonic()
    printed = bytearray()
    under_way: list[tuple[float, int, int, bytes]] = []
    entered = 0
    with selectors.DefaultSelector() as selector:
        for side, device in enumerate(devices):
            selector.register(device, selectors.EVENT_READ, side)
        selector.register(log, selectors.EVENT_READ, None)
        while True:
            now = time.monotonic() - start
            while under_way and under_way[0][0] <= now:
                _, _, side, packet = heapq.heappop(under_way)
                os.write(devices[side], packet)
            wait = under_way[0][0] - now if under_way else None
            for key, _ in selector.select(wait):
                if key.data is None:
                    text = os.read(log, 65536)
                    printed += text
                    if not text:
                        return bytes(printed)
                    continue
                packet = os.read(key.fd, 65536)
                if packet[0] >> 4 != 4:
                    continue  # IPv6 looking for routers
                arrives = link[key.data].accept(time.monotonic() - start, len(packet))
                if arrives is not None:
                    entered += 1
                    heapq.heappush(under_way, (arrives, entered, 1 - key.data, packet))


def record(profile: Profile, seed: int) -> bytes:
    """The output of one real ``ping`` over the profile's link."""
    pid = os.getpid()
    with contextlib.ExitStack() as stack:
        station, host = stack.enter_context(namespace()), stack.enter_context(namespace())
        devices = (
            stack.enter_context(tun(f"station{pid % 10**7}", station, STATION)),
            stack.enter_context(tun(f"host{pid % 10**7}", host, HOST)),
        )
        log = stack.enter_context(ping(station, profile))
        link = ways(profile.link, seed)
        printed = carry(devices, link, log)
        print(
            f"frames sent again: {link[0].retries} up, {link[1].retries} down; "
            f"packets dropped: {link[0].dropped} up, {link[1].dropped} down",
            file=sys.stderr,
        )
        return printed


# --- without a kernel, and afterwards ---------------------------------------------------------


def predict(profile: Profile, seed: int) -> list[float]:
    """Round-trip times in ms of these probes by the link's model."""
    uplink, downlink = ways(profile.link, seed)
    ip_bytes = ECHO_BYTES + 28
    rtts = []
    for probe in range(profile.probes):
        sent = probe * profile.interval_s
        echoed = uplink.accept(sent, ip_bytes)
        returned = downlink.accept(echoed, ip_bytes) if echoed is not None else None
        if returned is not None:
            rtts.append(1000 * (returned - sent))
    return rtts


def read(text: str) -> list[float]:
    """Round-trip times in ms in the order of sending, from the output of ``ping``."""
    replies = re.findall(r"icmp_seq=(\d+) .*time=([0-9.]+) ms", text)
    return [float(ms) for _, ms in sorted((int(number), ms) for number, ms in replies)]


def summarise(name: str, rtts: list[float]) -> str:
    """One row of the table in README.md."""
    mean, deviation = statistics.fmean(rtts), statistics.stdev(rtts)
    pairs = itertools.pairwise(rtts)
    covariance = sum((a - mean) * (b - mean) for a, b in pairs) / len(rtts)
    quantiles = statistics.quantiles(rtts, n=100)
    # A spike begins where a probe takes 100 ms longer than the one before it.
    spikes = sum(later - earlier > 100 for earlier, later in itertools.pairwise(rtts))
    columns = [len(rtts), mean, deviation, min(rtts), quantiles[49], quantiles[94]]
    columns += [quantiles[98], max(rtts)]
    cells = [f"{value:.0f}" for value in columns]
    lag_1 = covariance / statistics.pvariance(rtts)
    return f"| {name} | {' | '.join(cells)} | {spikes} | {lag_1:.2f} |"


HEADER = (
    "| recording | replies | mean ms | st. dev. ms | min ms | median ms | 95 % ms | 99 % ms "
    "| max ms | rises > 100 ms | lag-1 autocorrelation |\n" + "|---" * 11 + "|"
)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    commands = parser.add_subparsers(dest="command", required=True)
    for command in ("record", "predict"):
        sub = commands.add_parser(command)
        sub.add_argument("profile", choices=PROFILES)
        sub.add_argument("--seed", type=int, default=1, help="of the link's channel")
    summary = commands.add_parser("summary")
    summary.add_argument("files", type=Path, nargs="+")
    arguments = parser.parse_args()
    # Ended politely, leave through every `finally`.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    if arguments.command == "summary":
        print(HEADER)
        for file in arguments.files:
            print(summarise(file.stem, read(file.read_text())))
        return
    profile = PROFILES[arguments.profile]
    if arguments.command == "predict":
        print(HEADER)
        print(summarise(arguments.profile, predict(profile, arguments.seed)))
        return
    printed = record(profile, arguments.seed)
    (HERE / f"{arguments.profile}.ping").write_bytes(printed)
    print(printed.decode().splitlines()[-1])


if __name__ == "__main__":
    main()
