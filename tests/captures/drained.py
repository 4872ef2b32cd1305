"""A download over a path that changes, captured at its receiver, as a plain emulation.

The sender keeps a queue in the link all the time, but for moments at which it drains it, as BBR
does (draft-ietf-ccwg-bbr, ProbeRTT).
"""

import heapq
from itertools import count
from pathlib import Path

from packets import Connection, write

FULL = 1448
PACKET_BITS = 8 * 1500
DRAINED = 4
"""Segments in flight at a moment with a drained queue."""
EVERY_S, FOR_S = 5.0, 0.5


def drained_at_receiver(
    path: Path,
    delays: tuple[tuple[float, float], ...],
    *,
    bps: float = 8e6,
    queued_s: float = 0.03,
    seconds: float = 25.0,
) -> Path:
    """Writes the capture.

    Args:
        path: the file.
        delays: times from which on the path takes so long each way, in seconds.
        bps: rate of the link in bits of IP packets a second.
        queued_s: the queue that the sender keeps, in seconds.
        seconds: length of the transfer.
    """
    flow = Connection(window=4_000_000, is_reverse=True)
    flow.open(0.0, 2 * delays[0][1], is_at_client=False)
    events: list[tuple[float, int, str, int, tuple[float, float]]] = []
    order = count()
    free = arrived = returned = 0.0
    sent = acked = 0

    def delay_s(now: float) -> float:
        return [by for begun, by in delays if begun <= now][-1]

    def put(time: float, what: str, end: int, stamped_s: tuple[float, float]) -> None:
        heapq.heappush(events, (time, next(order), what, end, stamped_s))

    def fill(now: float, prompted_s: float) -> None:
        """Sends what the window allows, after an answer that left at `prompted_s`."""
        nonlocal sent, free, arrived
        window = int(bps * (2 * delay_s(now) + queued_s) / PACKET_BITS)
        is_drained = now > EVERY_S and now % EVERY_S < FOR_S
        while sent - acked < FULL * (DRAINED if is_drained else window):
            free = max(free, now) + PACKET_BITS / bps
            arrived = max(arrived, free + delay_s(free))
            sent += FULL
            put(arrived, "data", sent, (now, prompted_s))

    fill(2 * delays[0][1], 0.0)
    while events and events[0][0] < seconds:
        now, _, what, end, stamped_s = heapq.heappop(events)
        if what == "ack":
            acked = end
            fill(now, stamped_s[0])
            continue
        flow.data(now, end - FULL, FULL, stamped_s=stamped_s)
        if end // FULL % 2 == 0:
            flow.ack(now + 0.00001, end, stamped_s=(now, stamped_s[0]))
            returned = max(returned, now + delay_s(now))
            put(returned, "ack", end, (now, 0.0))
    return write(path, flow)
