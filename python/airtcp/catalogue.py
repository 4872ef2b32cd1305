"""The catalogue of remedies and the schema of scenarios, as the core states them."""

import json
from difflib import get_close_matches
from typing import TypedDict, cast

from airtcp import _core
from airtcp._core import ScenarioError

BASELINE = "baseline"
"""What stands for no remedy at all: the scenario as written."""


class Parameter(TypedDict):
    """One parameter of a remedy; a time is text with its unit, other values are numbers."""

    name: str
    unit: str
    default: float | str
    minimum: float | str
    maximum: float | str
    effect: str


class Remedy(TypedDict):
    """One entry of the catalogue."""

    name: str
    place: str
    effect: str
    source: str
    parameters: list[Parameter]
    deployment: str
    decides: str
    """The choice it makes; two remedies that make the same choice cannot be combined."""


def remedies() -> list[Remedy]:
    """Every remedy, in the order of the catalogue."""
    return cast(list[Remedy], json.loads(_core.remedies()))


def remedy(name: str) -> Remedy:
    """The remedy of that name.

    Raises:
        ScenarioError: there is none; names the nearest.
    """
    catalogue = {entry["name"]: entry for entry in remedies()}
    if name in catalogue:
        return catalogue[name]
    near = get_close_matches(name, catalogue, n=1)
    hint = f' (did you mean "{near[0]}"?)' if near else ""
    raise ScenarioError(f'remedy "{name}": unknown{hint}: `airtcp remedies` lists them')


def schema() -> dict[str, object]:
    """The JSON Schema of scenario files."""
    return cast(dict[str, object], json.loads(_core.schema()))
