"""How many machines of a scenario stand where the asker's does."""

import tomllib

from airtcp._core import Scenario

_OF_ONE_MACHINE = {"pipe"}
"""Topologies whose flows all begin at one machine and end at another."""
_STATIONS = {"wlan": "stations"}
"""Where a topology's table says how many mobiles there are."""


def machines(scenario: Scenario) -> int:
    """The machines at the mobile end, or those that share a bottleneck: 1 where there is one.

    A remedy is tried on all of them at once, and what is compared is their goodput together.
    """
    document = tomllib.loads(scenario.to_toml())
    topology = document.get("topology", "pipe")
    flows = int(document.get("flows", {}).get("count", 1))
    if topology in _OF_ONE_MACHINE:
        return 1
    stations = document.get(topology, {}).get(_STATIONS.get(topology, ""))
    return min(flows, int(stations)) if isinstance(stations, int) else flows
