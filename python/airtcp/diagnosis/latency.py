"""Latency as a finding: queueing delay while the flow sends, and the traffic ahead of it."""

from dataclasses import dataclass

import numpy as np

from airtcp.diagnosis.capture import Queues
from airtcp.diagnosis.observed import Observed
from airtcp.diagnosis.seconds import seconds_words

LARGE_S = 0.1
"""Perceptible queueing delay (ITU-T G.114 asks for at most 150 ms one way in total)."""
LARGE_RATIO = 2.0
"""Minimum ratio of the loaded to the base round trip, also required."""


@dataclass(frozen=True)
class Latency:
    """Round trips of a flow, in seconds."""

    base_s: float
    """The minimum round trip: no queue."""
    median_s: float
    high_s: float
    """The 95th percentile of the round trip."""
    is_shared: bool
    """Whether other traffic fills the queue, too."""

    @property
    def is_large(self) -> bool:
        """Whether it is a finding: data waits longer than people and protocols tolerate."""
        return self.high_s - self.base_s >= LARGE_S and self.high_s >= LARGE_RATIO * self.base_s

    @property
    def sentence(self) -> str:
        """The finding in words."""
        who = "this flow and others fill" if self.is_shared else "this flow fills"
        return (
            f"Latency: a packet's round trip is {seconds_words(self.base_s)} without a queue, and "
            f"while sending {seconds_words(self.median_s)} in the median and "
            f"{seconds_words(self.high_s)} at the 95th percentile: {who} the queue."
        )


def latency(flow: Observed, queues: Queues | None) -> Latency:
    """The round trips of a flow that has some."""
    # On a path that changes, a longer path is not queueing.
    rtts = flow.base_rtt_s + flow.queueing_s[flow.sampled]
    median, high = (float(value) for value in np.quantile(rtts, (0.5, 0.95)))
    return Latency(flow.base_rtt_s, median, high, queues is not None and queues["is_shared"])
