"""The rules by which verdicts are given; they stand here and nowhere else.

Tolerances are the same for every claim: half of the paper's per cent, at least 2.5 and at most 5
points, for gains and shares; 10 % for levels. A difference counts when its 95 % interval excludes
zero and it is half a per cent at least. An interval that is wider than the tolerance reproduces
nothing, and one run, or runs that are all equal, have an interval without end.
"""

from collections.abc import Hashable, Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

from airtcp.papers.estimates import Estimate, log_ratio

T = TypeVar("T", bound=Hashable)

POINTS = 5.0
"""The most points by which a gain or a share may differ from the paper's per cent."""
FEWEST_POINTS = POINTS / 2
"""The fewest: what is smaller cannot be told from "no difference"."""
NEGLIGIBLE = 0.5
"""A gain below this, in per cent, is no difference worth the name, however sure it is."""
PLATEAU_PERCENT = 1.0
"""Places that differ by less, in per cent and interval included, are equally high."""
LEVEL_PERCENT = 10.0
"""A level is reproduced within this many per cent of the paper's number."""
FIRM = 0.95
"""A verdict is firm where other seeds give it this often; else it gets more of them."""
CANDIDATES = 5
"""Most readings of a claim that are run again with fresh seeds, the surest first."""
DOUBT = 0.2
"""A reading is asked again where few seeds would say so by chance one time in five at most."""
MISTAKEN = 0.05
"""Error rate of saying that the readings of a claim disagree where none does."""
FACTOR = 2.0
"""Beyond this factor the size is another, and a level is not the paper's at all."""


class Verdict(StrEnum):
    """Verdicts on a claim by our runs, the best first."""

    REPRODUCED = "reproduced"
    """Within tolerance of the paper's number, significant, as narrowly known."""
    DIRECTION = "direction"
    """The same sign and significant, and within a factor of two."""
    LARGER = "direction, larger"
    """The same sign and significant, and more than twice the paper's number."""
    SMALLER = "direction, smaller"
    """The same sign and significant, and less than half the paper's number."""
    DEPENDS = "depends on the reading"
    """Readings that the paper's text admits disagree."""
    UNDECIDED = "not yet decided"
    """Not shown by these runs; more seeds or readings may show it."""
    NOT_SHOWN = "not shown"
    """No significant difference where the paper has one."""
    NEVER = "never the paper's way"
    """No reading goes the paper's way, and some are contradicted."""
    CONTRADICTED = "contradicted"
    """Significant, and the other way, under every admissible reading."""

    @property
    def meaning(self) -> str:
        """What it says of a claim, in a sentence for those who read a page."""
        return _MEANINGS[self]

    @property
    def goes_the_papers_way(self) -> bool:
        """Reproduced, or the direction of whatever size."""
        return self in _PAPERS_WAY


_MEANINGS = {
    Verdict.REPRODUCED: "Within tolerance of the paper's number, significant, as narrowly known.",
    Verdict.DIRECTION: "The paper's sign, significant, and within a factor of two of its number.",
    Verdict.LARGER: "The paper's sign, significant, and more than twice its number.",
    Verdict.SMALLER: "The paper's sign, significant, and less than half its number.",
    Verdict.DEPENDS: "Readings that the paper's text admits disagree.",
    Verdict.UNDECIDED: "Not shown so far: more seeds or readings may show it.",
    Verdict.NOT_SHOWN: "No significant difference where the paper has one.",
    Verdict.NEVER: "No reading that was run goes the paper's way, and some are contradicted.",
    Verdict.CONTRADICTED: "Significant, and the other way, under every admissible reading.",
}

_PAPERS_WAY = (Verdict.REPRODUCED, Verdict.DIRECTION, Verdict.LARGER, Verdict.SMALLER)


def tolerance(number: float) -> float:
    """By how many points a gain may differ from the paper's per cent."""
    return min(POINTS, max(FEWEST_POINTS, abs(number) / 2))


