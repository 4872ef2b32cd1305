"""Alternative places of an axis: a paper used one of them without naming it.

An open point with an `axis` chooses among its places; with the axis `experiment`, among
experiments. Every place is run anyway, so such a reading costs no run: it selects the place at
which a claim is judged. Nor does one that chooses among measurements of the same runs.
"""

from collections.abc import Mapping, Sequence

from msgspec import structs

from airtcp.papers.claims import Claim, Part
from airtcp.papers.readings import EXPERIMENT, OpenPoint, Reading


def claims_at(
    claims: Sequence[Claim], points: Sequence[OpenPoint], reading: Reading
) -> list[Claim]:
    """The claims under a reading: with their parts at the places that it selects."""
    taken = [
        (point, name) for point, name in zip(points, reading, strict=True) if point.alternative
    ]
    measured = [
        (point, point.value(name).measure)
        for point, name in zip(points, reading, strict=True)
        if not point.alternative and point.value(name).measure
    ]
    if not taken and not measured:
        return list(claims)
    found = []
    for claim in claims:
        parts: list[Part] = claim.parts
        for point, name in taken:
            parts = [here for part in parts for here in _at(part, point, name)]
        for point, instead in measured:
            parts = [_by(part, point, instead) for part in parts]
        found.append(structs.replace(claim, parts=parts))
    return found


def concerns(point: OpenPoint, claim: Claim) -> bool:
    """Whether a point chooses among places or measurements of a part that counts."""
    measured = {name for value in point.values for name in value.measure}
    return any(
        part.counts
        and (
            point.concerns(part.experiment) and part.measure in measured
            if not point.alternative
            else part.experiment in point.names
            if point.axis == EXPERIMENT
            else point.concerns(part.experiment)
            and (part.along == point.axis or point.axis in part.at)
        )
        for part in claim.parts
    )


def _at(part: Part, point: OpenPoint, name: str) -> list[Part]:
    """The part at the named place; empty if it is only a placeholder for another place."""
    if point.axis == EXPERIMENT:
        return [] if part.experiment in point.names and part.experiment != name else [part]
    if not point.concerns(part.experiment):
        return [part]
    if part.along == point.axis:
        index = [str(place) for place in part.places].index(name)
        numbers = [part.paper[index]] if part.paper else []
        return [structs.replace(part, places=[part.places[index]], paper=numbers)]
    return [part] if str(part.at.get(point.axis, name)) == name else []


def _by(part: Part, point: OpenPoint, instead: Mapping[str, str]) -> Part:
    """The part by the reading's measurement, if that replaces the part's."""
    if not point.concerns(part.experiment) or part.measure not in instead:
        return part
    return structs.replace(part, measure=instead[part.measure])
