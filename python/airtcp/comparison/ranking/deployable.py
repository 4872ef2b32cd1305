"""The spots of a path that a remedy needs on a real system."""

from enum import StrEnum
from functools import cache

from airtcp.core.bpf import named
from airtcp.core.catalogue import Remedy, Way, entry_of
from airtcp.core.registered import is_python


class Spot(StrEnum):
    """A spot of the path for deployment steps."""

    SENDER = "sender"
    RECEIVER = "receiver"
    BEFORE_LINK = "before-link"
    """The machine that transmits onto the link."""
    RADIO = "mobile"
    """The mobile's radio."""
    AGENT = "access-point"
    """The access point, or a router before it, with `airtcp gateway`."""
    PROXY = "proxy"
    """The same with `airtcp proxy`."""


CONTROLS = frozenset({"coin", "oracle"})
"""Controls of experiments: one tosses a coin, the other knows the unknowable."""
ADVICE = frozenset({"mtu-probing", "mss-clamp"})
"""Remedies for paths that drop long packets: no model here does, so they are not simulated."""


@cache
def needs(remedy: str) -> tuple[frozenset[Spot], ...]:
    """The spots of each way to deploy a combination, the preferred way first; may be empty.

    A control in Python needs the sender, as the BPF program that it is to become.
    """
    ways: list[frozenset[Spot]] = [frozenset()]
    for part in remedy.split("+"):
        entry = entry_of(named(part)[0])
        found = [_spots(way) for way in ways_of(part)]
        if is_python(part):
            found.append(frozenset({Spot.SENDER}))
        elif entry is None or entry["name"] in CONTROLS:
            return ()
        elif entry.get("agent") is not None:
            found.append(frozenset({Spot(entry["place"])}))
        ways = [before | one for before in ways for one in found]
    return tuple(dict.fromkeys(ways))


def is_deployable(remedy: str, spots: frozenset[Spot]) -> bool:
    """Whether a combination can be deployed by changing only these spots."""
    return any(way <= spots for way in needs(remedy))


def _is_a_way(way: Way, entry: Remedy, values: str) -> bool:
    """Whether a way applies to the values of a remedy, written as `name=value,...`."""
    if (when := way["when"]) is None:
        return True
    given = {
        key.strip(): value.strip()
        for key, _, value in (one.partition("=") for one in values.split(","))
    }
    usual = {one["name"]: one["default"] for one in entry["parameters"]}
    return str(given.get(when["parameter"], usual[when["parameter"]])) == str(when["is"])


def ways_of(part: str) -> list[Way]:
    """The ways to deploy one remedy with its values, the preferred way first."""
    name, values = named(part)
    entry = entry_of(name)
    return [
        way
        for way in (entry["ways"] if entry else ())
        # A kernel that no distribution ships is more than a change of a spot.
        if entry and way["only_in"] is None and _is_a_way(way, entry, values)
    ]


def _spots(way: Way) -> frozenset[Spot]:
    if way["at"] == "both-ends":
        return frozenset({Spot.SENDER, Spot.RECEIVER})
    return frozenset({Spot(way["at"])})