def sign_of(gain: Estimate) -> int:
    """Which way a gain goes: 0 where its interval has zero in it, or it is not worth the name."""
    if abs(gain.value) <= NEGLIGIBLE:
        return 0
    return 1 if gain.low > 0 else -1 if gain.high < 0 else 0


def judge_number(gain: Estimate, number: float) -> Verdict:
    """A gain in per cent beside the paper's number.

    A number of 2.5 % at most says "about no difference": it needs no significance, and a gain of
    the other sign contradicts it only beyond the tolerance. So no verdict turns from the paper's
    way to contradicted where gain or number change by a hair.
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
    """A gain of which the paper gives a range: its own tolerance, if that is the wider one."""
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
    """The right way: within a factor of two as log ratios, or beyond it."""
    ours, paper = abs(log_ratio(gain)), abs(log_ratio(number))
    if ours > FACTOR * paper:
        return Verdict.LARGER
    return Verdict.SMALLER if FACTOR * ours < paper else Verdict.DIRECTION


def judge_sign(gain: Estimate, sign: str) -> Verdict:
    """A gain of which the paper says only that it is more, less, or none worth the name.

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
    """A measurement beside the paper's; a count is as near as the square root of the paper's."""
    allowed = LEVEL_PERCENT / 100 * abs(number)
    if is_count:
        allowed = max(allowed, abs(number) ** 0.5, 0.5)
    return _near(ours, number, allowed)


def judge_share(ours: Estimate, number: float) -> Verdict:
    """A share in per cent beside the paper's; a small one is as near as half of it."""
    return _near(ours, number, min(POINTS, abs(number) / 2))


def _near(ours: Estimate, number: float, allowed: float) -> Verdict:
    """Near, and known as narrowly; else by the factor between them, if that is known."""
    if abs(ours.value - number) <= allowed and ours.half_width <= allowed:
        return Verdict.REPRODUCED
    low, high = sorted((number / FACTOR, number * FACTOR))
    if ours.low > high or ours.high < low:
        return Verdict.CONTRADICTED
    known = ours.half_width <= max(allowed, abs(number) / FACTOR)
    return Verdict.DIRECTION if known and low <= ours.value <= high else Verdict.NOT_SHOWN


def judge_trend(steps: Sequence[Estimate], ends: Estimate, direction: str) -> Verdict:
    """Ends that differ the right way, and no step between that goes significantly the other.

    `steps` are the changes from place to place, `ends` that from the first place to the last, in
    per cent; `direction` is "rises" or "falls".
    """
    side = 1 if direction == "rises" else -1
    toward = side * sign_of(ends)
    if toward <= 0:
        return Verdict.CONTRADICTED if toward < 0 else Verdict.NOT_SHOWN
    falters = any(side * sign_of(one) < 0 for one in steps)
    return Verdict.DIRECTION if falters else Verdict.REPRODUCED


def judge_peak(rise: Estimate, excess: Estimate | None) -> Verdict:
    """A measurement that is highest within the paper's places.

    `rise` leads from the first place to the best one among the paper's; `excess` from there to the
    best place of all, None where that is the same one. Both in per cent.
    """
    if sign_of(rise) <= 0:
        return Verdict.CONTRADICTED if sign_of(rise) < 0 else Verdict.NOT_SHOWN
    if excess is None or excess.high <= PLATEAU_PERCENT:
        return Verdict.REPRODUCED
    if excess.low > POINTS:
        return Verdict.CONTRADICTED
    return Verdict.DIRECTION if excess.high <= POINTS else Verdict.NOT_SHOWN


def judge_larger_gain(more: Estimate, larger: Estimate) -> Verdict:
    """`larger` exceeds another gain by `more`; less of a loss is no larger gain."""
    if sign_of(more) < 0:
        return Verdict.CONTRADICTED
    shown = sign_of(more) > 0 and sign_of(larger) > 0
    return Verdict.REPRODUCED if shown else Verdict.NOT_SHOWN


