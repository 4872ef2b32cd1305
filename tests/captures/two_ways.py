"""Two transfers in opposite directions over one line, as a plain emulation of its two queues."""

import heapq
from pathlib import Path

from packets import Connection, write

FULL = 1448
DATA_BITS, ACK_BITS = 8 * 1500, 8 * 52


def two_ways(
    path: Path,
    *,
    bps: float = 6e6,
    delay_s: float = 0.03,
    windows: tuple[int, int] = (50, 50),
    seconds: float = 12.0,
    is_fair: bool = False,
    stops: tuple[tuple[float, float, tuple[int, ...]], ...] = (),
    bps_back: float | None = None,
    burst_every_s: float | None = None,
    has_receivers_clock: bool = False,
) -> Path:
    """Flow 0 from the captured end, flow 1 towards it, each with a window of this many segments.

    A queue holds all that both windows allow, in the order in which it comes; every second segment
    is acknowledged. A window of 0 leaves a flow out. A fair queue sends acknowledgments at once,
    ahead of data that waits. A stop has a begin and a length in seconds, and the ways that carry
    nothing meanwhile: 0 away from the captured end, 1 towards it. With bursts, flow 1 sends its
    window at these intervals, regardless of acknowledgments. With the receiver's clock,
    acknowledgments towards the captured end have the times of their departure.
    """
    flows = [
        Connection(window=4_000_000, port=40_000),
        Connection(window=4_000_000, port=40_001, is_reverse=True),
    ]
    for number, flow in enumerate(flows):
        if windows[number]:
            flow.open(0.0, 2 * delay_s, is_at_client=number == 0)
    rates = (bps, bps_back or bps)
    free = [0.0, 0.0]
    sent = [0, 0]
    events: list[tuple[float, int, str, int, int, tuple[float, float]]] = []
    count = 0

    def put(now: float, way: int, what: str, flow: int, end: int, prompted_s: float) -> None:
        nonlocal count
        count += 1
        seconds = (DATA_BITS if what == "data" else ACK_BITS) / rates[way]
        if is_fair and what == "ack":
            left = now + seconds
        else:
            begun = max(free[way], now)
            for from_s, length_s, ways in stops:
                if way in ways and begun < from_s + length_s and begun + seconds > from_s:
                    begun = from_s + length_s
            left = free[way] = begun + seconds
        heapq.heappush(events, (left + delay_s, count, what, flow, end, (now, prompted_s)))

    def send(now: float, flow: int, segments: int, prompted_s: float) -> None:
        for number in range(segments):
            at = now + 0.00002 * number
            if flow == 0:
                flows[0].data(at, sent[0], FULL)
            sent[flow] += FULL
            put(at, flow, "data", flow, sent[flow], prompted_s)

    if burst_every_s is not None:
        for number in range(1, int(seconds / burst_every_s)):
            count += 1
            heapq.heappush(events, (burst_every_s * number, count, "burst", 1, 0, (0.0, 0.0)))
    for flow in (0, 1):
        # A little later each, so that they are out of step as transfers are.
        send(2 * delay_s + 0.001 + 0.017 * flow, flow, windows[flow], 0.0)
    while events:
        now, _, what, flow, end, stamped_s = heapq.heappop(events)
        if now > seconds:
            break
        if what == "burst":
            send(now, flow, windows[flow], now)
        elif what == "data":
            if flow == 1:
                flows[1].data(now, end - FULL, FULL, stamped_s=stamped_s)
            if (end // FULL) % 2 == 0:
                if flow == 1:
                    flows[1].ack(now + 0.00001, end)
                put(now + 0.00001, 1 - flow, "ack", flow, end, stamped_s[0])
        else:
            if flow == 0:
                flows[0].ack(now, end, stamped_s=stamped_s if has_receivers_clock else None)
            if flow == 0 or burst_every_s is None:
                send(now + 0.00001, flow, 2, stamped_s[0])
    return write(path, *(flow for number, flow in enumerate(flows) if windows[number]))
