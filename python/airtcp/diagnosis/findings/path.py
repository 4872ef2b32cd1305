"""A path change: a handover, a satellite's change, a new route.

The minimum round trip changes at some moment. The core distinguishes that from a queue: the bytes
in flight differ and the round trips do not. This file puts it into words.
"""

from itertools import pairwise

from airtcp.diagnosis.capture import Facts
from airtcp.diagnosis.seconds import seconds_words

MAX_SAID = 5


def path_words(facts: Facts) -> str | None:
    """The changes as part of a sentence; None if the path stays the same."""
    phases = facts["phases"]
    if not phases:
        return None
    changes = [
        f"{seconds_words(after['base_rtt_ns'] / 1e9)} from {after['from_ns'] / 1e9:.0f} s on"
        for _, after in pairwise(phases)
    ]
    more = "" if len(changes) <= MAX_SAID else f", and {len(changes) - MAX_SAID} more"
    times = {1: "once", 2: "twice"}.get(len(changes), f"{len(changes)} times")
    first = seconds_words(phases[0]["base_rtt_ns"] / 1e9)
    return (
        f"the path changes {times} (round trip without a queue {first}, "
        f"{', '.join(changes[:MAX_SAID])}{more})"
    )
