"""The receiver's habit of acknowledging, and what its acknowledgments met on their way."""

from collections.abc import Sequence
from dataclasses import dataclass

FEWEST = 20
"""Fewest acknowledgments of data in order from which a habit is inferred."""
TIMER_S = 0.005
"""A lone segment whose answer came later by less than this waited for no timer."""
MAX_TIMER_S = 0.5
"""No receiver waits longer (RFC 9293 §3.8.6.3): what did was in a queue."""
USUAL = 2
"""Segments an acknowledgment, by RFC 5681 §4.2."""


@dataclass(frozen=True)
class Acking:
    """The receiver's acknowledging of data in order."""

    segments: int | None
    """Segments after which it does at the latest; None where too little shows it."""
    timer_s: float | None
    """Time that it waits for another segment, where it was seen to wait."""
    compressed_share: float
    """Share of the acknowledgments that came pushed together: their way has a queue of its own,
    or lets several go at once."""

    @property
    def sentence(self) -> str | None:
        """The habit in words; None if it is unknown."""
        if self.segments is None:
            return None
        every = {1: "every segment", 2: "every second segment", 3: "every third segment"}
        words = every.get(self.segments, f"every {self.segments} segments")
        timer = "" if self.timer_s is None else f", a lone one after {1e3 * self.timer_s:.0f} ms"
        pushed = (
            f"; {100 * self.compressed_share:.0f} % of its acknowledgments came pushed together"
            if self.compressed_share >= 0.05
            else ""
        )
        return f"The receiver acknowledges {words}{timer}{pushed}."


def habit(
    by_segments: Sequence[int], lone_delay_s: float | None, compressed: int, acks: int
) -> Acking:
    """The habit, from counts of acknowledgments of one segment, two, up to eight or more.

    It is the median of these counts. Where lone segments are the rule, their answers tell whether
    the receiver waited for another segment that never came.
    """
    share = compressed / acks if acks else 0.0
    is_timer = lone_delay_s is not None and TIMER_S <= lone_delay_s <= MAX_TIMER_S
    timer = lone_delay_s if is_timer else None
    count = sum(by_segments)
    if count < FEWEST:
        return Acking(None, timer, share)
    passed, segments = 0, 0
    while 2 * passed < count:
        passed += by_segments[segments]
        segments += 1
    if segments == 1 and timer is not None:
        segments = USUAL
    return Acking(segments, timer, share)
