"""A remedy with all that the order depends on."""

from dataclasses import dataclass, replace
from math import inf

from airtcp.ranking.deployable import Spot, is_deployable, needs
from airtcp.ranking.harm import LARGE_HARM_PERCENT
from airtcp.ranking.state import State


@dataclass(frozen=True)
class Candidate:
    """A remedy with its effect. What is better is positive, whatever the metric counts."""

    remedy: str
    gain: float
    """The effect in per cent of the baseline; in the metric's unit where that is 0."""
    interval: tuple[float, float] | None
    """Its 95 % interval, which holds jointly for all remedies; None without runs."""
    state: State
    floods: bool = False
    """It fills the link with what the receiver has already."""
    harm: float | None = None
    """Change of an unchanged flow's goodput beside it in per cent; None where not measured."""
    harm_state: State | None = None
    """Whether `harm` is decided; None where not measured."""
    seeds_to_decide: int | None = None
    """Seeds with which an undecided effect of this size would be decided."""
    cost: float = 0.0
    """Change of its own goodput in per cent, where something else decides."""
    cost_state: State = State.EXCLUDED
    """Whether `cost` is decided: shown to be a large loss, excluded, or undecided."""

    @property
    def helps(self) -> bool:
        """It is shown to improve what decides, and to keep its goodput."""
        return self.improves and self.cost_state is State.EXCLUDED

    @property
    def improves(self) -> bool:
        """It is shown to improve what decides, whatever it costs in goodput."""
        return self.state is State.SHOWN and self.gain > 0

    @property
    def is_cost_open(self) -> bool:
        """It improves what decides, and may cost much goodput."""
        return self.improves and self.cost_state is State.UNDECIDED

    @property
    def is_open(self) -> bool:
        """More seeds may show that it helps."""
        return self.state is State.UNDECIDED or self.is_cost_open

    @property
    def harms_others_much(self) -> bool:
        """An unchanged flow beside it is shown to lose much."""
        is_shown = self.harm_state is State.SHOWN
        return is_shown and self.harm is not None and self.harm <= -LARGE_HARM_PERCENT

    @property
    def is_harm_open(self) -> bool:
        """An unchanged flow beside it may lose much, and the runs do not tell."""
        return self.harm_state is State.UNDECIDED

    @property
    def most(self) -> float:
        """The largest gain that the runs allow."""
        if self.interval is not None:
            return self.interval[1]
        return inf if self.state is State.UNDECIDED else self.gain

    @property
    def is_had(self) -> bool:
        """Some system has it."""
        return bool(needs(self.remedy))

    def is_deployable(self, spots: frozenset[Spot]) -> bool:
        """It can be deployed by changing no more than these spots."""
        return is_deployable(self.remedy, spots)

    def bounded(self, room: float, smallest: float) -> "Candidate":
        """The same where no remedy can gain more than `room` per cent.

        What is not decided by its own runs is excluded where the room is below `smallest`.
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
