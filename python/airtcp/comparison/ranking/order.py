"""The order of remedies for one asker."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from airtcp.comparison.ranking.askers import Reach
from airtcp.comparison.ranking.best import best_of, place_of
from airtcp.comparison.ranking.candidate import Candidate
from airtcp.comparison.ranking.elsewhere import Elsewhere, elsewhere
from airtcp.comparison.ranking.state import SMALLEST_PERCENT
from airtcp.core.shown import InNotebook


@dataclass(frozen=True)
class Ranking(InNotebook):
    """The remedies for an asker who may change `reach`, the best first."""

    reach: Reach
    candidates: tuple[Candidate, ...]
    """All remedies, including those out of reach: shown to help first, then the undecided by
    decreasing gain, then the excluded and the harmful ones.
    """
    smallest: float = SMALLEST_PERCENT
    """The smallest effect worth having, in per cent."""

    @cached_property
    def deployable(self) -> tuple[Candidate, ...]:
        """Remedies that the asker can deploy."""
        return tuple(one for one in self.candidates if one.is_deployable(self.reach.spots))

    @cached_property
    def best(self) -> Candidate | None:
        """The best deployable remedy; None if no remedy is shown to bring enough."""
        return best_of([one for one in self.deployable if self._is_worth_naming(one)])

    def _is_worth_naming(self, one: Candidate) -> bool:
        """Whether it helps by a worthwhile amount: a gain of 0.7 % may be shown but too small."""
        return one.helps and one.gain >= self.smallest

    @cached_property
    def larger_with_harm(self) -> Candidate | None:
        """The deployable remedy with a slightly larger effect than `best` that may harm others."""
        return _first_by_gain(self.deployable, but=self.best)

    @cached_property
    def undecided(self) -> tuple[Candidate, ...]:
        """Deployable remedies that may be better than the best shown one, or may not."""
        shown = self.best.gain if self.best else 0.0
        return tuple(
            one
            for one in self.deployable
            if (one.is_open or (one.helps and not self._is_worth_naming(one)))
            and one.most > max(shown, self.smallest)
        )

    @property
    def is_decided(self) -> bool:
        """Whether more seeds would leave the answer unchanged, apart from `is_harm_decided`."""
        return not self.undecided

    @property
    def is_harm_decided(self) -> bool:
        """Whether the best remedy's harm to others is known, or cannot be measured."""
        return self.best is None or not self.best.is_harm_open

    @property
    def nothing_helps(self) -> bool:
        """Whether a worthwhile effect is excluded for every deployable remedy."""
        return self.best is None and not self.undecided

    @cached_property
    def elsewhere(self) -> tuple[Elsewhere, ...]:
        """The best at each place that the asker cannot change, if it helps."""
        worth = [one for one in self.candidates if not one.helps or self._is_worth_naming(one)]
        return elsewhere(worth, self.reach)


def rank(
    candidates: Iterable[Candidate], reach: Reach, smallest: float = SMALLEST_PERCENT
) -> Ranking:
    """Ranks remedies for an asker who may change `reach`.

    Ties keep the given order: a row that several remedies share names the first.
    """
    return Ranking(reach, tuple(sorted(candidates, key=place_of)), smallest)


def _first_by_gain(candidates: Sequence[Candidate], but: Candidate | None) -> Candidate | None:
    helping = sorted((one for one in candidates if one.helps), key=place_of)
    if not helping or but is None or helping[0].gain <= but.gain:
        return None
    return helping[0]
