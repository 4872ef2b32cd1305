"""Open points of a paper, as data: `[[reading]]` in its `paper.toml`.

An open point has the values that the paper's text admits. One value of each point makes a reading
of the paper; every experiment can be run under any of them.
"""

import hashlib
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from math import prod
from typing import Any

from msgspec import Struct, field, structs

from airtcp.papers.check import PaperError
from airtcp.papers.experiment import Axis, Choice, Experiment, Value, moved, multiplied, overlaid
from airtcp.papers.measures import MEASURES

Reading = tuple[str, ...]
"""The names of the values chosen at the open points, in the order of the points."""

EXPERIMENT = "experiment"
"""The axis of an open point that chooses among experiments."""
_CANDIDATES = 24
"""Number of candidates for each further reading of a coarse grid."""


class Admitted(Struct, frozen=True, forbid_unknown_fields=True):
    """A value that the text admits, and its changes of an experiment.

    `settings` are keys of the scenario, `add` moves a numeric key wherever an experiment sets it
    (`wlan.loss.lost` by 1), `rename` sets another key in place of one (`link.reverse.loss.rate` for
    `link.loss.rate`), `times` multiplies a key wherever an experiment sets it (`wired.delay` by 2),
    `replace` puts one remedy in place of another, `unset` removes keys of the scenario that belong
    to the replaced value. `at` limits the settings to places of an experiment's axes. `measure`
    judges claims by one measurement in place of another (`goodput_bps` for `goodput_peak_bps`), of
    the same runs.
    """

    name: str
    settings: dict[str, Any] = field(default_factory=dict)
    add: dict[str, float] = field(default_factory=dict)
    rename: dict[str, str] = field(default_factory=dict)
    times: dict[str, float] = field(default_factory=dict)
    replace: dict[str, str] = field(default_factory=dict)
    unset: list[str] = field(default_factory=list)
    at: dict[str, Value] = field(default_factory=dict)
    measure: dict[str, str] = field(default_factory=dict)


class OpenPoint(Struct, frozen=True, forbid_unknown_fields=True):
    """A point that the text leaves open, the values it admits, the default and why.

    `source` is the relevant passage of the text. `experiments` limits the point to some; empty
    means all. With `axis` its values are the places of that axis of those experiments, one of which
    the paper had: a claim is judged at the place that the reading selects. With `axis =
    "experiment"` they are experiments: a claim is judged by the one that the reading selects.
    """

    id: str
    open: str
    source: str
    default: str
    why: str
    values: list[Admitted] = field(name="value")
    experiments: list[str] = field(default_factory=list)
    axis: str = ""

    @property
    def alternative(self) -> bool:
        """Whether its values are places of an axis, all of which are run anyway."""
        return bool(self.axis)

    @property
    def names(self) -> list[str]:
        """The names of its values, the default first."""
        others = [value.name for value in self.values if value.name != self.default]
        return [self.default, *others]

    def value(self, name: str) -> Admitted:
        """The value with that name.

        Raises:
            KeyError: no value has it.
        """
        for value in self.values:
            if value.name == name:
                return value
        raise KeyError(name)

    def concerns(self, experiment: str) -> bool:
        """Whether the experiment with that id depends on this point."""
        return not self.experiments or experiment in self.experiments


class JointReading(Struct, frozen=True, forbid_unknown_fields=True):
    """A reading that departs at several points at once and is always judged, and why.

    `values` has the value of each point at which it departs.
    """

    why: str
    values: dict[str, str]


def joint_readings(points: Sequence[OpenPoint], named: Sequence[JointReading]) -> list[Reading]:
    """The joint readings named by a paper, as readings of these points."""
    return [tuple(one.values.get(point.id, point.default) for point in points) for one in named]


def check_joint(where: str, points: Sequence[OpenPoint], named: Sequence[JointReading]) -> None:
    """Checks that joint readings name existing points and values.

    Raises:
        PaperError: a point or a value is unknown.
    """
    known = {point.id: point.names for point in points}
    for one in named:
        for identity, value in one.values.items():
            if value not in known.get(identity, []):
                raise PaperError(
                    f"{where}: joint reading: {identity} = {value!r}: expected a reading's id "
                    f"and one of its values: {known}"
                )


def default_reading(points: Sequence[OpenPoint]) -> Reading:
    """The default of every point."""
    return tuple(point.default for point in points)


def one_at_a_time(points: Sequence[OpenPoint]) -> list[Reading]:
    """Every reading that departs from the default at one point."""
    default = default_reading(points)
    return [
        (*default[:index], name, *default[index + 1 :])
        for index, point in enumerate(points)
        for name in point.names[1:]
    ]


def each_choice(points: Sequence[OpenPoint]) -> list[Reading]:
    """The smallest set of readings in which, with the default, every value occurs.

    All points depart together: every second value, every third. A point with fewer values wraps
    around after its default (each-choice coverage, Ammann & Offutt, COMPASS 1994).
    """
    most = max((len(point.values) for point in points), default=1)
    return [
        tuple(point.names[1 + (step - 1) % (len(point.names) - 1)] for point in points)
        for step in range(1, most)
    ]


