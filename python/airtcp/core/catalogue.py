"""The catalogue of remedies and the schema of scenarios, from the core."""

import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, TypedDict, cast

from airtcp import _core
from airtcp._core import ScenarioError
from airtcp.core.bpf import is_bpf
from airtcp.core.extras import required

if TYPE_CHECKING:
    import polars as pl

BASELINE = "baseline"
"""Name of the scenario as written, without remedies."""


class Parameter(TypedDict):
    """One parameter of a remedy; a time is text with its unit, other values are numbers."""

    name: str
    key: str | None
    """The scenario key that it sets, `tcp.rto_factor`, if there is one."""
    unit: str
    default: float | str
    minimum: float | str
    maximum: float | str
    effect: str


class Way(TypedDict):
    """One way to deploy a remedy on a real system: all its steps are needed."""

    at: str
    """Place on the path: `sender`, `receiver`, `both-ends`, `before-link`, `mobile`."""
    steps: list[dict[str, object]]
    """The steps in order; empty if Linux does it already."""
    since: str | None
    """The first Linux version in which it works, if newer than 5.4."""
    instead: str | None
    """Difference from the remedy, if it is only similar."""
    only_in: str | None
    """The kernels that support it, if no released Linux does."""
    module: dict[str, str] | None
    """The `name` and `version` of a kernel module, if the name is ambiguous."""
    when: "When | None"
    """The parameter value for which this is a way; None: any."""


When = TypedDict("When", {"parameter": str, "is": int})
"""A parameter and its required value."""


class Remedy(TypedDict):
    """One entry of the catalogue."""

    name: str
    place: str
    effect: str
    source: str
    parameters: list[Parameter]
    deployment: str
    """Its deployment on a real system, in sentences, with the parameters at their defaults."""
    ways: list[Way]
    """The same as data, the preferred way first; may be empty."""
    agent: str | None
    """The airtcp program that implements it on the access point or an adjacent router: `gateway
    snoop`, `proxy --transparent`; None without such a command.
    """
    decides: str
    """The choice it makes; two remedies with the same choice cannot be combined."""


class Deployment(TypedDict):
    """Deployment of a remedy on a real system, with the values of its parameters."""

    name: str
    """The remedy with its parameters, in the catalogue's notation."""
    text: str
    """In sentences; commands are between backticks."""
    on_a_host: bool
    """Whether `airtcp deploy` can apply it at an end of the connections."""


def remedies() -> list[Remedy]:
    """Every remedy, in the order of the catalogue."""
    return cast(list[Remedy], json.loads(_core.remedies()))


def remedies_frame() -> "pl.DataFrame":
    """The catalogue as a table: one row per remedy, with parameter names and the number of ways.

    >>> import airtcp
    >>> airtcp.remedies_frame().filter(place="proxy")["name"].to_list()
    ['split-tcp']
    """
    required("polars")
    import polars as pl

    rows = [
        entry
        | {
            "parameters": [parameter["name"] for parameter in entry["parameters"]],
            "ways": len(entry["ways"]),
        }
        for entry in remedies()
    ]
    return pl.DataFrame(rows)


def probes() -> list[str]:
    """The variables that a run can sample, for `airtcp.run(..., probes=[...])`.

    >>> import airtcp
    >>> "cwnd" in airtcp.probes()
    True
    """
    return list(_core.probes())


def remedy(name: str) -> Remedy:
    """The remedy with that name.

    Raises:
        ScenarioError: unknown name; lists the nearest ones.
    """
    catalogue = {entry["name"]: entry for entry in remedies()}
    if name in catalogue:
        return catalogue[name]
    # The core's error also knows the names used by papers and kernels.
    deployments(name)
    raise ScenarioError(
        f'remedy "{name}": expected a name alone: `airtcp list remedies` lists them'
    )


@cache
def entries() -> Mapping[str, Remedy]:
    """The catalogue by name."""
    return {entry["name"]: entry for entry in remedies()}


def entry_of(name: str) -> Remedy | None:
    """The entry of a remedy of the catalogue, or of a BPF object; None for an unknown name.

    Raises:
        ScenarioError: the object cannot be read, or not be simulated.
    """
    if is_bpf(name):
        (entry,) = cast(list[Remedy], json.loads(_core.remedies_of(name)))
        return entry
    return entries().get(name)


def is_known(remedy: str) -> bool:
    """Whether the catalogue has a remedy, given with or without parameters."""
    name = remedy.partition(":")[0]
    return name in {"bpf", "python"} or any(entry["name"] == name for entry in remedies())


def deployments(remedies: str) -> list[Deployment]:
    """Deployment of each remedy of a combination such as "sack+min-rto:min=1s" on a real system.

    Raises:
        ScenarioError: a name is unknown, or a parameter is wrong.
    """
    return cast(list[Deployment], json.loads(_core.deployments(remedies)))


def schema() -> dict[str, object]:
    """The JSON Schema of scenario files."""
    return cast(dict[str, object], json.loads(_core.schema()))
