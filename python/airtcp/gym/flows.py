"""Several agents, each with a flow of one link to steer: a PettingZoo environment."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from airtcp import _core
from airtcp._core import Scenario
from airtcp.gym.environment import Action
from airtcp.gym.links import Choices, Links
from airtcp.gym.observed import OBSERVED, action_space, observation_space
from airtcp.gym.rewards import Reward, aurora

Observations = dict[str, NDArray[np.float32]]


class FlowsEnv(ParallelEnv[str, NDArray[np.float32], NDArray[np.float32]]):
    """A link shared by agents, `flow_0`, `flow_1` and so on; see `LinkEnv` for steps and actions.

    A step is the longest smoothed round trip among the agents' flows. Flows of the scenario beyond
    the agents compete with its own control.
    """

    metadata: dict[str, Any] = {"name": "airtcp_flows_v0", "render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        agents: int,
        scenario: Scenario | str | os.PathLike[str],
        ranges: Mapping[str, Choices] | None = None,
        settings: Mapping[str, object] | None = None,
        remedies: Sequence[str] | str = (),
        *,
        action: Action = "window",
        gain: float = 1.0,
        least_interval_s: float = 0.01,
        reward: Reward = aurora,
    ) -> None:
        """Checks the scenario and the ranges; see `LinkEnv`.

        Without a setting of `flows.count` the link has as many flows as agents.
        """
        given = {"flows.count": agents, **(settings or {})}
        if isinstance(scenario, Scenario):
            given = dict(settings or {})
        self.render_mode = None
        self.possible_agents = [f"flow_{index}" for index in range(agents)]
        self.agents: list[str] = []
        self.observation_spaces: dict[str, spaces.Space[Any]] = {
            agent: observation_space() for agent in self.possible_agents
        }
        self.action_spaces: dict[str, spaces.Space[Any]] = {
            agent: action_space() for agent in self.possible_agents
        }
        self._links = Links(scenario, ranges, given, remedies)
        self._reward = reward
        self._random = np.random.default_rng()
        self._runs = _core.Environments(
            1,
            agents=agents,
            action=action,
            gain=gain,
            least_interval_s=least_interval_s,
            threads=1,
        )

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The observations of an agent."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The actions of an agent."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, dict[str, Any]]]:
        """Draws a link, and begins an episode on it with all agents."""
        if seed is not None:
            self._random = np.random.Generator(np.random.PCG64(seed))
        scenario, drawn = self._links.draw(self._random)
        self._runs.reset(0, scenario, int(self._random.integers(2**63)))
        self.agents = list(self.possible_agents)
        return self._observations(), {agent: {"link": drawn} for agent in self.agents}

    def step(
        self, actions: dict[str, NDArray[np.float32]]
    ) -> tuple[
        Observations,
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Lets every agent act, and advances by an interval."""
        acts = np.array([float(actions[agent].item()) for agent in self.agents])
        self._runs.step(acts, [True])
        observations = self._observations()
        ((finished, time_s),) = self._runs.progress()
        rewards = {agent: float(self._reward(seen)) for agent, seen in observations.items()}
        terminated = dict.fromkeys(self.agents, False)
        truncated = dict.fromkeys(self.agents, finished)
        infos = {agent: {"time_s": time_s} for agent in self.agents}
        if finished:
            self.agents = []
        return observations, rewards, terminated, truncated, infos

    def _observations(self) -> Observations:
        values = np.zeros((len(self.possible_agents), len(OBSERVED)), dtype=np.float32)
        self._runs.observe(values)
        return dict(zip(self.possible_agents, values, strict=True))
