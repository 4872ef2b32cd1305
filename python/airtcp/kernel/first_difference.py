"""Compares a simulation with a kernel run segment by segment, up to the first difference."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from airtcp.kernel.segments import Segment

TOLERANCE_S = 0.002
"""Tolerated difference in time: processing takes time in the kernel, but not in the simulation."""

_BEFORE, _AFTER = 6, 8


@dataclass(frozen=True)
class Difference:
    """The first segment of one direction that differs."""

    is_out: bool
    number: int
    """Index of the segment among those compared in this direction, from 1."""
    simulated: Segment | None
    """None if the simulation has no more segments."""
    kernel: Segment | None

    @property
    def time_s(self) -> float:
        """Time of the earlier of the two segments."""
        return min(one.time_s for one in (self.simulated, self.kernel) if one)

    @property
    def apart_s(self) -> float:
        """Time between the two; 0 if one is missing."""
        return (
            abs(self.simulated.time_s - self.kernel.time_s)
            if self.simulated and self.kernel
            else 0.0
        )

    @property
    def is_content(self) -> bool:
        """Whether the segments differ in more than time."""
        return (
            self.simulated is None
            or self.kernel is None
            or _content(self.simulated) != _content(self.kernel)
        )


@dataclass(frozen=True)
class Parting:
    """Result of the comparison: the first differences in content and in time."""

    content: Difference | None
    """The first segment with different bytes, acknowledgment or SACK blocks."""
    time: Difference | None
    """The first segment outside the time tolerance, before `content`."""
    simulated: Sequence[Segment]
    kernel: Sequence[Segment]

    def lines(self) -> list[str]:
        """The answer in sentences, and a side-by-side table of the segments around it."""
        if self.content is None and self.time is None:
            count = len(self.kernel)
            return [f"no difference: {count} segments, the same and at the same times"]
        sentences = []
        if self.time:
            sentences.append(f"the first that is not at the same time: {_told(self.time)}")
        if self.content:
            sentences.append(f"the first that is another one: {_told(self.content)}")
        where = self.content or self.time
        assert where
        return [*sentences, "", *self._around(where.time_s)]

    def _around(self, time_s: float) -> list[str]:
        left, right = (_near(side, time_s) for side in (self.simulated, self.kernel))
        rows = [("simulated", "kernel")]
        rows += [(_line(one), _line(other)) for one, other in zip_longest(left, right)]
        width = max(len(one) for one, _ in rows)
        return [f"{one:<{width}}  {other}".rstrip() for one, other in rows]


def first_difference(
    simulated: Sequence[Segment], kernel: Sequence[Segment], tolerance_s: float = TOLERANCE_S
) -> Parting:
    """Compares segment by segment, each direction separately."""
    contents: list[Difference] = []
    times: list[Difference] = []
    # A segment that one side had no time left to send is no difference.
    end = min((side[-1].time_s for side in (simulated, kernel) if side), default=0.0) - tolerance_s
    for is_out in (True, False):
        sides = ([one for one in side if one.is_out is is_out] for side in (simulated, kernel))
        late: Difference | None = None
        for number, (one, other) in enumerate(zip_longest(*sides), start=1):
            found = Difference(is_out, number, one, other)
            if found.time_s > end:
                break
            if found.is_content:
                contents.append(found)
                break
            if late is None and found.apart_s > tolerance_s:
                late = found
        times += [late] if late else []
    content = min(contents, key=lambda found: found.time_s, default=None)
    time = min(times, key=lambda found: found.time_s, default=None)
    if content and time and time.time_s > content.time_s:
        time = None
    return Parting(content, time, simulated, kernel)


def _content(segment: Segment) -> tuple[object, ...]:
    return segment.is_syn, segment.offset, segment.size, segment.sack


def _told(found: Difference) -> str:
    what = "sent" if found.is_out else "heard"
    sides = (("simulated", found.simulated), ("kernel", found.kernel))
    told = "; ".join(
        f"{name} {_line(one).strip() if one else 'has no more'}" for name, one in sides
    )
    return f"number {found.number} of those {what}: {told}"


def _line(segment: Segment | None) -> str:
    return f"{segment.time_s:11.6f} s {segment.words}" if segment else ""


def _near(segments: Sequence[Segment], time_s: float) -> list[Segment]:
    first = next(
        (place for place, one in enumerate(segments) if one.time_s >= time_s), len(segments)
    )
    return list(segments[max(0, first - _BEFORE) : first + _AFTER])
