"""An experiment and claims under a reading of the paper: the changes of each open point's value.

An open point with an `axis` chooses among its places: the paper used one of them without naming
it; with the axis `experiment`, among experiments. Every place is run anyway, so such a reading
costs no run: it selects the place at which a claim is judged. Nor does one that chooses among
measurements of the same runs.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from airtcp.papers.claims import Claim, Part
from airtcp.papers.experiment import Axis, Experiment, overlaid, scaled
from airtcp.papers.readings import EXPERIMENT, Admitted, OpenPoint, Reading


def read_as(experiment: Experiment, points: Sequence[OpenPoint], reading: Reading) -> Experiment:
    """The experiment under this reading; its axes, which may vary the same keys, come after."""
    settings, axes = dict(experiment.settings), list(experiment.axes)
    for point, name in zip(points, reading, strict=True):
        if point.alternative or not point.concerns(experiment.id):
            continue
        value = point.value(name)
        if not value.at:
            settings = overlaid(settings, value.settings)
        settings = _changed(settings | dict.fromkeys(value.unset), value)
        axes = [_axis(axis, value) for axis in axes]
    return structs.replace(experiment, settings=settings, axes=axes)


def claims_at(
    claims: Sequence[Claim], points: Sequence[OpenPoint], reading: Reading
) -> list[Claim]:
    """The claims under a reading: with their parts at the places that it selects."""
    found = []
    for claim in claims:
        parts: list[Part] = claim.parts
        for point, name in zip(points, reading, strict=True):
            if point.alternative:
                parts = [here for part in parts for here in _at(part, point, name)]
            else:
                parts = [_by(part, point, point.value(name).measure) for part in parts]
        found.append(structs.replace(claim, parts=parts))
    return found


def _changed(settings: Mapping[str, Any], value: Admitted) -> dict[str, Any]:
    """Settings with each key multiplied and moved as the value demands."""
    return {
        key: scaled(given, value.times.get(key, 1), value.add.get(key, 0))
        if key in value.times or key in value.add
        else given
        for key, given in settings.items()
    }


def _axis(axis: Axis, value: Admitted) -> Axis:
    """The axis with the same changes, and with the value's settings at the place it names."""
    choices = []
    for choice in axis.choices:
        is_here = value.at.get(axis.name) == choice.name
        settings = overlaid(choice.settings, value.settings) if is_here else choice.settings
        choices.append(
            structs.replace(
                choice,
                settings=_changed(settings, value),
                remedies=_replaced(choice.remedies, value.replace),
            )
        )
    return structs.replace(
        axis,
        plus=axis.plus + value.add.get(axis.key, 0),
        times=axis.times * value.times.get(axis.key, 1),
        remedy=_replaced(axis.remedy, value.replace),
        choices=choices,
    )


def _replaced(remedies: str, replace: Mapping[str, str]) -> str:
    parts = remedies.split("+") if remedies else []
    return "+".join(_other(part, replace) for part in parts)


def _other(remedy: str, replace: Mapping[str, str]) -> str:
    """The remedy that replaces this one, with its parameters unless they are named too."""
    if remedy in replace:
        return replace[remedy]
    name, colon, parameters = remedy.partition(":")
    if name not in replace:
        return remedy
    given = replace[name]
    if not colon:
        return given
    return f"{given},{parameters}" if ":" in given else f"{given}:{parameters}"


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
