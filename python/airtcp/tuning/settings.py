"""Settings of a remedy: values for its parameters, and those worth trying next."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf

from airtcp.comparison.sizes import MAX_INITIAL
from airtcp.core import registered
from airtcp.core.bpf import named
from airtcp.core.catalogue import Parameter, Remedy, entry_of
from airtcp.core.registered import is_python

WIDE = (1 / 8, 1 / 4, 1 / 2, 2.0, 4.0, 8.0)
"""Factors of a first look at a parameter."""
NARROW = (2 / 3, 3 / 2)
"""Factors around the best value so far."""
SHARES_OF_RATE = (0.7, 0.8, 0.9, 0.95, 1.0)
"""A shaper's rate, as shares of the path's: below it, the queue is where it can be managed."""
SMALL_COUNTS = (1, 2, 4, 8, 16)
"""Counts to try in place of an unlimited one."""
CEILINGS = {("initial-window", "segments"): MAX_INITIAL, ("wsc-best-start", "window"): MAX_INITIAL}
"""Values beyond which a parameter harms links that are not this one."""
_SHARES_OF_MAXIMUM = (1 / 64, 1 / 16, 1 / 4)
"""For a parameter that is off by default: shares of its maximum."""

_QUANTITY = re.compile(r"(-?[\d.]+(?:e-?\d+)?)(?: (\S+))?")
_IN_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class Setting:
    """A remedy of the catalogue, or a user-written control, with values for parameters."""

    remedy: str
    values: tuple[tuple[str, str], ...] = ()
    """Parameters that are not at their defaults, by name."""

    @classmethod
    def parse(cls, text: str) -> "Setting":
        """The setting of a remedy as it is written: `cake:rate=9500`."""
        remedy, rest = named(text)
        pairs = (part.partition("=") for part in rest.split(",") if part)
        return cls(remedy, tuple((name, value) for name, _, value in pairs))

    @property
    def text(self) -> str:
        """The remedy as it is written."""
        if is_python(self.remedy):
            return registered.written(self.remedy, dict(self.values))
        values = ",".join(f"{name}={value}" for name, value in self.values)
        return f"{self.remedy}:{values}" if values else self.remedy

    def register(self) -> None:
        """Registers a class in Python with these values; other remedies are known by their text.

        Raises:
            ScenarioError: the class refuses the values.
        """
        if is_python(self.remedy):
            registered.with_values(self.remedy, dict(self.values))

    def having(self, parameter: str, value: str) -> "Setting":
        """This setting with another value for one parameter."""
        return Setting(self.remedy, tuple(sorted({**dict(self.values), parameter: value}.items())))

    def neighbours(
        self, factors: tuple[float, ...], rate_bps: float | None = None
    ) -> Iterator["Setting"]:
        """Settings that differ from this one in one parameter.

        Args:
            factors: of the parameter's value.
            rate_bps: the path's rate in bits a second, for rates that are unlimited by default.
        """
        for parameter in parameters(self.remedy):
            now = dict(self.values).get(parameter["name"], written(parameter["default"]))
            ceiling = CEILINGS.get((self.remedy, parameter["name"]), inf)
            for value in values_near(parameter, now, factors, rate_bps):
                if value != now and not _amount(value) > max(ceiling, _amount(now)):
                    yield self.having(parameter["name"], value)


def parameters(remedy: str) -> Sequence[Parameter]:
    """The parameters of a remedy of the catalogue, or of a user-written control."""
    if is_python(remedy):
        return [_of_class(name, value) for name, value in registered.parameters(remedy).items()]
    return _entry(remedy)["parameters"]


def _of_class(name: str, default: float) -> Parameter:
    """A number that a class takes, as a parameter: of the sign of its default."""
    is_whole = isinstance(default, int)
    least = float(is_whole and default > 0) if default >= 0 else -inf
    most = inf if default >= 0 else 0.0
    if isinstance(default, bool):
        least, most = 0.0, 1.0
    return {
        "name": name,
        "key": None,
        "unit": "",
        "default": int(default) if is_whole else default,
        "minimum": least,
        "maximum": most,
        "effect": "",
    }


def knobs(remedy: str) -> frozenset[str]:
    """The settings that its deployment changes: two that share one cannot be deployed together."""
    if is_python(remedy):
        return frozenset({"congestion-control"})
    steps = (step for way in _entry(remedy)["ways"] for step in way["steps"])
    found = set()
    for step in steps:
        kind = str(step["kind"]).removeprefix("bpf-")
        found.add(kind if kind in _ALONE else f"{kind} {step.get('key') or step.get('name')}")
    return frozenset(found)


_ALONE = {"qdisc", "congestion-control"}
"""A device has one root discipline, and a connection one congestion control."""


@cache
def _entry(remedy: str) -> Remedy:
    entry = entry_of(remedy)
    if entry is None:
        raise KeyError(remedy)
    return entry


def written(value: float | str) -> str:
    """A value as it is written in a remedy's name."""
    return value if isinstance(value, str) else f"{value:g}"


def values_near(
    parameter: Parameter, now: str, factors: tuple[float, ...], rate_bps: float | None
) -> list[str]:
    """Values of a parameter to try after `now`, within its bounds."""
    least, most = (_amount(written(parameter[end])) for end in ("minimum", "maximum"))
    if now == "unlimited":
        if parameter["unit"] == "kbit/s":
            return [f"{share * rate_bps / 1000:.0f}" for share in SHARES_OF_RATE if rate_bps]
        return [str(count) for count in SMALL_COUNTS if least <= count <= most]
    found = _QUANTITY.fullmatch(now)
    if found is None:
        return []
    number, unit = float(found[1]), found[2]
    is_whole = unit is None and isinstance(parameter["default"], int)
    if is_whole and (least, most) == (0, 1):
        return [str(1 - int(number))]
    scale = _IN_SECONDS.get(unit, 1.0) if unit else 1.0
    tried = [number * factor for factor in factors]
    if number == 0:
        tried = [most / scale * share for share in _SHARES_OF_MAXIMUM]
    values = []
    for one in tried:
        # A discipline's target is deployed in whole milliseconds.
        is_rounded = is_whole or (unit == "ms" and one >= 1)
        value = float(round(one)) if is_rounded else float(f"{one:.3g}")
        if least <= value * scale <= most:
            digits = f"{value:.0f}" if is_whole else f"{value:g}"
            values.append(f"{digits} {unit}" if unit else digits)
    return list(dict.fromkeys(values))


def _amount(text: str) -> float:
    """A quantity as a number; times in seconds, and no limit as infinity."""
    found = _QUANTITY.fullmatch(text)
    if found is None:
        return inf
    return float(found[1]) * (_IN_SECONDS.get(found[2], 1.0) if found[2] else 1.0)
