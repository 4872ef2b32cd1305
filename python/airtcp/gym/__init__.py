"""Links as environments for reinforcement learning: Gymnasium, vectorised, PettingZoo.

A step is a monitor interval: the longest smoothed round trip of the agents' flows, and at least
`least_interval_s`. Every agent then observes its flow (`OBSERVED`) and multiplies its window or its
pace. It needs the extra `gym`: `pip install 'airtcp[gym]'`.

    >>> from airtcp.gym import LinkEnv, Range
    >>> env = LinkEnv("lossy-pipe", {"link.loss.rate": Range(0, 0.02)})
    >>> observation, info = env.reset(seed=1)
    >>> observation.shape, sorted(info["link"])
    ((16,), ['link.loss.rate'])
"""

from typing import TYPE_CHECKING

from airtcp.core.extras import required

required("gymnasium")

from gymnasium import register  # noqa: E402

from airtcp.gym.environment import LinkEnv  # noqa: E402
from airtcp.gym.links import Links, Range  # noqa: E402
from airtcp.gym.observed import OBSERVED, Observed, named  # noqa: E402
from airtcp.gym.rewards import Reward, aurora  # noqa: E402
from airtcp.gym.vector import LinkVectorEnv  # noqa: E402

if TYPE_CHECKING:
    from airtcp.gym.flows import FlowsEnv

__all__ = [
    "OBSERVED",
    "FlowsEnv",
    "LinkEnv",
    "LinkVectorEnv",
    "Links",
    "Observed",
    "Range",
    "Reward",
    "aurora",
    "named",
]

register(
    "airtcp/Link-v0",
    entry_point="airtcp.gym:LinkEnv",
    vector_entry_point="airtcp.gym:LinkVectorEnv",
)


def __getattr__(name: str) -> object:
    if name == "FlowsEnv":
        required("pettingzoo")
        from airtcp.gym.flows import FlowsEnv

        return FlowsEnv
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
