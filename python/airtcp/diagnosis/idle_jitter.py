"""Round trips that vary without load, by a speed test's jitter."""

from collections.abc import Sequence

from airtcp.core.recordings.recording import Recording
from airtcp.diagnosis.seconds import seconds_words

LARGE_S = 0.02
"""Minimum jitter that is reported, from one probe to the next; that of a cable is milliseconds."""
LARGE_RATIO = 0.5
"""The same, as a share of the round trip."""


def idle_jitters(recordings: Sequence[Recording]) -> list[str]:
    """A sentence for each test with round trips that vary much before it sends anything."""
    sentences = []
    for one in recordings:
        jitter_s, idle_s = one.figures.idle_jitter_s, one.figures.idle_rtt_s
        if jitter_s is None or idle_s is None or jitter_s < max(LARGE_S, LARGE_RATIO * idle_s):
            continue
        sentences.append(
            f"Without load the round trip of {seconds_words(idle_s)} varies by "
            f"{seconds_words(jitter_s)} from one probe to the next: a radio that repeats frames, "
            "or others on the link, and no queue that this test filled. Test once more by cable."
        )
    return sentences
