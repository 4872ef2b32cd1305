"""Open points of a paper, as data: `[[reading]]` in its `paper.toml`.

An open point has the values that the paper's text admits. One value of each point makes a reading
of the paper; every experiment can be run under any of them.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any

from msgspec import Struct, field

from airtcp.papers.experiment import Value

Reading = tuple[str, ...]
"""The names of the values chosen at the open points, in the order of the points."""

EXPERIMENT = "experiment"
"""The axis of an open point that chooses among experiments."""


class Admitted(Struct, frozen=True, forbid_unknown_fields=True):
    """A value that the text admits, and its changes of an experiment.

    `settings` are keys of the scenario, `add` moves a numeric key wherever an experiment sets it
    (`wlan.loss.lost` by 1), `times` multiplies a key wherever an experiment sets it (`wired.delay`
    by 2), `replace` puts one remedy in place of another, `unset` removes keys of the scenario that
    belong to the replaced value. `at` limits the settings to places of an experiment's axes.
    `measure` judges claims by one measurement in place of another (`goodput_bps` for
    `goodput_peak_bps`), of the same runs.
    """

    name: str
    settings: dict[str, Any] = field(default_factory=dict)
    add: dict[str, float] = field(default_factory=dict)
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
        """Whether its values are places of an axis, which are all run anyway."""
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


def default_reading(points: Sequence[OpenPoint]) -> Reading:
    """The default of every point."""
    return tuple(point.default for point in points)


def one_at_a_time(points: Sequence[OpenPoint]) -> list[Reading]:
    """Every reading that departs from the default at one point."""
    return [reading for index in range(len(points)) for reading in departing_at(points, index)]


def departing_at(points: Sequence[OpenPoint], index: int) -> list[Reading]:
    """Every reading that departs from the default at one point, the one with this index."""
    default = default_reading(points)
    return [(*default[:index], name, *default[index + 1 :]) for name in points[index].names[1:]]


def departures(points: Sequence[OpenPoint], reading: Reading) -> list[str]:
    """Differences of a reading from the default, in words: "window 200"."""
    return [
        f"{point.id} {name}"
        for point, name in zip(points, reading, strict=True)
        if name != point.default
    ]


def whole_grid(points: Sequence[OpenPoint]) -> list[Reading]:
    """Every reading, the default first."""
    return list(product(*(point.names for point in points)))


def readings_to_run(
    points: Sequence[OpenPoint], named: Sequence[JointReading], most: int | None, is_cheap: bool
) -> list[Reading]:
    """The readings to run in addition to the default, single departures first.

    Then the joint readings that the paper names; then, if a reading is cheap or `most` asks for
    more, the rest of the grid. At most `most` of them.
    """
    found = [*one_at_a_time(points), *joint_readings(points, named)]
    if is_cheap or most is not None:
        found += whole_grid(points)
    default = default_reading(points)
    return [one for one in dict.fromkeys(found) if one != default][:most]