def together(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict on several: on a part at several places, and on a claim of several parts.

    reproduced: all of them. contradicted: at least as many are contradicted as go the paper's way,
    and as are not shown. direction: more than half go the paper's way; larger or smaller where more
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


def over_readings(
    default: Verdict,
    others: Sequence[Verdict],
    *,
    disagrees: bool,
    enough: bool = True,
    against: bool = False,
) -> Verdict:
    """The verdict on a claim, from that under the default reading and under the other ones.

    `disagrees`: a reading's own verdict, from fresh seeds, is on the other side of the default's,
    and the two are told apart, as `disagreement` has it. One that shows nothing and cannot be told
    from the default neither supports nor refutes: that one effect is significant and another is not
    does not make them differ (Gelman & Stern, The American Statistician 60(4), 2006).

    A verdict on all readings needs `enough` of them: a quick run tries but a few, and says of a
    claim that none of these gives no more than that it is not shown. Contradicted needs every one.
    Never the paper's way needs one that is surer than what few seeds say of one among many: the
    default's, or `against`, a reading that contradicts again with fresh seeds. Where all show
    nothing, more seeds may.
    """
    if disagrees:
        return Verdict.DEPENDS
    if default.goes_the_papers_way:
        return default
    every = (default, *others)
    if not enough or any(verdict.goes_the_papers_way for verdict in every):
        return Verdict.NOT_SHOWN
    if all(verdict is Verdict.CONTRADICTED for verdict in every):
        return Verdict.CONTRADICTED
    sure = against or default is Verdict.CONTRADICTED
    return Verdict.NEVER if sure else Verdict.NOT_SHOWN


def is_firm(verdict: Verdict, likely: Mapping[Verdict, int]) -> bool:
    """Whether as many other seeds would give the same verdict nineteen times in twenty."""
    return likely.get(verdict, 0) >= FIRM * sum(likely.values())


def firmly_differs(default: Verdict, likely: Mapping[Verdict, int]) -> bool:
    """Whether nineteen of twenty likely verdicts are on the other side of the default's."""
    way = default.goes_the_papers_way
    apart = sum(count for one, count in likely.items() if one.goes_the_papers_way is not way)
    return apart >= FIRM * sum(likely.values())


def said_of_likely(verdict: Verdict, likely: Mapping[Verdict, int]) -> Verdict:
    """Verdict on a claim that is not firm: what the likely ones have in common.

    Those that one draw in twenty gives. All the paper's way are a direction, whatever its size; of
    any others no more can be said than that it is not shown.
    """
    if is_firm(verdict, likely):
        return verdict
    among = {one for one, count in likely.items() if count >= (1 - FIRM) * sum(likely.values())}
    among.add(verdict)
    if all(one.goes_the_papers_way for one in among):
        return Verdict.DIRECTION if len(among) > 1 else verdict
    return verdict if len(among) == 1 else Verdict.NOT_SHOWN


def confirmed(p_value: float, candidates: int) -> bool:
    """Whether one of several candidates counts, by the results of its fresh seeds.

    Bonferroni's: all of them together are wrong five times in a hundred. That the candidate was
    picked among many readings does not count, since the seeds that picked it are not these.
    """
    return p_value <= MISTAKEN / max(1, candidates)


def correct_for_number(p_values: Mapping[T, float], *, rate: float = 0.05) -> set[T]:
    """The comparisons that count as shown where many are made at once.

    Benjamini & Hochberg (J. R. Stat. Soc. B 57(1), 1995): of those returned, five in a hundred are
    expected to be chance.
    """
    ranked = sorted(p_values, key=lambda one: p_values[one])
    passed = 0
    for rank, one in enumerate(ranked, start=1):
        if p_values[one] <= rate * rank / len(ranked):
            passed = rank
    return set(ranked[:passed])
