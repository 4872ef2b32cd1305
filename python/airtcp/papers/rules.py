"""The rules for all verdicts.

Tolerances are the same for every claim: half of the paper's per cent, at least 2.5 and at most 5
points, for gains and shares; 10 % for levels. A difference counts when its 95 % interval excludes
zero and it is half a per cent at least. An interval that is wider than the tolerance reproduces
nothing, and a single run, or identical runs, has an unbounded interval.
"""

from collections.abc import Hashable, Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

from airtcp.papers.estimates import Estimate, log_ratio

T = TypeVar("T", bound=Hashable)

POINTS = 5.0
"""Maximum tolerance in points around the paper's per cent of a gain or a share."""
FEWEST_POINTS = POINTS / 2
"""Minimum tolerance: smaller differences cannot be distinguished from "no difference"."""
NEGLIGIBLE = 0.5
"""A gain below this, in per cent, is negligible, however significant."""
PLATEAU_PERCENT = 1.0
"""Places that differ by less, in per cent and including the interval, are equally high."""
LEVEL_PERCENT = 10.0
"""A level is reproduced within this percentage of the paper's number."""
CANDIDATES = 5
"""Maximum number of readings of a claim to re-evaluate on fresh seeds."""
DOUBT = 0.2
"""Significance level for re-evaluating a reading: one in five by chance."""
MISTAKEN = 0.05
"""Error rate of reporting that the readings of a claim disagree if they do not."""
FACTOR = 2.0
"""Beyond this factor the size differs, and a level is contradicted."""


class Verdict(StrEnum):
    """Verdicts on a claim by our runs, the best first; `meaning` explains each."""

    REPRODUCED = "reproduced"
    DIRECTION = "direction"
    LARGER = "direction, larger"
    SMALLER = "direction, smaller"
    DEPENDS = "depends on the reading"
    UNDECIDED = "not yet decided"
    NOT_SHOWN = "not shown"
    NEVER = "never the paper's way"
    CONTRADICTED = "contradicted"

    @property
    def meaning(self) -> str:
        """Its meaning for a claim, in a sentence for readers of a page."""
        return _MEANINGS[self]

    @property
    def goes_the_papers_way(self) -> bool:
        """Reproduced, or the direction with any size."""
        return self in _PAPERS_WAY


_MEANINGS = {
    Verdict.REPRODUCED: "Within tolerance of the paper's number, significant, as narrowly known.",
    Verdict.DIRECTION: "The paper's sign, significant, and within a factor of two of its number.",
    Verdict.LARGER: "The paper's sign, significant, and more than twice its number.",
    Verdict.SMALLER: "The paper's sign, significant, and less than half its number.",
    Verdict.DEPENDS: "Readings that the paper's text admits disagree.",
    Verdict.UNDECIDED: "Not shown so far: more seeds or readings may show it.",
    Verdict.NOT_SHOWN: "No significant difference where the paper has one.",
    Verdict.NEVER: "The default contradicts, and no reading that was run goes the paper's way.",
    Verdict.CONTRADICTED: "Significant, and the other way, under every reading that was run.",
}

_PAPERS_WAY = (Verdict.REPRODUCED, Verdict.DIRECTION, Verdict.LARGER, Verdict.SMALLER)


def tolerance(number: float) -> float:
    """Tolerance of a gain in points around the paper's per cent."""
    return min(POINTS, max(FEWEST_POINTS, abs(number) / 2))


def sign_of(gain: Estimate) -> int:
    """Direction of a gain: 0 if its interval includes zero, or if it is negligible."""
    if abs(gain.value) <= NEGLIGIBLE:
        return 0
    return 1 if gain.low > 0 else -1 if gain.high < 0 else 0


def judge_number(gain: Estimate, number: float) -> Verdict:
    """Judges a gain in per cent against the paper's number.

    A number of at most 2.5 % means "about no difference": it needs no significance, and a gain of
    the opposite sign contradicts it only beyond the tolerance. So no verdict jumps from the paper's
    way to contradicted if gain or number change marginally.
    """
    if number == 0:
        return judge_sign(gain, "0")
    side = 1 if number > 0 else -1
    allowed = tolerance(number)
    near = abs(gain.value - number) <= allowed
    toward = side * sign_of(gain)
    if toward < 0:
        beyond = max(NEGLIGIBLE, allowed - abs(number))
        other_side = min(-side * gain.low, -side * gain.high)
        return Verdict.CONTRADICTED if other_side > beyond else Verdict.NOT_SHOWN
    if near and gain.half_width <= allowed and (toward > 0 or abs(number) <= FEWEST_POINTS):
        return Verdict.REPRODUCED
    if toward == 0:
        return Verdict.NOT_SHOWN
    return Verdict.DIRECTION if near else _by_size(gain.value, number)


