"""Intended uses of a link: each determines the metric that ranks the remedies.

A user who loads files wants goodput; one who plays or browses while others load wants short round
trips, and a call needs its packets in time. No remedy is the best for all of them.
"""

from enum import StrEnum


class Aim(StrEnum):
    """The intended use of the link."""

    BULK = "bulk"
    """Goodput."""
    LATENCY = "latency"
    """Responsiveness: round trips a minute, of the load and of probes under load."""
    CALLS = "calls"
    """A call under load: its packets in time."""
    BALANCE = "balance"
    """Goodput and responsiveness at once: their product, power."""

    @property
    def metric(self) -> str:
        """The deciding metric, one of `airtcp.comparison.metrics.METRICS`."""
        return _METRICS[self]

    @property
    def words(self) -> str:
        """The aim at the start of a line: "For calls"."""
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
"""Probes that run under load so that every aim can be judged: some 0.5 Mbit/s."""
ALL_COMPANIONS = (*COMPANIONS, "short-flow", "page")
"""All kinds of probes under load."""
