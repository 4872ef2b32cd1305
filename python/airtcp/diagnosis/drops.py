"""What drops packets in front of the link: a policer, or a queue that keeps its delay short."""

from dataclasses import dataclass

from airtcp.diagnosis.capture import Queues

MIN_TARGET_S = 0.001
MAX_TARGET_S = 0.1
USUAL_TARGET_S = 0.005
"""RFC 8289 §4.2, and what Linux has."""
WIDE = 1.5
"""A threshold that is known to a smaller factor is said as one number."""


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
    marks: bool = False
    """It marks packets in place of dropping them (RFC 3168)."""
    aqm_bounds_s: tuple[float, float] | None = None
    """The delays that the losses admit in its place."""


def drops_of(queues: Queues | None) -> Drops:
    """What the labels of a capture tell."""
    if queues is None:
        return Drops()
    bps, burst = queues["policer_bps"], queues["policer_burst_bytes"]
    if bps is not None and burst is not None:
        return Drops(Policer(bps, burst))
    if queues["echoes"] and queues["reductions"]:
        # Marks do not say at which delay they came.
        return Drops(None, USUAL_TARGET_S, marks=True)
    delay_ns, least_ns = queues["aqm_delay_ns"], queues["aqm_least_delay_ns"]
    if delay_ns is None or least_ns is None:
        return Drops()
    most_s, least_s = delay_ns / 1e9, max(least_ns / 1e9, MIN_TARGET_S)
    if least_s >= MAX_TARGET_S:
        # CoDel's target lies below its interval (RFC 8289 §4.2): such a delay is a plain queue's.
        return Drops()
    # What most systems have is likelier than another delay that the losses admit.
    target_s = min(max(USUAL_TARGET_S, least_s), max(most_s, least_s), MAX_TARGET_S)
    return Drops(None, target_s, aqm_bounds_s=(least_s, max(most_s, least_s)))
