"""Captures of connections with one fault each, whose every packet is known."""

from collections import deque
from pathlib import Path

from packets import Connection, write

FULL = 1448
"""Data of a full segment with timestamps: a packet of 1500 bytes."""


def mtu_hole(path: Path, most: int = 1400, *, has_short_after: bool = False) -> Path:
    """A request that arrives, then full segments that never do, repeated by a timer that doubles.

    With `has_short_after` the end of the burst is a short segment, which arrives.
    """
    flow = Connection()
    flow.open(0.0, 0.04)
    flow.data(0.041, 0, 300)
    flow.ack(0.081, 300)
    starts = [300 + FULL * number for number in range(10)]
    for start in starts:
        flow.data(0.1, start, FULL)
    end = starts[-1] + FULL
    if has_short_after:
        short = most - 200
        flow.data(0.1001, end, short)
        flow.ack(0.1401, 300, sack=(end, end + short))
    wait, at = 0.24, 0.1
    for _ in range(7):
        at += wait
        wait *= 2
        flow.data(at, 300, FULL)
    return write(path, flow)


def mtu_hole_at_receiver(path: Path, most: int = 1400, *, arrives: bool = False) -> Path:
    """A page of which only the short end comes, until the reader gives up after 15 s.

    With `arrives` full segments come as well, and only one packet is lost before the peer stops.
    """
    flow = Connection(is_reverse=True)
    flow.open(0.0, 0.04, is_at_client=False)
    starts = [FULL * number for number in range(10)]
    for number, start in enumerate(starts):
        if arrives and number != 6:
            flow.data(0.1 + 0.0001 * number, start, FULL)
            flow.ack(0.1001 + 0.0001 * number, min(start + FULL, starts[6]))
    end = starts[-1] + FULL
    flow.data(0.1011, end, most - 200)
    flow.ack(0.1012, starts[6] if arrives else 0, sack=(end, end + most - 200))
    flow.ack(15.0, starts[6] if arrives else 0, sack=(end, end + most - 200))
    return write(path, flow)


def small_writes_at_receiver(
    path: Path,
    delay_s: float = 0.04,
    rtt_s: float = 0.008,
    count: int = 200,
    *,
    has_timestamps: bool = True,
) -> Path:
    """The requests of `small_writes` as their receiver sees them."""
    flow = Connection(has_timestamps=has_timestamps)
    flow.open(0.0, rtt_s, is_at_client=False)
    at, sent, answered = 1.5 * rtt_s, 0, 0
    for _ in range(count):
        flow.data(at, sent, 40, answered)
        flow.ack(at + delay_s, sent + 40, start=answered)
        at += delay_s + rtt_s
        flow.data(at, sent + 40, 200, answered)
        flow.data(at + 0.00005, answered, 120, sent + 240, back=True)
        sent, answered = sent + 240, answered + 120
        at += rtt_s + 0.0004
    return write(path, flow)


def probing_sender(path: Path, seconds: float = 10.0) -> Path:
    """A hole that the sender finds: after three timeouts its segments are 1024 bytes, and arrive.

    Each second it tries a full one, in vain.
    """
    flow = Connection()
    flow.open(0.0, 0.04)
    at, start = 0.05, 0
    for number in range(4):
        flow.data(at, 0, FULL)
        at += 0.24 * 2**number
    while at < seconds:
        for number in range(4):
            flow.data(at, start + 1024 * number, 1024)
        start += 4096
        flow.ack(at + 0.04, start)
        at += 0.041
        if int(at / 0.041) % 25 == 0:
            flow.data(at, start, FULL)
            at += 0.3
    return write(path, flow)


def small_writes(
    path: Path,
    delay_s: float = 0.04,
    rtt_s: float = 0.008,
    count: int = 200,
    *,
    host_s: float = 0.00003,
) -> Path:
    """Requests of two writes: the second waits until the first is acknowledged.

    The host takes `host_s` to send it then: none in a simulator, or by a coarse clock.
    """
    flow = Connection()
    flow.open(0.0, rtt_s)
    at, sent, answered = rtt_s + 0.001, 0, 0
    for _ in range(count):
        flow.data(at, sent, 40, answered)
        at += rtt_s + delay_s
        flow.ack(at, sent + 40, start=answered)
        flow.data(at + host_s, sent + 40, 200, answered)
        at += rtt_s
        flow.data(at, answered, 120, sent + 240, back=True)
        sent, answered = sent + 240, answered + 120
        at += 0.0004
    return write(path, flow)


def requests(path: Path, rtt_s: float = 0.03, count: int = 300) -> Path:
    """Requests of one write, each after the answer to the one before: no Nagle."""
    flow = Connection()
    flow.open(0.0, rtt_s)
    at = rtt_s + 0.001
    for number in range(count):
        flow.data(at, 240 * number, 240, 120 * number)
        at += rtt_s
        flow.data(at, 120 * number, 120, 240 * (number + 1), back=True)
        at += 0.0003
    return write(path, flow)


