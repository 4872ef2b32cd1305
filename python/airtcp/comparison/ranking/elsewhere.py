"""The best remedy at each place that the asker cannot change."""

from collections.abc import Sequence
from dataclasses import dataclass

from airtcp.comparison.ranking.askers import Asker, Reach, reach
from airtcp.comparison.ranking.best import best_of
from airtcp.comparison.ranking.candidate import Candidate
from airtcp.comparison.ranking.deployable import Spot
from airtcp.comparison.ranking.direction import Direction


@dataclass(frozen=True)
class Elsewhere:
    """The best remedy of a place."""

    place: str
    """The place at the start of a line: "At the access point", "No Linux has it"."""
    best: Candidate


_KNOWN = (Asker.MY_MACHINE, Asker.SERVER, Asker.ACCESS_POINT)
_UNKNOWN = (Asker.SENDER, Asker.RECEIVER, Asker.ACCESS_POINT)


def elsewhere(
    candidates: Sequence[Candidate],
    asked: Reach,
) -> tuple[Elsewhere, ...]:
    """The best of each place out of reach, except places without a remedy that helps."""
    found: list[Elsewhere] = []
    named = _UNKNOWN if asked.direction in {Direction.UNKNOWN, Direction.BOTH} else _KNOWN
    for asker in named:
        spots = reach(asker.value, asked.direction, asked.machines).spots
        if spots <= asked.spots:
            continue
        there = [one for one in candidates if one.is_deployable(spots)]
        _add(found, f"At {asker.words}", best_of(_out_of(there, asked.spots)))
    both = frozenset({Spot.SENDER, Spot.RECEIVER})
    if not both <= asked.spots:
        alone = [reach(asker.value, asked.direction, asked.machines).spots for asker in named]
        together = [
            one
            for one in candidates
            if one.is_deployable(both) and not any(one.is_deployable(spots) for spots in alone)
        ]
        _add(found, "At both ends together", best_of(_out_of(together, asked.spots)))
    _add(found, "No Linux has it", best_of([one for one in candidates if not one.is_had]))
    return tuple(found)


def _out_of(candidates: Sequence[Candidate], spots: frozenset[Spot]) -> list[Candidate]:
    return [one for one in candidates if not one.is_deployable(spots)]


def _add(found: list[Elsewhere], place: str, best: Candidate | None) -> None:
    if best is not None:
        found.append(Elsewhere(place, best))
