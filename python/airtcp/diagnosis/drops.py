"""Droppers in front of the link: a policer, or an AQM."""

from dataclasses import dataclass

from airtcp.diagnosis.capture import Queues

MIN_TARGET_S = 0.001
MAX_TARGET_S = 0.1
USUAL_TARGET_S = 0.005
"""RFC 8289 §4.2, and the default in Linux."""
WIDE = 1.5
"""Maximum ratio of the bounds of a threshold that is reported as one number."""


@dataclass(frozen=True)
class Policer:
    """A token bucket without a queue."""

    bps: float
    """Token rate, in bits of IP packets a second."""
    burst_bytes: float


@dataclass(frozen=True)
class Drops:
    """Drops not caused by a full queue; both None without such drops."""

    policer: Policer | None = None
    aqm_target_s: float | None = None
    """The delay above which the queue drops."""
    marks: bool = False
    """Whether it marks packets instead of dropping them (RFC 3168)."""
    aqm_bounds_s: tuple[float, float] | None = None
    """Lower and upper bound of the delay threshold that the losses admit."""
    discipline: str = "codel"
    """The AQM as it is modelled. It is not visible from outside while one flow uses it: the capture
    is played back with CoDel (RFC 8289) and with PIE (RFC 8033), at its default target.
    """


def drops_of(queues: Queues | None) -> Drops:
    """Drops by the labels of a capture."""
    if queues is None:
        return Drops()
    bps, burst = queues["policer_bps"], queues["policer_burst_bytes"]
    if bps is not None and burst is not None:
        return Drops(Policer(bps, burst))
    if queues["echoes"] and queues["reductions"]:
        # Marks do not show the delay at which they were set.
        return Drops(None, USUAL_TARGET_S, marks=True)
    delay_ns, least_ns = queues["aqm_delay_ns"], queues["aqm_least_delay_ns"]
    if delay_ns is None or least_ns is None:
        return Drops()
    most_s, least_s = delay_ns / 1e9, max(least_ns / 1e9, MIN_TARGET_S)
    if least_s >= MAX_TARGET_S:
        # CoDel's target lies below its interval (RFC 8289 §4.2): such a delay is a plain queue's.
        return Drops()
    # The default of most systems is likelier than another delay that the losses admit.
    target_s = min(max(USUAL_TARGET_S, least_s), max(most_s, least_s), MAX_TARGET_S)
    return Drops(None, target_s, aqm_bounds_s=(least_s, max(most_s, least_s)))


def drops_below(queue_s: float) -> Drops:
    """The drops of a queue that others outlasted: an AQM with a threshold below their delay."""
    return Drops(None, USUAL_TARGET_S, aqm_bounds_s=(USUAL_TARGET_S, queue_s))
