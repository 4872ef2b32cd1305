"""Equivalence test: does a remedy have the same effect on a kernel as in the simulation?

Both see the same random draws for one seed, so they are paired by seed: the test variable is the
ratio of the kernel's gain to the simulated gain, run by run. Failing to distinguish two effects is
not agreement, since a few noisy runs cannot distinguish anything. They agree if the whole interval
of that ratio lies within a margin (two one-sided tests, Schuirmann, J. Pharmacokinetics and
Biopharmaceutics 15, 1987; here with the 95 % interval, which is stricter than the usual 90 %).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from airtcp.comparison.statistics import PairedDifference, paired_difference, student_t

MARGIN_PERCENT = 5.0
"""Equivalence margin: effects agree if their gains are shown to differ by less than this."""


class Answer(StrEnum):
    """Whether two effects agree."""

    AGREE = "they agree"
    DIFFER = "they differ"
    UNDECIDED = "not enough runs"


@dataclass(frozen=True)
class Side:
    """Goodput in bits a second without the remedy and with it, in the order of the seeds."""

    before: Sequence[float]
    after: Sequence[float]

    @cached_property
    def effect(self) -> PairedDifference:
        """The remedy's effect."""
        return paired_difference(self.before, self.after)

    @cached_property
    def gains(self) -> list[float] | None:
        """Logarithm of each seed's gain; None where a run delivered nothing."""
        pairs = list(zip(self.before, self.after, strict=True))
        if any(before <= 0 or after <= 0 for before, after in pairs):
            return None
        return [math.log(after / before) for before, after in pairs]


@dataclass(frozen=True)
class Agreement:
    """A remedy's effect on the kernel paired with the simulated effect, over the same seeds."""

    kernel: Side
    simulation: Side

    @property
    def real(self) -> PairedDifference:
        """The effect on the kernel."""
        return self.kernel.effect

    @property
    def simulated(self) -> PairedDifference:
        """The effect in the simulation."""
        return self.simulation.effect

    @cached_property
    def distance(self) -> PairedDifference | None:
        """The kernel's log gain minus the simulated one; None where a run delivered nothing."""
        real, simulated = self.kernel.gains, self.simulation.gains
        if real is None or simulated is None:
            return None
        return paired_difference(simulated, real)

    @property
    def distance_percent(self) -> float | None:
        """Distance of the kernel's gain above (negative: below) the simulated gain."""
        return None if self.distance is None else _percent(self.distance.mean)

    @property
    def interval_percent(self) -> tuple[float, float] | None:
        """95 % interval of `distance_percent`; None if the runs do not give one."""
        if self.distance is None or self.distance.n < 2:
            return None
        mean, half = self.distance.mean, self.distance.half_width or 0.0
        return _percent(mean - half), _percent(mean + half)

    @property
    def answer(self) -> Answer:
        """Whether they agree, as far as these runs can decide."""
        interval, distance = self.interval_percent, self.distance_percent
        if interval is None or distance is None:
            return Answer.UNDECIDED
        low, high = interval
        if low > -MARGIN_PERCENT and high < MARGIN_PERCENT:
            return Answer.AGREE
        is_shown = low > 0 or high < 0
        return Answer.DIFFER if is_shown and abs(distance) > MARGIN_PERCENT else Answer.UNDECIDED

    @property
    def seeds_to_decide(self) -> int | None:
        """Estimates the seeds needed to decide; None if decided already or not estimable.

        Assumes that the spread stays the same: the interval shrinks with the root of the number of
        runs until it lies within the margin, or excludes zero if the distance is beyond the margin.
        """
        by = self.distance
        if self.answer is not Answer.UNDECIDED or by is None or not by.half_width:
            return None
        margin = math.log1p(MARGIN_PERCENT / 100.0)
        wanted = abs(margin - abs(by.mean)) if abs(by.mean) < margin else abs(by.mean)
        if wanted == 0:
            return None
        spread = by.half_width * by.n**0.5 / student_t(by.n - 1)
        for seeds in _COUNTS:
            if seeds > by.n and student_t(seeds - 1) * spread / seeds**0.5 < wanted:
                return seeds
        return None


_COUNTS = (10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)
"""Numbers of seeds to recommend; beyond the last, more seeds are not a practical answer."""


def _percent(log_ratio: float) -> float:
    return 100.0 * math.expm1(log_ratio)
