"""The rules by which verdicts are given; they stand here and nowhere else.

Tolerances are the same for every claim: 5 points for gains and shares in per cent, 10 % for levels.
A difference counts when the 95 % interval of its paired mean excludes zero and it is half a per
cent at least.
"""

from collections.abc import Sequence
from enum import StrEnum

POINTS = 5.0
"""A gain or a share is reproduced within so many points of the paper's per cent, and half of it."""
ABOUT_NOTHING = 3.0
"""A paper's gain of so many per cent at most says "about no difference"."""
NEGLIGIBLE = 0.5
"""A gain below so many per cent is no difference worth the name, however sure it is."""
PLATEAU_PERCENT = 1.0
"""Places that differ by less than so many per cent, interval and all, are equally high."""
LEVEL_PERCENT = 10.0
"""A level is reproduced within so many per cent of the paper's number."""
LEVEL_FACTOR = 2.0
"""A level that is off by more than this factor is not the paper's level at all."""


class Verdict(StrEnum):
    """What our runs say of a claim, the best first."""

    REPRODUCED = "reproduced"
    """Within tolerance of the paper's number, and significant."""
    DIRECTION = "direction"
    """The same sign and significant, but another size."""
    NOT_SHOWN = "not shown"
    """No significant difference where the paper has one."""
    CONTRADICTED = "contradicted"
    """Significant, and the other way."""


def judge_number(gain: float, half: float | None, number: float) -> Verdict:
    """A gain in per cent, with half its 95 % interval, beside the paper's number."""
    if abs(number) <= ABOUT_NOTHING:
        # "About no difference": shown by an interval that is narrow enough to say so.
        near = abs(gain - number) <= POINTS
        width = width_of(gain, half)
        if near and width <= POINTS:
            return Verdict.REPRODUCED
        return Verdict.CONTRADICTED if abs(gain) - width > POINTS else Verdict.NOT_SHOWN
    if not is_significant(gain, half):
        return Verdict.NOT_SHOWN
    if gain * number < 0:
        return Verdict.CONTRADICTED
    near = abs(gain - number) <= min(POINTS, abs(number) / 2)
    return Verdict.REPRODUCED if near else Verdict.DIRECTION


def judge_range(gain: float, half: float | None, low: float, high: float) -> Verdict:
    """A gain of which the paper gives a range: reproduced where the interval reaches into it."""
    if not is_significant(gain, half):
        return Verdict.NOT_SHOWN
    if gain * (low + high) < 0:
        return Verdict.CONTRADICTED
    width = width_of(gain, half)
    inside = gain + width >= low and gain - width <= high
    return Verdict.REPRODUCED if inside else Verdict.DIRECTION


def width_of(gain: float, half: float | None) -> float:
    """Half the interval; without end where one run, or equal ones, cannot tell it."""
    if half is not None:
        return half
    return float("inf") if gain else 0.0


def is_significant(gain: float, half: float | None) -> bool:
    """Whether the interval excludes zero, and the gain is worth the name."""
    return abs(gain) > max(width_of(gain, half), NEGLIGIBLE)


def judge_sign(gain: float, half: float | None, sign: str) -> Verdict:
    """A gain of which the paper says only whether it is more, less, or none worth the name."""
    width = width_of(gain, half)
    if sign == "0":
        if abs(gain) + width <= POINTS:
            return Verdict.REPRODUCED
        return Verdict.CONTRADICTED if abs(gain) - width > POINTS else Verdict.NOT_SHOWN
    if sign in {"+0", "-0"}:
        toward = gain if sign == "+0" else -gain
        if toward + width < -POINTS:
            return Verdict.CONTRADICTED
        return Verdict.REPRODUCED if toward - width >= -POINTS else Verdict.NOT_SHOWN
    if not is_significant(gain, half):
        return Verdict.NOT_SHOWN
    return Verdict.REPRODUCED if (gain > 0) == (sign != "-") else Verdict.CONTRADICTED


def judge_level(
    mean: float, number: float, *, half: float = 0.0, is_count: bool = False
) -> Verdict:
    """A measurement beside the paper's; a count is as near as the square root of the paper's."""
    tolerance = LEVEL_PERCENT / 100 * abs(number)
    if is_count:
        tolerance = max(tolerance, abs(number) ** 0.5, 0.5)
    return _near(mean, number, tolerance, half)


def judge_share(mean: float, number: float, *, half: float = 0.0) -> Verdict:
    """A share in per cent beside the paper's; a small one is as near as half of it."""
    return _near(mean, number, min(POINTS, abs(number) / 2), half)


def _near(mean: float, number: float, tolerance: float, half: float) -> Verdict:
    """Near, and known well enough to say so; else by the factor between them."""
    if abs(mean - number) <= tolerance:
        return Verdict.REPRODUCED if half <= tolerance else Verdict.NOT_SHOWN
    ratio = mean / number if number else float("inf")
    return Verdict.DIRECTION if 1 / LEVEL_FACTOR <= ratio <= LEVEL_FACTOR else Verdict.CONTRADICTED


def together(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict on several: on a part at several places, and on a claim of several parts.

    reproduced: all of them. contradicted: at least as many are contradicted as go the paper's way,
    and as are not shown. direction: more than half go the paper's way. not shown: the rest.
    """
    count = {verdict: sum(one is verdict for one in verdicts) for verdict in Verdict}
    paper_way = count[Verdict.REPRODUCED] + count[Verdict.DIRECTION]
    if count[Verdict.REPRODUCED] == len(verdicts):
        return Verdict.REPRODUCED
    against = count[Verdict.CONTRADICTED]
    if against and against >= max(paper_way, count[Verdict.NOT_SHOWN]):
        return Verdict.CONTRADICTED
    return Verdict.DIRECTION if 2 * paper_way > len(verdicts) else Verdict.NOT_SHOWN
