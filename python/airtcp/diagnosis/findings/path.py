"""A path that changes: a handover, a satellite's change, a new route.

Its shortest round trip is another from some moment on. What the core tells from a queue by flights
that differ and round trips that do not is here put into words.
"""

from itertools import pairwise

from airtcp.diagnosis.capture import Facts
from airtcp.diagnosis.seconds import seconds_words

MAX_SAID = 5


def path_words(facts: Facts) -> str | None:
    """The changes as part of a sentence; None where the path stays the same."""
    phases = facts["phases"]
    if not phases:
        return None
    changes = [
        f"{seconds_words(after['base_rtt_ns'] / 1e9)} from {after['from_ns'] / 1e9:.0f} s on"
        for _, after in pairwise(phases)
    ]
    more = "" if len(changes) <= MAX_SAID else f", and {len(changes) - MAX_SAID} more"
    times = "once" if len(changes) == 1 else f"{len(changes)} times"
    first = seconds_words(phases[0]["base_rtt_ns"] / 1e9)
    return (
        f"the path changes {times} (round trip without a queue {first}, "
        f"{', '.join(changes[:MAX_SAID])}{more})"
    )