def neighbours(points: Sequence[OpenPoint], reading: Reading) -> list[Reading]:
    """Every reading that departs from this one at one point."""
    return [
        (*reading[:index], name, *reading[index + 1 :])
        for index, point in enumerate(points)
        for name in point.names
        if name != reading[index]
    ]


def departures(points: Sequence[OpenPoint], reading: Reading) -> list[str]:
    """Differences of a reading from the default, in words: "window 200"."""
    return [
        f"{point.id} {name}"
        for point, name in zip(points, reading, strict=True)
        if name != point.default
    ]


def coarse_first(points: Sequence[OpenPoint], most: int) -> list[Reading]:
    """At most `most` readings of the grid, without the default.

    First the few in which every value occurs, then departures at one point, then joint ones,
    each chosen so that as many pairs of values as possible occur together for the first time
    (pairwise covering, Cohen et al., IEEE TSE 23(7), 1997): an interaction of two points shows in a
    small part of the grid. The order is the same on every machine.
    """
    default = default_reading(points)
    chosen = first_readings(points)[:most]
    if prod(len(point.values) for point in points) - 1 <= most:
        grid = product(*(point.names for point in points))
        return list(dict.fromkeys([*chosen, *(one for one in grid if one != default)]))
    known = {default, *chosen}
    covered = {pair for reading in known for pair in _pairs(reading)}
    draws = _draws()
    while len(chosen) < most:
        best: Reading | None = None
        gained = -1
        for _ in range(_CANDIDATES):
            reading = tuple(point.names[next(draws) % len(point.names)] for point in points)
            fresh = len(_pairs(reading) - covered)
            if reading not in known and fresh > gained:
                best, gained = reading, fresh
        if best is not None:
            chosen.append(best)
            known.add(best)
            covered |= _pairs(best)
    return chosen


def whole_grid(points: Sequence[OpenPoint]) -> list[Reading]:
    """Every reading, the default first."""
    return list(product(*(point.names for point in points)))


def drawn(points: Sequence[OpenPoint], most: int) -> list[Reading]:
    """`most` distinct readings other than the default, uniformly drawn; the same everywhere."""
    known = {default_reading(points)}
    found: list[Reading] = []
    draws = _draws()
    while len(found) < most:
        reading = tuple(point.names[next(draws) % len(point.names)] for point in points)
        if reading not in known:
            known.add(reading)
            found.append(reading)
    return found


def first_readings(points: Sequence[OpenPoint]) -> list[Reading]:
    """The start of a coarse grid: every value, and every departure at one point."""
    return list(dict.fromkeys([*each_choice(points), *one_at_a_time(points)]))


def _pairs(reading: Reading) -> set[tuple[tuple[int, str], tuple[int, str]]]:
    return set(combinations(enumerate(reading), 2))


def _draws() -> Iterator[int]:
    """Reproducible random numbers: SHA-256 of a counter."""
    count = 0
    while True:
        digest = hashlib.sha256(f"airtcp.papers.readings {count}".encode()).digest()
        yield int.from_bytes(digest[:8], "big")
        count += 1


def read_as(experiment: Experiment, points: Sequence[OpenPoint], reading: Reading) -> Experiment:
    """The experiment under this reading; its axes, which may vary the same keys, come after."""
    settings, axes = dict(experiment.settings), list(experiment.axes)
    for point, name in zip(points, reading, strict=True):
        if point.alternative or not point.concerns(experiment.id):
            continue
        value = point.value(name)
        if value.at:
            axes = [_limited(axis, value) for axis in axes]
        else:
            settings = overlaid(settings, value.settings)
        settings |= dict.fromkeys(value.unset)
        for key, more in value.add.items():
            if key in settings:
                settings[key] = moved(settings[key], more)
            axes = [_moved(axis, key, more) for axis in axes]
        for key, factor in value.times.items():
            if key in settings:
                settings[key] = multiplied(settings[key], factor)
            axes = [_multiplied(axis, key, factor) for axis in axes]
        settings = _renamed(settings, value.rename)
        axes = [_rekeyed(axis, value.rename) for axis in axes]
        axes = [_replaced(axis, value.replace) for axis in axes]
    return structs.replace(experiment, settings=settings, axes=axes)


def _limited(axis: Axis, value: Admitted) -> Axis:
    """The axis with the settings of the value at the place that it is limited to."""
    if axis.name not in value.at:
        return axis
    choices = [
        structs.replace(choice, settings=overlaid(choice.settings, value.settings))
        if choice.name == value.at[axis.name]
        else choice
        for choice in axis.choices
    ]
    return structs.replace(axis, choices=choices)


def _moved(axis: Axis, key: str, more: float) -> Axis:
    if axis.key == key:
        return structs.replace(axis, plus=axis.plus + more)
    choices = [
        structs.replace(
            choice, settings={**choice.settings, key: moved(choice.settings[key], more)}
        )
        if key in choice.settings
        else choice
        for choice in axis.choices
    ]
    return structs.replace(axis, choices=choices)


