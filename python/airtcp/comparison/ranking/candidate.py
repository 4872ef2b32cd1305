"""A remedy with everything that its rank depends on."""

from dataclasses import dataclass, replace
from math import inf

from airtcp.comparison.ranking.deployable import Spot, is_deployable, needs
from airtcp.comparison.ranking.harm import LARGE_HARM_PERCENT
from airtcp.comparison.ranking.state import State


@dataclass(frozen=True)
class Candidate:
    """A remedy with its effect. Improvements are positive for every metric."""

    remedy: str
    gain: float
    """The effect in per cent of the baseline; in the metric's unit if that is 0."""
    interval: tuple[float, float] | None
    """Its 95 % interval, which holds jointly for all remedies; None without runs."""
    state: State
    floods: bool = False
    """Whether it fills the link with data that the receiver already has."""
    harm: float | None = None
    """Change of an unchanged competing flow's goodput in per cent; None if not measured."""
    harm_state: State | None = None
    """Whether `harm` is decided; None if not measured."""
    seeds_to_decide: int | None = None
    """Estimated number of seeds that would decide an undecided effect."""
    cost: float = 0.0
    """Change of the remedy's goodput in per cent, if another metric decides."""
    cost_state: State = State.EXCLUDED
    """Whether `cost` is decided: shown to be a large loss, excluded, or undecided."""

    @property
    def helps(self) -> bool:
        """Whether it is shown to improve the deciding metric without losing goodput."""
        return self.improves and self.cost_state is State.EXCLUDED

    @property
    def improves(self) -> bool:
        """Whether it is shown to improve the deciding metric, at any cost of goodput."""
        return self.state is State.SHOWN and self.gain > 0

    @property
    def is_cost_open(self) -> bool:
        """Whether it improves the deciding metric, but may cost much goodput."""
        return self.improves and self.cost_state is State.UNDECIDED

    @property
    def is_open(self) -> bool:
        """Whether more seeds may show that it helps."""
        return self.state is State.UNDECIDED or self.is_cost_open

    @property
    def harms_others_much(self) -> bool:
        """Whether an unchanged competing flow is shown to lose much."""
        is_shown = self.harm_state is State.SHOWN
        return is_shown and self.harm is not None and self.harm <= -LARGE_HARM_PERCENT

    @property
    def is_harm_open(self) -> bool:
        """Whether an unchanged competing flow may lose much, undecided by the runs."""
        return self.harm_state is State.UNDECIDED

    @property
    def most(self) -> float:
        """Upper bound of the gain by the runs."""
        if self.interval is not None:
            return self.interval[1]
        return inf if self.state is State.UNDECIDED else self.gain

    @property
    def is_had(self) -> bool:
        """Whether some system implements it."""
        return bool(needs(self.remedy))

    def is_deployable(self, spots: frozenset[Spot]) -> bool:
        """Whether it can be deployed by changing only these spots."""
        return is_deployable(self.remedy, spots)

    def bounded(self, room: float, smallest: float) -> "Candidate":
        """The candidate if no remedy can gain more than `room` per cent.

        An effect that its runs leave undecided is excluded if the room is below `smallest`.
        """
        low, high = self.interval or (self.gain, inf)
        if high <= room:
            return self
        high = max(room, self.gain)
        is_excluded = self.state is State.UNDECIDED and high < smallest
        return replace(
            self,
            interval=None if self.interval is None else (low, high),
            state=State.EXCLUDED if is_excluded else self.state,
            seeds_to_decide=None if is_excluded else self.seeds_to_decide,
        )
