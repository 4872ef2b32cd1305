"""A cause that a capture shows, with its evidence and the remedy that removes it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CaptureFinding:
    """One cause, in sentences."""

    kind: str
    """Its name in JSON: `mtu-hole`, `small-writes`, …"""
    sentence: str
    """The first sentence of the answer."""
    evidence: tuple[str, ...] = ()
    """Evidence for it, and alternative explanations."""
    remedies: tuple[str, ...] = ()
    """Remedies of the catalogue that remove it, in the catalogue's notation, the best first."""
    is_whole: bool = True
    """Whether it explains the flow completely: no link is fitted, and no other remedy is tried."""
