"""Latency as a finding of its own: how long data waits while the flow sends, and behind whom."""

from dataclasses import dataclass

import numpy as np

from airtcp.diagnosis.capture import Queues
from airtcp.diagnosis.observed import Observed
from airtcp.diagnosis.seconds import seconds_words

LARGE_S = 0.1
"""Waiting that people notice (ITU-T G.114 asks for 150 ms one way, all told)."""
LARGE_RATIO = 2.0
"""Smallest ratio of the loaded round trip to the base one that counts as well."""


@dataclass(frozen=True)
class Latency:
    """Round trips of a flow, in seconds."""

    base_s: float
    """The shortest: no queue."""
    median_s: float
    high_s: float
    """One packet in twenty takes longer."""
    is_shared: bool
    """Other traffic fills the queue, too."""

    @property
    def is_large(self) -> bool:
        """A finding: data waits for longer than people and protocols like."""
        return self.high_s - self.base_s >= LARGE_S and self.high_s >= LARGE_RATIO * self.base_s

    @property
    def sentence(self) -> str:
        """The finding in words."""
        who = "this flow and others fill" if self.is_shared else "this flow fills"
        return (
            f"Latency: a packet's round trip is {seconds_words(self.base_s)} without a queue, and "
            f"while sending {seconds_words(self.median_s)} in the median and "
            f"{seconds_words(self.high_s)} for one in twenty: {who} the queue."
        )


def latency(flow: Observed, queues: Queues | None) -> Latency:
    """The round trips of a flow that has some."""
    # Of a path that changes, a longer way is no waiting.
    rtts = flow.base_rtt_s + flow.queueing_s[flow.sampled]
    median, high = (float(value) for value in np.quantile(rtts, (0.5, 0.95)))
    return Latency(flow.base_rtt_s, median, high, queues is not None and queues["is_shared"])