def peer_gone(path: Path, until_s: float = 8.0) -> Path:
    """A transfer whose peer answers nothing after some seconds."""
    flow = Connection(window=1_000_000)
    flow.open(0.0, 0.04)
    at, start = 0.05, 0
    while at < until_s:
        for number in range(10):
            flow.data(at + 0.0012 * number, start + FULL * number, FULL)
            if number % 2:
                flow.ack(at + 0.04 + 0.0012 * number, start + FULL * (number + 1))
        start += 10 * FULL
        at += 0.052
    for number in range(10):
        flow.data(at, start + FULL * number, FULL)
    wait = 0.24
    for _ in range(6):
        at += wait
        wait *= 2
        flow.data(at, start, FULL)
    return write(path, flow)


def bounded_sender(
    path: Path, segments: int = 46, rtt_s: float = 0.1, bps: float = 20e6, seconds: float = 12.0
) -> Path:
    """A sender with at most this many segments in flight, in bursts; nothing is lost."""
    flow = Connection(window=4_000_000)
    flow.open(0.0, rtt_s)
    packet_s = 12_000 / bps
    waiting: deque[tuple[float, int]] = deque()
    at, start, free = rtt_s + 0.001, 0, 0.0
    for _ in range(segments):
        flow.data(at, start, FULL)
        free = max(free, at) + packet_s
        start += FULL
        waiting.append((free + rtt_s, start))
        at += 0.00002
    while waiting and waiting[0][0] < seconds:
        came, end = waiting.popleft()
        if (end // FULL) % 2 == 0:
            flow.ack(came, end)
        # The application is woken when a third of the buffer is free, and fills it.
        if (end // FULL) % (segments // 3) == 0:
            for number in range(segments // 3):
                sent = came + 0.00002 * (number + 1)
                flow.data(sent, start, FULL)
                free = max(free, sent) + packet_s
                start += FULL
                waiting.append((free + rtt_s, start))
    return write(path, flow)


def acknowledged_evenly(
    path: Path, segments: int = 46, *, bps: float = 20e6, is_clocked: bool = True
) -> Path:
    """A window of segments each 100 ms for 12 s, two at a time at the link's rate, without a queue.

    An acknowledgment releases the next two. Without `is_clocked` they come by themselves, as many a
    second, and are acknowledged after 120 ms.
    """
    flow = Connection(window=4_000_000)
    rtt_s, pair_s = 0.1, 24_000 / bps
    flow.open(0.0, rtt_s)
    pause_s = max(0.0, rtt_s - segments / 2 * pair_s)
    at, start = rtt_s, 0
    while at < 12.0:
        for _ in range(segments // 2):
            flow.data(at, start, FULL)
            flow.data(at, start + FULL, FULL)
            start += 2 * FULL
            flow.ack(at + (rtt_s - 0.00001 if is_clocked else 1.2 * rtt_s), start)
            at += pair_s
        at += pause_s
    return write(path, flow)


def shaped_sender(
    path: Path,
    bps: float = 5e6,
    burst: int = 20,
    *,
    rtt_s: float = 0.04,
    link_bps: float = 20e6,
    seconds: float = 12.0,
) -> Path:
    """A backlog that a token bucket lets out: a burst of segments, then one for each its tokens."""
    flow = Connection(window=4_000_000)
    flow.open(0.0, rtt_s)
    at, start, free = rtt_s + 0.001, 0, 0.0
    begun, number = at, 0
    while at < seconds:
        flow.data(at, start, FULL)
        free = max(free, at) + 12_000 / link_bps
        start += FULL
        number += 1
        if number % 2 == 0:
            flow.ack(free + rtt_s, start)
        at = max(at + 0.00002, begun + (number - burst) * 12_000 / bps)
    return write(path, flow)


def at_receiver(path: Path, *, has_losses: bool = True, seconds: float = 10.0) -> Path:
    """A download captured at its receiver without timestamps, with losses and a silence of 2 s."""
    flow = Connection(window=500_000, has_timestamps=False, is_reverse=True)
    flow.open(0.0, 0.03, is_at_client=False)
    at, start, number = 0.04, 0, 0
    while at < seconds:
        number += 1
        if has_losses and number % 100 == 0:
            hole, start = start, start + 1460
            for _ in range(10):
                flow.data(at, start, 1460)
                flow.ack(at + 0.00002, hole, sack=(hole + 1460, start + 1460))
                start += 1460
                at += 0.0012
            flow.data(at + 0.03, hole, 1460)
            flow.ack(at + 0.03002, start)
            at += 0.032
        flow.data(at, start, 1460)
        start += 1460
        if number % 2 == 0:
            flow.ack(at + 0.00002, start)
        at += 0.0012
        if number == 1000:
            at += 2.0
    return write(path, flow)
