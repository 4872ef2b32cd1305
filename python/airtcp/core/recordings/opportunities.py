"""Rates as mahimahi's delivery opportunities, with remainders carried from step to step."""

from collections.abc import Iterable, Sequence

PACKET_BYTES = 1500
PACKET_BITS = 8 * PACKET_BYTES
MAX_OPPORTUNITIES = 2_000_000
"""More make a trace slow to read: a series is cut there."""


def opportunities(
    steps: Iterable[tuple[float, float]], packet_bytes: int = PACKET_BYTES
) -> tuple[list[int], bool]:
    """Times in whole milliseconds of steps of a length in seconds and a rate in bits a second.

    A step that does not end with a whole packet carries the rest to the next, as in mahimahi's
    conversion does: nothing of the rate is lost.

    Returns:
        the times, and whether the series was cut at `MAX_OPPORTUNITIES`.
    """
    times: list[int] = []
    packet = 8 * packet_bytes
    at_s, bits = 0.0, 0.0
    for length_s, bps in steps:
        if bps > 0:
            end_bits = bits + bps * length_s
            packets = int(end_bits // packet)
            if len(times) + packets > MAX_OPPORTUNITIES:
                return times, True
            times += [
                round(1e3 * (at_s + (n * packet - bits) / bps)) for n in range(1, packets + 1)
            ]
            bits = end_bits - packets * packet
        at_s += length_s
    # The last time is the period: an outage at the end would be left out.
    end_ms = round(1e3 * at_s)
    if times and times[-1] < end_ms:
        times.append(end_ms)
    return times, False


def to_lines(times_ms: Sequence[int]) -> bytes:
    """The file of a trace."""
    return "".join(f"{time}\n" for time in times_ms).encode()


def rescaled(times_ms: Sequence[int], given: int, wanted: int) -> list[int]:
    """Opportunities of `given` bytes as ones of `wanted` bytes, remainders carried."""
    times: list[int] = []
    held = 0
    for time in times_ms:
        held += given
        while held >= wanted:
            held -= wanted
            times.append(time)
    if times and times[-1] < times_ms[-1]:
        # The last time is the period.
        times.append(times_ms[-1])
    return times


def mean_bps(times_ms: Sequence[int], packet_bytes: int = PACKET_BYTES) -> float:
    """The mean rate of a trace."""
    return len(times_ms) * 8 * packet_bytes / (times_ms[-1] / 1e3)
