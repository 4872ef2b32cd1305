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
    width = half if half is not None else 0.0
    is_about_nothing = abs(number) <= ABOUT_NOTHING
    near = abs(gain - number) <= (POINTS if is_about_nothing else min(POINTS, abs(number) / 2))
    significant = abs(gain) > max(width, NEGLIGIBLE)
    if is_about_nothing:
        # "About no difference": shown by an interval that is narrow enough to say so.
        if near and width <= POINTS:
            return Verdict.REPRODUCED
        if not significant:
            return Verdict.NOT_SHOWN
        return Verdict.DIRECTION if gain * number > 0 else Verdict.CONTRADICTED
    if not significant:
        return Verdict.NOT_SHOWN
    if gain * number < 0:
        return Verdict.CONTRADICTED
    return Verdict.REPRODUCED if near else Verdict.DIRECTION


def judge_sign(gain: float, half: float | None, sign: str) -> Verdict:
    """A gain of which the paper says only whether it is more, less, or none worth the name."""
    width = half if half is not None else 0.0
    if sign == "0":
        if abs(gain) + width <= POINTS:
            return Verdict.REPRODUCED
        return Verdict.CONTRADICTED if abs(gain) - width > POINTS else Verdict.NOT_SHOWN
    if sign in {"+0", "-0"}:
        toward = gain if sign == "+0" else -gain
        if toward + width < -POINTS:
            return Verdict.CONTRADICTED
        return Verdict.REPRODUCED if toward - width >= -POINTS else Verdict.NOT_SHOWN
    if abs(gain) <= max(width, NEGLIGIBLE):
        return Verdict.NOT_SHOWN
    return Verdict.REPRODUCED if (gain > 0) == (sign != "-") else Verdict.CONTRADICTED


def judge_level(mean: float, number: float, *, is_count: bool = False) -> Verdict:
    """A measurement beside the paper's; a count is as near as the square root of the paper's."""
    tolerance = LEVEL_PERCENT / 100 * abs(number)
    if is_count:
        tolerance = max(tolerance, abs(number) ** 0.5, 0.5)
    return _near(mean, number, tolerance)


def judge_share(mean: float, number: float) -> Verdict:
    """A share in per cent beside the paper's; a small one is as near as half of it."""
    return _near(mean, number, min(POINTS, abs(number) / 2))


def _near(mean: float, number: float, tolerance: float) -> Verdict:
    if abs(mean - number) <= tolerance:
        return Verdict.REPRODUCED
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
