"""What a link is wanted for: it decides which measurement ranks the remedies.

Somebody who loads files wants goodput; somebody who plays or browses while others load wants short
round trips, and a call wants its packets in time. No remedy is the best for all of them.
"""

from enum import StrEnum


class Aim(StrEnum):
    """What the asker wants of the link."""

    BULK = "bulk"
    """Goodput."""
    LATENCY = "latency"
    """Responsiveness: round trips a minute, of the load and of others beside it."""
    CALLS = "calls"
    """A call beside the load: its packets in time."""
    BALANCE = "balance"
    """Goodput and responsiveness at once: their product, power."""

    @property
    def metric(self) -> str:
        """The measurement that decides, one of `airtcp.study.metrics.METRICS`."""
        return _METRICS[self]

    @property
    def words(self) -> str:
        """The aim as a line begins: "For calls"."""
        return f"For {_WORDS[self]}"


_METRICS = {
    Aim.BULK: "goodput",
    Aim.LATENCY: "rpm",
    Aim.CALLS: "call",
    Aim.BALANCE: "power",
}
_WORDS = {
    Aim.BULK: "bulk transfers",
    Aim.LATENCY: "latency",
    Aim.CALLS: "calls",
    Aim.BALANCE: "both at once",
}

COMPANIONS = ("ping", "exchange", "call")
"""What runs beside the load so that every aim can be judged: some 0.5 Mbit/s."""
ALL_COMPANIONS = (*COMPANIONS, "short-flow", "page")
"""All that can run beside the load."""
