"""The places at which a remedy is deployed, in words."""

from airtcp.comparison.ranking.deployable import Spot, needs

UNAVAILABLE = "no Linux has it"
"""In place of the places where nothing can be deployed."""

_WORDS = {
    Spot.SENDER: "the sender",
    Spot.RECEIVER: "the receiver",
    Spot.BEFORE_LINK: "the device before the link",
    Spot.RADIO: "the mobile's radio",
    Spot.AGENT: "the access point",
    Spot.PROXY: "a proxy",
}


def places_of(remedy: str) -> str:
    """The places changed by the preferred way to deploy a combination, for a table."""
    ways = needs(remedy)
    if not ways:
        return UNAVAILABLE
    return " and ".join(words for spot, words in _WORDS.items() if spot in ways[0])
