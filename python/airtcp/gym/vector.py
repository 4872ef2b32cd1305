"""Many links at once: a Gymnasium vector environment, advanced by threads of the core."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from airtcp import _core
from airtcp._core import Scenario
from airtcp.gym.environment import Action
from airtcp.gym.links import Choices, Links
from airtcp.gym.observed import OBSERVED, action_space, observation_space
from airtcp.gym.rewards import Reward, aurora

Array = NDArray[Any]


class LinkVectorEnv(VectorEnv[NDArray[np.float32], NDArray[np.float32], Array]):
    """Several `LinkEnv`s, in one call of the core that releases the GIL.

    Environment i of a reset with seed s is `LinkEnv` with seed s + i, whatever the number of
    threads. An environment that has ended begins its next episode in the next step
    (`AutoresetMode.NEXT_STEP`).
    """

    def __init__(
        self,
        num_envs: int,
        scenario: Scenario | str | os.PathLike[str],
        ranges: Mapping[str, Choices] | None = None,
        settings: Mapping[str, object] | None = None,
        remedies: Sequence[str] | str = (),
        *,
        action: Action = "window",
        gain: float = 1.0,
        least_interval_s: float = 0.01,
        reward: Reward = aurora,
        threads: int = 0,
    ) -> None:
        """Checks the scenario and the ranges; see `LinkEnv`.

        `threads` is the number of threads, 0 for one per core.
        """
        self.num_envs = num_envs
        self.metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}
        self.single_observation_space = observation_space()
        self.single_action_space = action_space()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._links = Links(scenario, ranges, settings, remedies)
        self._reward = reward
        self._random = [np.random.default_rng() for _ in range(num_envs)]
        self._ended = np.zeros(num_envs, dtype=np.bool_)
        self._runs = _core.Environments(
            num_envs,
            action=action,
            gain=gain,
            least_interval_s=least_interval_s,
            threads=threads,
        )

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins an episode in every environment, or only where `options["reset_mask"]` is set."""
        chosen = np.ones(self.num_envs, dtype=np.bool_)
        if options and "reset_mask" in options:
            chosen = np.asarray(options["reset_mask"], dtype=np.bool_)
        seeds: Sequence[int | None] = (
            [None if seed is None else seed + index for index in range(self.num_envs)]
            if seed is None or isinstance(seed, int)
            else seed
        )
        for index in np.flatnonzero(chosen).tolist():
            if (one := seeds[index]) is not None:
                self._random[index] = np.random.Generator(np.random.PCG64(one))
            self._begin(index)
        return self._observations(), {"time_s": self._times()}

    def step(
        self, actions: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], Array, Array, Array, dict[str, Any]]:
        """Acts in every environment; one that had ended begins its next episode instead."""
        begun = self._ended.copy()
        for index in np.flatnonzero(begun).tolist():
            self._begin(index)
        self._runs.step(np.ascontiguousarray(actions, dtype=np.float64), (~begun).tolist())
        observations = self._observations()
        self._ended = np.array([finished for finished, _ in self._runs.progress()], dtype=np.bool_)
        rewards = np.where(begun, 0.0, self._reward(observations))
        terminated = np.zeros(self.num_envs, dtype=np.bool_)
        info = {"time_s": self._times()}
        return observations, rewards, terminated, self._ended.copy(), info

    def _begin(self, index: int) -> None:
        random = self._random[index]
        scenario, _ = self._links.draw(random)
        self._runs.reset(index, scenario, int(random.integers(2**63)))
        self._ended[index] = False

    def _observations(self) -> NDArray[np.float32]:
        observations = np.zeros((self.num_envs, len(OBSERVED)), dtype=np.float32)
        self._runs.observe(observations)
        return observations

    def _times(self) -> Array:
        return np.array([time_s for _, time_s in self._runs.progress()])