def _multiplied(axis: Axis, key: str, factor: float) -> Axis:
    if axis.key == key:
        return structs.replace(axis, times=axis.times * factor)
    choices = [
        structs.replace(
            choice, settings={**choice.settings, key: multiplied(choice.settings[key], factor)}
        )
        if key in choice.settings
        else choice
        for choice in axis.choices
    ]
    return structs.replace(axis, choices=choices)


def _renamed(settings: dict[str, Any], rename: dict[str, str]) -> dict[str, Any]:
    return {rename.get(key, key): value for key, value in settings.items()}


def _rekeyed(axis: Axis, rename: dict[str, str]) -> Axis:
    choices = [
        structs.replace(choice, settings=_renamed(choice.settings, rename))
        for choice in axis.choices
    ]
    return structs.replace(axis, key=rename.get(axis.key, axis.key), choices=choices)


def _replaced(axis: Axis, replace: dict[str, str]) -> Axis:
    if not replace:
        return axis

    def other(remedies: str) -> str:
        parts = remedies.split("+") if remedies else []
        return "+".join(_other(part, replace) for part in parts)

    choices: list[Choice] = [
        structs.replace(choice, remedies=other(choice.remedies)) for choice in axis.choices
    ]
    return structs.replace(axis, remedy=other(axis.remedy), choices=choices)


def _other(remedy: str, replace: dict[str, str]) -> str:
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


def check_readings(
    where: str, points: Sequence[OpenPoint], experiments: Sequence[Experiment]
) -> None:
    """Checks that the points are complete, and have an effect.

    Raises:
        PaperError: a default is not a value, a name is used twice, or a value has no effect.
    """
    known = {experiment.id for experiment in experiments}
    for index, point in enumerate(points):
        about = f"{where}: reading {point.id!r}"
        names = [value.name for value in point.values]
        if any(point.id == other.id for other in points[:index]):
            raise PaperError(f"{about} is there twice")
        if len(names) < 2 or len(set(names)) < len(names):
            raise PaperError(f"{about}: expected at least two values with names of their own")
        if point.default not in names:
            raise PaperError(
                f"{about}: default = {point.default!r}: expected one of {', '.join(names)}"
            )
        for one in point.experiments:
            if one not in known:
                raise PaperError(
                    f"{about}: no experiment {one!r}; there are {', '.join(sorted(known))}"
                )
        concerned = [one for one in experiments if point.concerns(one.id)]
        if point.alternative:
            _check_alternative(about, point, concerned)
        else:
            _check_values(about, point, concerned)


def _check_alternative(about: str, point: OpenPoint, experiments: Sequence[Experiment]) -> None:
    for value in point.values:
        if value != Admitted(value.name):
            raise PaperError(
                f"{about}: value {value.name!r}: expected a name alone: a place of the axis "
                f"{point.axis!r} has its settings in the experiment"
            )
    if point.axis == EXPERIMENT:
        known = [one.id for one in experiments]
        missing = [name for name in point.names if name not in known]
        if missing:
            raise PaperError(
                f"{about}: no experiment {missing[0]!r}: expected one of {', '.join(known)}"
            )
        return
    for one in experiments:
        axis = next((axis for axis in one.axes if axis.name == point.axis), None)
        known = [] if axis is None else [str(place) for place in axis.places]
        missing = [name for name in point.names if name not in known]
        if missing:
            raise PaperError(
                f"{about}: experiment {one.id!r}: no place {missing[0]!r} of an axis "
                f"{point.axis!r}: expected one of {', '.join(known) or 'its axes'}; limit the "
                "reading to experiments that have it: experiments"
            )


def _check_values(about: str, point: OpenPoint, experiments: Sequence[Experiment]) -> None:
    for value in point.values:
        for key in (*value.add, *value.rename, *value.times):
            if not any(_sets(experiment, key) for experiment in experiments):
                raise PaperError(
                    f"{about}: value {value.name!r}: {key}: no experiment sets this key: expected "
                    "one that is moved, multiplied or renamed by it"
                )
        for measure in (*value.measure, *value.measure.values()):
            if measure not in MEASURES:
                raise PaperError(
                    f"{about}: value {value.name!r}: measure: {measure!r} is no measurement: "
                    f"expected one of {', '.join(MEASURES)}"
                )
        for remedy in value.replace:
            if not any(_uses(experiment, remedy) for experiment in experiments):
                raise PaperError(
                    f"{about}: value {value.name!r}: replace.{remedy}: no experiment uses it"
                )
    silent = [value.name for value in point.values if value == Admitted(value.name)]
    if len(silent) > 1:
        raise PaperError(
            f"{about}: {' and '.join(silent)} change nothing: expected one such value at most, "
            "what the scenario has already"
        )


def _sets(experiment: Experiment, key: str) -> bool:
    return key in experiment.settings or any(
        axis.key == key or any(key in choice.settings for choice in axis.choices)
        for axis in experiment.axes
    )


def _uses(experiment: Experiment, remedy: str) -> bool:
    names = [
        name
        for axis in experiment.axes
        for remedies in (axis.remedy, *(choice.remedies for choice in axis.choices))
        for part in remedies.split("+")
        for name in (part, part.partition(":")[0])
    ]
    return remedy in names
