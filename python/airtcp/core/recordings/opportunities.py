"""Rates as mahimahi's delivery opportunities, with remainders carried from step to step."""

from collections.abc import Iterable, Sequence

PACKET_BYTES = 1500
PACKET_BITS = 8 * PACKET_BYTES
MAX_OPPORTUNITIES = 2_000_000
"""More make a trace slow to read: a series is cut there."""


def opportunities(steps: Iterable[tuple[float, float]]) -> tuple[list[int], bool]:
    """Times in whole milliseconds of steps of a length in seconds and a rate in bits a second.

    A step that does not end with a whole packet carries the rest to the next, as in mahimahi's
    conversion does: nothing of the rate is lost.

    Returns:
        the times, and whether the series was cut at `MAX_OPPORTUNITIES`.
    """
    times: list[int] = []
    at_s, bits = 0.0, 0.0
    for length_s, bps in steps:
        if bps > 0:
            end_bits = bits + bps * length_s
            packets = int(end_bits // PACKET_BITS)
            if len(times) + packets > MAX_OPPORTUNITIES:
                return times, True
            times += [
                round(1e3 * (at_s + (n * PACKET_BITS - bits) / bps)) for n in range(1, packets + 1)
            ]
            bits = end_bits - packets * PACKET_BITS
        at_s += length_s
    # The last time is the period: an outage at the end would be left out.
    end_ms = round(1e3 * at_s)
    if times and times[-1] < end_ms:
        times.append(end_ms)
    return times, False


def to_lines(times_ms: Sequence[int]) -> bytes:
    """The file of a trace."""
    return "".join(f"{time}\n" for time in times_ms).encode()


def scaled(times_ms: Sequence[int], packet_bytes: int) -> list[int]:
    """Opportunities of other sizes converted to whole packets, remainders carried."""
    if packet_bytes == PACKET_BYTES:
        return list(times_ms)
    times: list[int] = []
    held = 0
    for time in times_ms:
        held += packet_bytes
        while held >= PACKET_BYTES:
            held -= PACKET_BYTES
            times.append(time)
    if times and times[-1] < times_ms[-1]:
        times.append(times_ms[-1])
    return times


def mean_bps(times_ms: Sequence[int]) -> float:
    """The mean rate of a trace."""
    return len(times_ms) * PACKET_BITS / (times_ms[-1] / 1e3)