def judge_range(gain: Estimate, low: float, high: float) -> Verdict:
    """Judges a gain against the paper's range, or its tolerance if that is wider."""
    low, high = min(low, high), max(low, high)
    middle = (low + high) / 2
    side = 1 if middle >= 0 else -1
    toward = side * sign_of(gain)
    if toward <= 0:
        return Verdict.CONTRADICTED if toward < 0 else Verdict.NOT_SHOWN
    narrow = gain.half_width <= max(tolerance(middle), (high - low) / 2)
    if gain.high >= low and gain.low <= high:
        return Verdict.REPRODUCED if narrow else Verdict.DIRECTION
    return _by_size(gain.value, low if gain.value < low else high)


def _by_size(gain: float, number: float) -> Verdict:
    """The right direction: within a factor of two as log ratios, or beyond it."""
    ours, paper = abs(log_ratio(gain)), abs(log_ratio(number))
    if ours > FACTOR * paper:
        return Verdict.LARGER
    return Verdict.SMALLER if FACTOR * ours < paper else Verdict.DIRECTION


def judge_sign(gain: Estimate, sign: str) -> Verdict:
    """Judges a gain that the paper only calls more, less, or no different.

    sign: "" or "+" more, "-" less, "0" no difference, "+0" not less, "-0" not more. "No difference"
    is shown by an interval within 2.5 points of zero and refuted by one beyond 5.
    """
    if sign == "0":
        if max(-gain.low, gain.high) <= FEWEST_POINTS:
            return Verdict.REPRODUCED
        beyond = gain.low > POINTS or gain.high < -POINTS
        return Verdict.CONTRADICTED if beyond else Verdict.NOT_SHOWN
    if sign in {"-", "-0"}:
        return judge_sign(gain.mirrored, "+" if sign == "-" else "+0")
    shown = sign_of(gain)
    if sign == "+0":
        if shown >= 0 and gain.low >= -FEWEST_POINTS:
            return Verdict.REPRODUCED
        return Verdict.CONTRADICTED if gain.high < -2 * NEGLIGIBLE else Verdict.NOT_SHOWN
    return (Verdict.NOT_SHOWN, Verdict.REPRODUCED, Verdict.CONTRADICTED)[shown]


def judge_level(ours: Estimate, number: float, *, is_count: bool = False) -> Verdict:
    """Judges a measurement; the tolerance of a count is at least the paper's square root."""
    allowed = LEVEL_PERCENT / 100 * abs(number)
    if is_count:
        allowed = max(allowed, abs(number) ** 0.5, 0.5)
    return _near(ours, number, allowed)


def judge_share(ours: Estimate, number: float) -> Verdict:
    """Judges a share in per cent; the tolerance of a small one is half of it."""
    return _near(ours, number, min(POINTS, abs(number) / 2))


def _near(ours: Estimate, number: float, allowed: float) -> Verdict:
    """Near, with as narrow an interval; otherwise by the factor between them, if known."""
    if abs(ours.value - number) <= allowed and ours.half_width <= allowed:
        return Verdict.REPRODUCED
    low, high = sorted((number / FACTOR, number * FACTOR))
    if ours.low > high or ours.high < low:
        return Verdict.CONTRADICTED
    known = ours.half_width <= max(allowed, abs(number) / FACTOR)
    return Verdict.DIRECTION if known and low <= ours.value <= high else Verdict.NOT_SHOWN


def judge_trend(steps: Sequence[Estimate], ends: Estimate, direction: str) -> Verdict:
    """Ends that differ in the right direction, without a significant step in the opposite one.

    `steps` are the changes from place to place, `ends` is that from the first place to the last, in
    per cent; `direction` is "rises" or "falls".
    """
    side = 1 if direction == "rises" else -1
    toward = side * sign_of(ends)
    if toward <= 0:
        return Verdict.CONTRADICTED if toward < 0 else Verdict.NOT_SHOWN
    falters = any(side * sign_of(one) < 0 for one in steps)
    return Verdict.DIRECTION if falters else Verdict.REPRODUCED


