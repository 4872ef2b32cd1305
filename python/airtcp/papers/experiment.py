"""An experiment: one scenario, varied along axes, every point of it run with the same seeds."""

import re
from collections.abc import Container, Iterator, Mapping
from itertools import product
from typing import Any, Literal, NamedTuple, Protocol

from msgspec import Struct, field

Value = float | int | str
"""The position of a point on an axis."""


RunExtent = Literal["full", "fresh", "few", "quick"]
"""Full: all seeds; fresh: as many, of shorter runs, for re-evaluated readings; few: the seeds of
readings other than the default; quick: the seeds of a quick run.
"""


def overlaid(settings: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Settings overlaid with others: a table given as a whole removes the single keys below it.

    These keys were for the table it replaces: a calibrated rate of independent losses does not
    apply to losses in bursts.
    """
    kept = {
        key: value
        for key, value in settings.items()
        if not any(key.startswith(f"{table}.") for table in more)
    }
    return kept | dict(more)


class Choice(Struct, frozen=True, forbid_unknown_fields=True):
    """A named place on an axis: its changes of the scenario, and its remedies."""

    name: str
    remedies: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    scenario: str = ""


class Axis(Struct, frozen=True, forbid_unknown_fields=True):
    """The variable of an experiment: a key of the scenario, a remedy's parameter, or named choices.

    `remedy` is a remedy with `{}` for the value: `rto-factor:factor={}`. Values are multiplied by
    `times`, then `plus` is added: places keep the paper's names.
    """

    name: str
    label: str = ""
    key: str = ""
    remedy: str = ""
    values: list[Value] = field(default_factory=list)
    choices: list[Choice] = field(default_factory=list)
    plus: float = 0
    times: float = 1

    @property
    def places(self) -> list[Value]:
        """The values, or the names of the choices, in their order."""
        return [choice.name for choice in self.choices] or list(self.values)

    def choice(self, place: Value) -> Choice:
        """Changes at a place."""
        for choice in self.choices:
            if choice.name == place:
                return choice
        return Choice(
            str(place),
            self.remedy.format(place) if self.remedy else "",
            {self.key: scaled(place, self.times, self.plus)} if self.key else {},
        )


_QUANTITY = re.compile(r"\s*([0-9.]+)\s*(.*)")


def scaled(value: Value, times: float = 1, plus: float = 0) -> Value:
    """A number times a factor plus another; a quantity such as "10 ms" is only multiplied.

    A whole number stays one if the result is one.

    Raises:
        ValueError: a text that is not a quantity.
    """
    if isinstance(value, str):
        if times == 1:
            return value
        found = _QUANTITY.fullmatch(value)
        if found is None:
            raise ValueError(f"{value!r} times {times:g}: expected a quantity such as '10 ms'")
        return f"{float(found[1]) * times:g} {found[2]}"
    result = value * times + plus
    return int(result) if isinstance(value, int) and result == int(result) else result


Coordinates = tuple[tuple[str, Value], ...]
"""A point: axis and place, in the order of the axes."""

Points = Mapping[str, Container[Coordinates]]
"""Points of several experiments, by the experiment's id."""


class Point(Struct, frozen=True):
    """One point of an experiment, as it is run."""

    coordinates: Coordinates
    scenario: str
    settings: dict[str, Any]
    remedies: str


class Experiment(Struct, frozen=True, forbid_unknown_fields=True):
    """Runs that belong together.

    `seeds` are the number of a full run, `quick` that of a quick one, `few` that of the full run's
    readings other than the default (`quick` if 0). The latter two may also be shorter
    (`quick_settings`).

    `sampled`: the window is sampled too, for figures and claims about it. `peaks`: goodput is taken
    every six seconds too, for its maximum. `partial`: a remedy that does not apply to a link is no
    error.
    """

    id: str
    title: str
    scenario: str
    seeds: int = 10
    quick: int = 4
    few: int = 0
    settings: dict[str, Any] = field(default_factory=dict)
    quick_settings: dict[str, Any] = field(default_factory=dict)
    axes: list[Axis] = field(name="axis", default_factory=list)
    sampled: bool = False
    peaks: bool = False
    partial: bool = False

    def seeds_of(self, extent: RunExtent) -> int:
        """The number of seeds of a run of this extent."""
        if extent in {"full", "fresh"}:
            return self.seeds
        return self.few or self.quick if extent == "few" else self.quick

    def axis(self, name: str) -> Axis:
        """The axis of that name.

        Raises:
            KeyError: no axis has that name.
        """
        for axis in self.axes:
            if axis.name == name:
                return axis
        known = ", ".join(axis.name for axis in self.axes)
        raise KeyError(f"experiment {self.id!r} has no axis {name!r}: {known}")

    def points(self, *, quick: bool = False) -> Iterator[Point]:
        """Every combination of places, the last axis fastest."""
        for places in product(*(axis.places for axis in self.axes)):
            coordinates = tuple(
                (axis.name, place) for axis, place in zip(self.axes, places, strict=True)
            )
            yield self.point(coordinates, self.quick_settings if quick else {})

    def coordinates(self, *parts: Mapping[str, Value]) -> Coordinates:
        """The point that `parts`, mappings of axis to place, specify together.

        Raises:
            KeyError: an axis is missing or unknown, or has no such place.
        """
        named: dict[str, Value] = {}
        for part in parts:
            named |= part
        for name in named:
            self.axis(name)
        coordinates = []
        for axis in self.axes:
            if axis.name not in named:
                raise KeyError(f"experiment {self.id!r}: no place on its axis {axis.name!r}")
            place = named[axis.name]
            if place not in axis.places:
                raise KeyError(
                    f"experiment {self.id!r}: axis {axis.name!r} has no {place!r}; "
                    f"it has {', '.join(map(str, axis.places))}"
                )
            coordinates.append((axis.name, place))
        return tuple(coordinates)

    def point(self, coordinates: Coordinates, more: Mapping[str, Any] | None = None) -> Point:
        """The point there, with `more` settings of the whole experiment."""
        scenario, settings, remedies = self.scenario, overlaid(self.settings, more or {}), []
        for name, place in coordinates:
            choice = self.axis(name).choice(place)
            scenario = choice.scenario or scenario
            settings = overlaid(settings, choice.settings)
            if choice.remedies:
                remedies.append(choice.remedies)
        return Point(coordinates, scenario, settings, "+".join(remedies))


class Datum(NamedTuple):
    """One measurement of an experiment, at one of its points."""

    measure: str
    point: Mapping[str, Value]


class Entry(Protocol):
    """A table of a paper's files that uses measurements of an experiment: a figure, a claim's part.

    Its data are checked when the paper is loaded, and decide which points are run.
    """

    @property
    def experiment(self) -> str:
        """The experiment's id."""

    def data(self, experiment: Experiment, /) -> Iterator[Datum]:
        """Every measurement that it uses."""
