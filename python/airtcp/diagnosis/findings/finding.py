"""A cause that a capture shows, with its evidence and the remedy that ends it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CaptureFinding:
    """One cause, in sentences."""

    kind: str
    """Its name in JSON: `mtu-hole`, `small-writes`, …"""
    sentence: str
    """The first sentence of the answer."""
    evidence: tuple[str, ...] = ()
    """What shows it, and what it may be in its place."""
    remedies: tuple[str, ...] = ()
    """Remedies of the catalogue that end it, as they are written, the best first."""
    is_whole: bool = True
    """It explains the flow by itself: no fitted link would, and no other remedy is tried."""
