"""Rounds of seeds until the answer is decided: a group-sequential design.

Looking at the intervals after every round and stopping at the first significant one would make an
error likely. The error is spent over the looks instead: by look k, at the share t of the maximum of
seeds, the function of Lan and DeMets (Biometrika 70, 1983) of Pocock's type has spent error x ln(1
+ (e - 1) t), and the intervals of that look miss with the increment. Pocock's rather than O'Brien
and Fleming's: rounds are there to find large effects early, and the latter leaves nothing to spend
on five seeds of eighty.

The looks' errors add up (Bonferroni's inequality), so the design needs no joint distribution of the
looks and holds with any moderated variance; the intervals of all looks hold at once (Jennison and
Turnbull, Group Sequential Methods, 2000, ch. 9), and stopping for another reason, such as time,
costs nothing.
"""

from dataclasses import dataclass
from math import e, log

from airtcp._core import ScenarioError
from airtcp.comparison.statistics import ERROR

FIRST = 5
"""Seeds of the first round."""
MAX_SEEDS = 40
"""Maximum number of seeds; undecided remedies are then reported as such."""
MAX_CPU_S = 180.0
"""Bound on the runs' processor time, in seconds: no round that would exceed it begins."""


@dataclass(frozen=True)
class Rounds:
    """Looks after `first` seeds, twice as many, and so on up to `most_seeds`."""

    most_seeds: int = MAX_SEEDS
    most_cpu_s: float = MAX_CPU_S
    first: int = FIRST

    def __post_init__(self) -> None:
        if self.most_seeds < 2:
            raise ScenarioError(f"max-seeds = {self.most_seeds}: expected 2 or more")
        if not self.most_cpu_s > 0:
            raise ScenarioError(f"max-cpu = {self.most_cpu_s}: expected seconds above 0")
        if self.first < 2:
            raise ScenarioError(f"first = {self.first}: expected 2 seeds or more")

    @property
    def looks(self) -> tuple[int, ...]:
        """The number of seeds at each look."""
        looks = []
        seeds = min(self.first, self.most_seeds)
        while seeds < self.most_seeds:
            looks.append(seeds)
            seeds *= 2
        return (*looks, self.most_seeds)

    def error(self, look: int, error: float = ERROR) -> float:
        """The error to spend at look number `look`, from 0."""
        before = spent(self.looks[look - 1] / self.most_seeds, error) if look else 0.0
        return spent(self.looks[look] / self.most_seeds, error) - before


def spent(share: float, error: float = ERROR) -> float:
    """The error spent when `share` of the maximum of seeds has been run."""
    return error * log(1.0 + (e - 1.0) * share)
