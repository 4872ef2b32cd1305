"""A remedy with all that the order depends on."""

from dataclasses import dataclass
from math import inf

from airtcp.ranking.deployable import Spot, is_deployable, needs
from airtcp.ranking.state import State

LARGE_HARM_PERCENT = 10.0
"""An unchanged flow that loses this share of its goodput, or more, is harmed much."""


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
    is_harm_shown: bool = False
    """The interval of `harm` leaves out zero."""
    seeds_to_decide: int | None = None
    """Seeds with which an undecided effect of this size would be decided."""

    @property
    def helps(self) -> bool:
        """It is shown to improve what decides."""
        return self.state is State.SHOWN and self.gain > 0

    @property
    def harms_others_much(self) -> bool:
        """An unchanged flow beside it is shown to lose much."""
        return self.is_harm_shown and self.harm is not None and self.harm <= -LARGE_HARM_PERCENT

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
