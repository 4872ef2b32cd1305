"""The receiver's acknowledgment policy, and queueing of its acknowledgments on their way."""

from collections.abc import Sequence
from dataclasses import dataclass

FEWEST = 20
"""Minimum number of acknowledgments of in-order data to infer a policy."""
TIMER_S = 0.005
"""Maximum delay of an immediate answer to a lone segment; a later one waited for a timer."""
MAX_TIMER_S = 0.5
"""Maximum delayed-ACK timer (RFC 9293 §3.8.6.3): longer delays are queueing."""
USUAL = 2
"""Segments per acknowledgment, by RFC 5681 §4.2."""


@dataclass(frozen=True)
class Acking:
    """The receiver's acknowledgment of in-order data."""

    segments: int | None
    """Maximum number of segments per acknowledgment; None if too few show it."""
    timer_s: float | None
    """Delayed-ACK timer, where the receiver was seen to wait for another segment."""
    compressed_share: float
    """Share of the acknowledgments that arrived compressed: the return path has a queue, or
    releases several at once.
    """

    @property
    def sentence(self) -> str | None:
        """The policy in words; None if it is unknown."""
        if self.segments is None:
            return None
        every = {1: "every segment", 2: "every second segment", 3: "every third segment"}
        words = every.get(self.segments, f"every {self.segments} segments")
        timer = (
            ""
            if self.timer_s is None
            else f", and a lone segment after {1e3 * self.timer_s:.0f} ms"
        )
        pushed = (
            f"; {100 * self.compressed_share:.0f} % of its acknowledgments arrived bunched"
            if self.compressed_share >= 0.05
            else ""
        )
        return f"The receiver acknowledges {words}{timer}{pushed}."


def habit(
    by_segments: Sequence[int], lone_delay_s: float | None, compressed: int, acks: int
) -> Acking:
    """Infers the policy from counts of acknowledgments of one segment, two, up to eight or more.

    It is the median of these counts. If lone segments are the rule, their answers show whether the
    receiver waited for another segment that never came.
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