def judge_peak(rise: Estimate, excess: Estimate | None) -> Verdict:
    """A measurement with its maximum within the paper's places.

    `rise` leads from the first place to the best one among the paper's; `excess` from there to the
    best place of all, None if that is the same one. Both in per cent.
    """
    if sign_of(rise) <= 0:
        return Verdict.CONTRADICTED if sign_of(rise) < 0 else Verdict.NOT_SHOWN
    if excess is None or excess.high <= PLATEAU_PERCENT:
        return Verdict.REPRODUCED
    if excess.low > POINTS:
        return Verdict.CONTRADICTED
    return Verdict.DIRECTION if excess.high <= POINTS else Verdict.NOT_SHOWN


def judge_larger_gain(more: Estimate, larger: Estimate) -> Verdict:
    """`larger` exceeds another gain by `more`; a smaller loss is not a larger gain."""
    if sign_of(more) < 0:
        return Verdict.CONTRADICTED
    shown = sign_of(more) > 0 and sign_of(larger) > 0
    return Verdict.REPRODUCED if shown else Verdict.NOT_SHOWN


def together(verdicts: Sequence[Verdict]) -> Verdict:
    """The combined verdict: of a part at several places, or of a claim with several parts.

    reproduced: all of them. contradicted: at least as many are contradicted as go the paper's way,
    and as are not shown. direction: more than half go the paper's way; larger or smaller if more
    than half of these are. not shown: the rest.
    """
    way = [verdict for verdict in verdicts if verdict.goes_the_papers_way]
    if verdicts and all(verdict is Verdict.REPRODUCED for verdict in verdicts):
        return Verdict.REPRODUCED
    against = sum(verdict is Verdict.CONTRADICTED for verdict in verdicts)
    silent = len(verdicts) - len(way) - against
    if against and against >= max(len(way), silent):
        return Verdict.CONTRADICTED
    if 2 * len(way) <= len(verdicts):
        return Verdict.NOT_SHOWN
    for size in (Verdict.LARGER, Verdict.SMALLER):
        if 2 * sum(verdict is size for verdict in way) > len(way):
            return size
    return Verdict.DIRECTION


def verdict_over_readings(
    default: Verdict, others: Sequence[Verdict], *, disagrees: bool, is_enough: bool = True
) -> Verdict:
    """The verdict on a claim, from those under the default reading and under the other ones.

    `disagrees`: a reading's verdict from fresh seeds is on the other side of the default's, and the
    difference is significant, as in `disagreement`. A reading that shows nothing and is
    indistinguishable from the default neither supports nor refutes: that one effect is significant
    and another is not does not make them differ (Gelman & Stern, The American Statistician 60(4),
    2006).

    A verdict on all readings needs enough of them: every value of each open point that affects the
    claim. Contradicted needs every reading run; never the paper's way needs the default's
    contradiction, and no reading that goes the paper's way.
    """
    if disagrees:
        return Verdict.DEPENDS
    if default.goes_the_papers_way:
        return default
    every = (default, *others)
    is_given = any(verdict.goes_the_papers_way for verdict in every)
    if not is_enough or is_given or default is not Verdict.CONTRADICTED:
        return Verdict.NOT_SHOWN
    if all(verdict is Verdict.CONTRADICTED for verdict in every):
        return Verdict.CONTRADICTED
    return Verdict.NEVER


def confirmed(p_value: float, candidates: int) -> bool:
    """Whether one of several candidates counts, by the results of its fresh seeds.

    Bonferroni's: all of them together are wrong five times in a hundred. The selection of the
    candidate among many readings does not count, since other seeds selected it.
    """
    return p_value <= MISTAKEN / max(1, candidates)


def correct_for_number(p_values: Mapping[T, float], *, rate: float = 0.05) -> set[T]:
    """The significant comparisons when many are made at once.

    Benjamini & Hochberg (J. R. Stat. Soc. B 57(1), 1995): of those returned, five in a hundred are
    expected to be chance.
    """
    ranked = sorted(p_values, key=lambda one: p_values[one])
    passed = 0
    for rank, one in enumerate(ranked, start=1):
        if p_values[one] <= rate * rank / len(ranked):
            passed = rank
    return set(ranked[:passed])
