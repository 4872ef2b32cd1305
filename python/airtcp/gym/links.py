"""The links of an environment: a scenario, and ranges of its keys from which each run draws."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from airtcp._core import Scenario, ScenarioError
from airtcp.core.loading import load_scenario


@dataclass(frozen=True)
class Range:
    """The values of a key, from which a run draws one.

    >>> Range(2, 50, "Mbit/s", "log")
    Range(low=2, high=50, unit='Mbit/s', spacing='log')
    """

    low: float
    high: float
    unit: str = ""
    spacing: Literal["linear", "log", "whole"] = "linear"
    """`linear`: each value is as likely; `log`: each ratio is; `whole`: whole numbers only."""

    def drawn(self, random: np.random.Generator) -> str:
        """A value, as a scenario has it."""
        if self.spacing == "whole":
            return self._text(int(random.integers(int(self.low), int(self.high) + 1)))
        if self.spacing == "log":
            return self._text(float(np.exp(random.uniform(np.log(self.low), np.log(self.high)))))
        return self._text(float(random.uniform(self.low, self.high)))

    def ends(self) -> tuple[str, str]:
        """The least and the greatest value, as a scenario has them."""
        return self._text(self.low), self._text(self.high)

    def _text(self, value: float) -> str:
        # Six digits: a unit has no finer ones.
        return f"{value:.6g} {self.unit}".strip()


Choices = Range | Sequence[object]
"""A range, or the values themselves, each as likely."""


class Links:
    """A scenario with ranges of its keys; each run is of one link drawn from them."""

    def __init__(
        self,
        scenario: Scenario | str | os.PathLike[str],
        ranges: Mapping[str, Choices] | None = None,
        settings: Mapping[str, object] | None = None,
        remedies: Sequence[str] | str = (),
    ) -> None:
        """Checks that the scenario is valid at the ends of every range.

        Raises:
            ScenarioError: the scenario, a setting or an end of a range is wrong.
        """
        self.ranges = dict(ranges or {})
        self._source = scenario
        self._settings = dict(settings or {})
        self._remedies = remedies
        if isinstance(scenario, Scenario) and self.ranges:
            raise ScenarioError("ranges: a Scenario is already complete: give its file or text")
        self._fixed = self._load({})
        for key, values in self.ranges.items():
            for value in _ends(key, values):
                self._load({key: value})
        if self._fixed.runs_in_python:
            raise ScenarioError(
                "remedies: a control in Python takes no steps in an environment; let an agent "
                "steer one of airtcp's own controls"
            )

    def draw(self, random: np.random.Generator) -> tuple[Scenario, dict[str, object]]:
        """A link, and the values that were drawn for it."""
        if not self.ranges:
            return self._fixed, {}
        drawn = {key: _drawn(values, random) for key, values in self.ranges.items()}
        return self._load(drawn), drawn

    def _load(self, drawn: Mapping[str, object]) -> Scenario:
        settings = {**self._settings, **drawn}
        return load_scenario(self._source, settings or None, self._remedies)


def _drawn(values: Choices, random: np.random.Generator) -> object:
    if isinstance(values, Range):
        return values.drawn(random)
    return values[int(random.integers(len(values)))]


def _ends(key: str, values: Choices) -> Sequence[object]:
    if not isinstance(values, Range):
        if not values or isinstance(values, str):
            raise ScenarioError(f"ranges: {key} = {values!r}: expected a Range or a list of values")
        return values
    if not values.low <= values.high:
        raise ScenarioError(
            f"ranges: {key}: from {values.low} to {values.high}: expected the lower end first"
        )
    if values.spacing == "log" and values.low <= 0:
        raise ScenarioError(f"ranges: {key}: from {values.low}: a log spacing begins above 0")
    if values.spacing not in {"linear", "log", "whole"}:
        raise ScenarioError(
            f'ranges: {key}: spacing = "{values.spacing}": expected linear, log or whole'
        )
    return values.ends()
