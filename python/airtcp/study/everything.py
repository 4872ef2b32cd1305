"""`all`: every remedy that has a place on a link, in one comparison."""

import tomllib

from airtcp._core import AirtcpError, Scenario
from airtcp.catalogue import remedies
from airtcp.ranking.deployable import CONTROLS

ALL = "all"
"""Stands for every remedy that has a place on the link."""

_WITHOUT_HOSTS_BETWEEN = {"pipe", "trace"}


def applicable(scenario: Scenario) -> tuple[list[str], dict[str, str]]:
    """The remedies, with their default parameters, that a link takes, and why not the others."""
    taken: list[str] = []
    refused: dict[str, str] = {}
    document = tomllib.loads(scenario.to_toml())
    topology, link = document["topology"], document.get("link", {})
    for entry in remedies():
        name = entry["name"]
        if name in CONTROLS:
            continue
        if entry["place"] == "proxy" and topology in _WITHOUT_HOSTS_BETWEEN:
            refused[name] = "between the ends of this link there is no host for a proxy to be on"
            continue
        if name == "max-window" and "rtt_log" in link:
            refused[name] = "recorded round trips have no rate: the window stands for it"
            continue
        try:
            scenario.with_remedies(name)
        except AirtcpError as error:
            refused[name] = str(error)
        else:
            taken.append(name)
    return taken, refused
