"""`all`: every remedy that has a place on a link, in one comparison."""

import tomllib
from dataclasses import dataclass

from airtcp._core import AirtcpError, Scenario
from airtcp.catalogue import Remedy, remedies
from airtcp.ranking.deployable import ADVICE, CONTROLS
from airtcp.study.sizes import Unsized, sizes

ALL = "all"
"""Stands for every remedy that has a place on the link."""

_WITHOUT_HOSTS_BETWEEN = {"pipe", "trace"}


@dataclass(frozen=True)
class Applicable:
    """The catalogue on a link."""

    taken: list[str]
    """The remedies that it takes, those with a size sized to it."""
    refused: dict[str, str]
    """The names of the others, and why not."""
    sized: dict[str, str]
    """The reason for each size, by the remedy as it is taken."""


def applicable(scenario: Scenario) -> Applicable:
    """The remedies that a link takes, and why not the others."""
    found = Applicable([], {}, {})
    topology = tomllib.loads(scenario.to_toml())["topology"]
    of_this_link = sizes(scenario)
    for entry in remedies():
        name = entry["name"]
        if name in CONTROLS:
            continue
        if name in ADVICE:
            found.refused[name] = "no link here swallows long packets, which is what it is for"
            continue
        size = of_this_link.get(name)
        if isinstance(size, Unsized):
            found.refused[name] = size.reason
            continue
        remedy = name if size is None else size.text
        reason = _refusal(scenario, topology, entry, remedy)
        if reason:
            found.refused[name] = reason
            continue
        found.taken.append(remedy)
        if size is not None:
            found.sized[remedy] = size.reason
    return found


def _refusal(scenario: Scenario, topology: str, entry: Remedy, remedy: str) -> str:
    """Why a remedy has no place on a link; empty where it has one."""
    if entry["place"] == "proxy" and topology in _WITHOUT_HOSTS_BETWEEN:
        return "between the ends of this link there is no host for a proxy to be on"
    try:
        changed = scenario.with_remedies(remedy)
    except AirtcpError as error:
        return str(error)
    if entry["name"] in changed.already_so:
        return f"the {entry['place']} does so without it"
    return ""
