"""`all`: every remedy that applies to a link, in one comparison."""

import tomllib
from dataclasses import dataclass

from airtcp._core import AirtcpError, Scenario
from airtcp.comparison.ranking.deployable import ADVICE, CONTROLS
from airtcp.comparison.sizes import Unsized, sizes
from airtcp.core.catalogue import Remedy, remedies

ALL = "all"
"""Name for every remedy that applies to the link."""

_WITHOUT_HOSTS_BETWEEN = {"pipe", "trace"}


@dataclass(frozen=True)
class Applicable:
    """The catalogue on a link."""

    taken: list[str]
    """Applicable remedies; those with a size are sized to the link."""
    refused: dict[str, str]
    """The other remedies, and why they do not apply."""
    sized: dict[str, str]
    """The reason for each size, by the name of the sized remedy."""


def applicable(scenario: Scenario) -> Applicable:
    """Splits the catalogue into remedies that apply to a link and refused ones."""
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
    """Why a remedy does not apply to a link; empty if it does."""
    if entry["place"] == "proxy" and topology in _WITHOUT_HOSTS_BETWEEN:
        return "between the ends of this link there is no host for a proxy to be on"
    try:
        changed = scenario.with_remedies(remedy)
    except AirtcpError as error:
        return str(error)
    if entry["name"] in changed.already_so:
        return f"the {entry['place']} does so without it"
    return ""
