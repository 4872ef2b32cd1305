"""Which end of a link is the mobile's, which determines the sender."""

import tomllib
from enum import StrEnum

from airtcp._core import Scenario


class Direction(StrEnum):
    """The direction of the data, from the mobile's view."""

    UP = "up"
    """The mobile sends."""
    DOWN = "down"
    """The mobile receives."""
    BOTH = "both"
    """Flows in both directions, or a mobile at each end."""
    UNKNOWN = "unknown"
    """Unknown: a pipe has two ends, and either may be the mobile."""


_DOWNLINKS = {"arq", "cell"}
"""Topologies whose data goes to the mobile without another `flows.direction`."""


def direction(scenario: Scenario) -> Direction:
    """The direction of a scenario's data."""
    document = tomllib.loads(scenario.to_toml())
    topology = document.get("topology", "pipe")
    if topology == "wlan-wired-wlan":
        return Direction.BOTH
    told = document.get("flows", {}).get("direction")
    if told is None:
        told = document.get("link", {}).get("trace", {}).get("data")
    if told is None and topology in _DOWNLINKS:
        told = "down"
    if told is None:
        return Direction.UNKNOWN
    ways = {told} if isinstance(told, str) else set(told)
    return Direction(ways.pop()) if len(ways) == 1 else Direction.BOTH
