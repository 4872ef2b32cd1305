"""The number of machines of a scenario in the asker's position."""

import tomllib

from airtcp._core import Scenario

_OF_ONE_MACHINE = {"pipe"}
"""Topologies with all flows between two machines."""
_STATIONS = {"wlan": "stations"}
"""The key of a topology's table with the number of mobiles."""


def machines(scenario: Scenario) -> int:
    """The machines at the mobile end, or sharing a bottleneck; 1 if there is a single one.

    A remedy is tried on all of them at once; the comparison uses their joint goodput.
    """
    document = tomllib.loads(scenario.to_toml())
    topology = document.get("topology", "pipe")
    flows = int(document.get("flows", {}).get("count", 1))
    if topology in _OF_ONE_MACHINE:
        return 1
    stations = document.get(topology, {}).get(_STATIONS.get(topology, ""))
    return min(flows, int(stations)) if isinstance(stations, int) else flows
