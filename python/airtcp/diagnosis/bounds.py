"""Limits fitted values to a scenario's ranges: a capture with altered times fits any value."""

import math

MIN_BPS, MAX_BPS = 1.0, 1e12
MAX_DELAY_S = 3600.0
MAX_STOP_S = 720 * 3600.0
MAX_PACKETS = 1_000_000_000
MIN_BURST_BYTES, MAX_BURST_BYTES = 64, 1e12
MAX_WINDOW_BYTES = 1 << 30
MAX_MSS = 65_483
"""With timestamps, which take 12 bytes."""
MAX_RUN_S = 720 * 3600.0
MAX_LISTED_S = 30 * 86_400.0
MAX_TARGET_S = 0.099
"""Of CoDel, which has to be below its interval (RFC 8289 §4.2)."""


def rate(bps: float) -> str:
    """A rate as a key's value."""
    return f"{_within(bps, MIN_BPS, MAX_BPS):.0f} bit/s"


def delay(seconds: float, least_us: int = 0) -> str:
    """A delay as a key's value, in whole microseconds."""
    return f"{_within(1e6 * seconds, least_us, 1e6 * MAX_DELAY_S):.0f} us"


def target(seconds: float) -> str:
    """The target of a queue that keeps its delay short."""
    return delay(_within(seconds, 1e-6, MAX_TARGET_S), least_us=1)


def duration(seconds: float) -> str:
    """The time that a scenario runs for."""
    return f"{_within(1e6 * seconds, 1, 1e6 * MAX_RUN_S):.0f} us"


def listed(seconds: float) -> float:
    """A time in a recording of stops, in seconds."""
    return _within(seconds, 0.0, MAX_LISTED_S)


def length(seconds: float, least_ms: float = 0.001) -> str:
    """The length of a stop, or the time between two, as a key's value."""
    return f"{_within(1e3 * seconds, least_ms, 1e3 * MAX_STOP_S):.3f} ms"


def packets(count: float) -> int:
    """Packets of a queue."""
    return round(_within(count, 1, MAX_PACKETS))


def burst(size: float) -> int:
    """Bytes of a policer's bucket."""
    return round(_within(size, MIN_BURST_BYTES, MAX_BURST_BYTES))


def window(size: float) -> int:
    """Bytes of a receive buffer."""
    return round(_within(size, 1, MAX_WINDOW_BYTES))


def mss(size: float) -> int:
    """Bytes of a full segment."""
    return round(_within(size, 1, MAX_MSS))


def share(value: float) -> str:
    """A chance as a key's value."""
    return f"{_within(value, 0.0, 1.0):.8f}"


def _within(value: float, least: float, most: float) -> float:
    return least if math.isnan(value) else min(max(value, least), most)
