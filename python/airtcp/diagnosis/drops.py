"""What drops packets in front of the link: a policer, or a queue that keeps its delay short."""

from dataclasses import dataclass

from airtcp.diagnosis.capture import Queues

LEAST_TARGET_S = 0.001
MOST_TARGET_S = 0.1


@dataclass(frozen=True)
class Policer:
    """A token bucket without a queue."""

    bps: float
    """Rate of its tokens, in bits of IP packets a second."""
    burst_bytes: float


@dataclass(frozen=True)
class Drops:
    """Drops that are not those of a full queue; both None where there are none."""

    policer: Policer | None = None
    aqm_target_s: float | None = None
    """The delay above which the queue drops. Which discipline it is does not show from outside
    while one flow uses it: it is played as CoDel (RFC 8289)."""


def drops_of(queues: Queues | None) -> Drops:
    """What the labels of a capture tell."""
    if queues is None:
        return Drops()
    bps, burst = queues["policer_bps"], queues["policer_burst_bytes"]
    if bps is not None and burst is not None:
        return Drops(Policer(bps, burst))
    delay_ns = queues["aqm_delay_ns"]
    if delay_ns is None:
        return Drops()
    target_s = delay_ns / 1e9
    if target_s >= MOST_TARGET_S:
        # CoDel's target lies below its interval (RFC 8289 §4.2): such a delay is a plain queue's.
        return Drops()
    return Drops(None, max(target_s, LEAST_TARGET_S))
