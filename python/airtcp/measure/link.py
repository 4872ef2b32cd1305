"""The measured link as a scenario: a pipe with a queue that explains the round trips under load."""

import time

from airtcp.core.quantities import format_bit_rate
from airtcp.measure.load import Way
from airtcp.measure.measurement import Measurement
from airtcp.measure.phase import Phase

_SEGMENT = 1448
_PACKET = 1500
_FEWEST_PACKETS = 5
_PACKETS = 50_000


def measured_scenario(found: Measurement, host: str) -> str | None:
    """The scenario of a measurement just finished; None if no direction was loaded."""
    down, up = found.of(Way.DOWN), found.of(Way.UP)
    if not (down or up):
        return None
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime())
    return scenario_toml(found.idle, down, up, f"The link to {host}, measured at {when}.")


def scenario_toml(idle: Phase, down: Phase | None, up: Phase | None, source: str) -> str:
    """A scenario of the measured link.

    Its delay is half the minimum round trip, its rates are the goodputs with headers, and its queue
    explains the excess of the round trips under load. Radio losses cannot be distinguished from
    queue losses by this, so the link has no loss.

    Args:
        idle: the phase without load.
        down: the phase with a download, if measured.
        up: the phase with an upload, if measured.
        source: the peer and the time of the measurement, for its first line.
    """
    data = down or up
    assert data is not None
    other = up if down is not None else None
    base_ms = idle.ping.min_ms or idle.handshake.min_ms or 1.0
    lines = [
        f"# {source}",
        "# Rates are goodputs with headers; the delay is half the shortest round trip; queues hold",
        "# what round trips under load are longer by. Loss by the radio is not known from this.",
        "",
        'name = "measured"',
        f'description = "A measured link: {_description(base_ms, data, other)}"',
        f'duration = "{_duration_s(data)} s"',
        'topology = "pipe"',
        "",
        "[link]",
        f'rate = "{_rate_bps(data) / 1e3:.0f} kbit/s"',
        f'delay = "{max(1, round(500 * base_ms))} us"',
        f"queue.packets = {_queue_packets(data, base_ms)}",
    ]
    if is_apart(data, base_ms):
        lines += ['aqm = { discipline = "fq-codel" }    # others wait less than the load itself']
    if other is not None:
        lines += [
            "",
            "[link.reverse]",
            f'rate = "{_rate_bps(other) / 1e3:.0f} kbit/s"',
            f"queue.packets = {_queue_packets(other, base_ms)}",
        ]
    lines += [
        "",
        "[flows]",
        f"count = {max(1, min(data.connections, 4))}",
        'start_spread = "1 s"',
        "",
        "[tcp]",
        'profile = "linux"',
        "",
    ]
    return "\n".join(lines)


def is_apart(phase: Phase, base_ms: float) -> bool:
    """Whether probes wait much less than the load itself: per-flow queues."""
    own = phase.own.p50_ms if phase.own else None
    foreign = phase.ping.p50_ms
    if own is None or foreign is None:
        return False
    return own - base_ms > 10.0 and foreign - base_ms < 0.25 * (own - base_ms)


def _duration_s(data: Phase) -> int:
    """Long enough for some ten thousand packets, and for the sawtooth of a loss-based sender."""
    return round(max(5.0, min(20.0, _PACKETS * 8 * _PACKET / _rate_bps(data))))


def _rate_bps(phase: Phase) -> float:
    return max(8_000.0, (phase.goodput_bps or 0.0) * _PACKET / _SEGMENT)


def _queue_packets(phase: Phase, base_ms: float) -> int:
    # The load's requests also wait for retransmissions before them: echoes show the queue better,
    # unless they have a separate queue.
    own = phase.own.p50_ms if phase.own else None
    others = phase.ping.p99_ms or phase.handshake.p99_ms
    longest = own if is_apart(phase, base_ms) or others is None else others
    waits_ms = max(0.0, (longest or base_ms) - base_ms)
    packets = _rate_bps(phase) * waits_ms / 1e3 / 8 / _PACKET
    return max(_FEWEST_PACKETS, round(packets))


def _description(base_ms: float, data: Phase, other: Phase | None) -> str:
    rates = " and ".join(
        f"{format_bit_rate(one.goodput_bps or 0.0)} {one.way}"
        for one in (data, other)
        if one is not None
    )
    return f"{rates}, {base_ms:.1f} ms"
