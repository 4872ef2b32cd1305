"""Which end of a link is the mobile's: it decides who is the sender."""

import tomllib
from enum import StrEnum

from airtcp._core import Scenario


class Direction(StrEnum):
    """The way of the data, seen from the mobile."""

    UP = "up"
    """The mobile sends."""
    DOWN = "down"
    """The mobile receives."""
    BOTH = "both"
    """Flows in both directions, or a mobile at each end."""
    UNKNOWN = "unknown"
    """The link does not tell: a pipe has two ends, and either may be the mobile."""


_DOWNLINKS = {"arq", "cell"}
"""Topologies whose data goes to the mobile unless `flows.direction` says otherwise."""


def direction(scenario: Scenario) -> Direction:
    """The direction of a scenario's data; None where it does not say."""
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
