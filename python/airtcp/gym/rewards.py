"""Rewards of an interval."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from airtcp.gym.observed import INDEX, Values

Reward = Callable[[Values], NDArray[np.float64]]
"""Takes observations, the last axis their values, and returns a reward for each."""

SEGMENT_BITS = 1500 * 8
"""Aurora counts packets of 1500 bytes."""


def aurora(observations: Values) -> NDArray[np.float64]:
    """Aurora's reward (Jay et al., ICML 2019, §4.2).

    Ten times the throughput in packets a second, less 1000 times the mean round trip in seconds and
    2000 times the share of losses.
    """
    values = observations.astype(np.float64)
    packets = values[..., INDEX["throughput_mbps"]] * 1e6 / SEGMENT_BITS
    latency = values[..., INDEX["rtt_mean_ms"]] * 1e-3
    reward: NDArray[np.float64] = (
        10 * packets - 1000 * latency - 2000 * values[..., INDEX["loss_share"]]
    )
    return reward
