"""An experiment under a reading of the paper: the changes of each open point's value."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from airtcp.papers.experiment import Axis, Experiment, moved, multiplied, overlaid
from airtcp.papers.readings import Admitted, OpenPoint, Reading


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


def _changed(settings: Mapping[str, Any], value: Admitted) -> dict[str, Any]:
    """Settings with each key moved and multiplied as the value demands."""
    return {
        key: multiplied(
            moved(given, value.add[key]) if key in value.add else given, value.times.get(key, 1)
        )
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
