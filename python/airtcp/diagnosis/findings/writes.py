"""Small writes under Nagle's algorithm and a delayed acknowledgment (Minshall et al., 2000)."""

from airtcp.core.quantities import format_count
from airtcp.diagnosis.capture import Capture
from airtcp.diagnosis.findings.finding import CaptureFinding
from airtcp.diagnosis.seconds import seconds_words

FEWEST_WAITS = 5
MIN_SHARE = 0.15
"""Minimum share of the time for this to be the flow's limit."""


def small_writes(capture: Capture) -> CaptureFinding | None:
    """The finding; None if short segments hardly wait."""
    facts = capture.facts
    if facts is None:
        return None
    found = facts["small_writes"]
    if found["waits"] < FEWEST_WAITS:
        return None
    held_s, whole_s = found["held_s"], sum(facts["seconds"].values())
    is_accounted = whole_s > 0
    if is_accounted:
        held_s = facts["seconds"]["small_writes"]
    else:
        # A receiver's capture without timestamps shows the waits, and nothing else of the time.
        whole_s = (facts["last"][0]["time_ns"] - int(capture.tables.segments.time_ns[0])) / 1e9
    if held_s < MIN_SHARE * whole_s:
        return None
    is_delayed = 2 * found["delayed"] > found["waits"] and found["delay_ns"] is not None
    cause = (
        f", which the receiver delays by {seconds_words((found['delay_ns'] or 0) / 1e9)}"
        if is_delayed
        else ""
    )
    sentence = (
        f"Small writes: {format_count(found['waits'])} times the rest of a message waited (Nagle) "
        f"for the acknowledgment of its beginning{cause}, {held_s:.1f} of {whole_s:.1f} s in all. "
        "TCP_NODELAY, or one write for each message, ends it."
    )
    each_s = whole_s / found["waits"]
    under_way = f"Data was under way for {facts['under_way_s']:.1f} s. " if is_accounted else ""
    evidence = (
        f"{under_way}A message took "
        f"{seconds_words(each_s)}, and without these waits "
        f"{seconds_words(each_s - held_s / found['waits'])}: the rate of the link matters little.",
    )
    remedies = ("nodelay", "delayed-ack") if is_delayed else ("nodelay",)
    return CaptureFinding("small-writes", sentence, evidence, remedies)
