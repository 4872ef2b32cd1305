"""Observations: sixteen values of an interval, each with its unit."""

from typing import Final, NamedTuple

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from airtcp import _core

Values = NDArray[np.float32]
"""An observation, or one for each environment."""


class Observed(NamedTuple):
    """A value of an observation."""

    name: str
    unit: str
    """`1` for shares and counts."""
    meaning: str


OBSERVED: Final = tuple(Observed(*one) for one in _core.observed())
"""The values of an observation, in their order."""

INDEX: Final = {one.name: index for index, one in enumerate(OBSERVED)}
"""The place of each value."""


def named(observation: Values) -> dict[str, float]:
    """The values of one observation by name.

    >>> import numpy as np
    >>> named(np.arange(16, dtype=np.float32))["interval_ms"]
    0.0
    """
    return {name: float(observation[index]) for name, index in INDEX.items()}


def observation_space() -> spaces.Box:
    """All values are at least 0, except the gradient of the round trip."""
    low = np.zeros(len(OBSERVED), dtype=np.float32)
    low[INDEX["rtt_gradient"]] = -np.inf
    return spaces.Box(low, np.full(len(OBSERVED), np.inf, dtype=np.float32), dtype=np.float32)


def action_space() -> spaces.Box:
    """One number from -1 to 1: the multiplier's strength."""
    return spaces.Box(-1.0, 1.0, shape=(1,), dtype=np.float32)
