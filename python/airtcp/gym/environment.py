"""One agent that steers one flow: a Gymnasium environment."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import gymnasium
import numpy as np
from numpy.typing import NDArray

from airtcp import _core
from airtcp._core import Scenario
from airtcp.gym.links import Choices, Links
from airtcp.gym.observed import OBSERVED, action_space, observation_space
from airtcp.gym.rewards import Reward, aurora

Action = Literal["window", "pace"]
"""`window` multiplies the window of the scenario's control (Orca), `pace` the pace (Aurora)."""


class LinkEnv(gymnasium.Env[NDArray[np.float32], NDArray[np.float32]]):
    """A link as an environment: an agent steers its first flow, interval by interval.

    An action is a number a from -1 to 1. With `action="window"` it multiplies the congestion window
    of the scenario's control by 2^(gain a), during a repair the window after it (Orca, Abbasloo et
    al., SIGCOMM 2020, with gain 2). With `action="pace"` it multiplies the pace by 1 + gain a, or
    divides it by 1 - gain a (Aurora, Jay et al., ICML 2019, with gain 0.025); the pace begins at an
    initial window a round trip, and the window is twice the pace times the round trip.

    An episode is the scenario's duration; its end is a truncation. The same seed and actions give
    the same episode on every machine.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (as Gymnasium declares it)

    def __init__(
        self,
        scenario: Scenario | str | os.PathLike[str],
        ranges: Mapping[str, Choices] | None = None,
        settings: Mapping[str, object] | None = None,
        remedies: Sequence[str] | str = (),
        *,
        action: Action = "window",
        gain: float = 1.0,
        least_interval_s: float = 0.01,
        reward: Reward = aurora,
        render_mode: None = None,
    ) -> None:
        """Checks the scenario and the ranges.

        Args:
            scenario: a path, TOML text, or a `Scenario` (see `load_scenario`).
            ranges: dotted key to `Range` or values; each episode draws a link.
            settings: dotted key to value, applied to every episode.
            remedies: names of remedies, applied to every episode.
            action: "window" or "pace".
            gain: strength of an action.
            least_interval_s: least length of a step, in seconds.
            reward: takes an observation and returns its reward.
            render_mode: None; there is nothing to render.

        Raises:
            ScenarioError: the scenario, a setting, an end of a range or a parameter is wrong.
        """
        self.render_mode = render_mode
        self.observation_space = observation_space()
        self.action_space = action_space()
        self._links = Links(scenario, ranges, settings, remedies)
        self._reward = reward
        self._is_begun = False
        self._runs = _core.Environments(
            1, action=action, gain=gain, least_interval_s=least_interval_s, threads=1
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Draws a link, and begins an episode on it.

        `info["link"]` has the values drawn, `info["seed"]` the seed of the run: with both
        `airtcp.run` has the same channel.
        """
        super().reset(seed=seed)
        scenario, drawn = self._links.draw(self.np_random)
        run_seed = int(self.np_random.integers(2**63))
        self._runs.reset(0, scenario, run_seed)
        self._is_begun = True
        time_s = self._runs.progress()[0][1]
        return self._observation(), {"link": drawn, "seed": run_seed, "time_s": time_s}

    def step(
        self, action: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Acts, and advances by an interval."""
        if not self._is_begun:
            raise gymnasium.error.ResetNeeded("no episode has begun: call reset first")
        self._runs.step(np.ascontiguousarray(action, dtype=np.float64), [True])
        observation = self._observation()
        ((finished, time_s),) = self._runs.progress()
        return observation, float(self._reward(observation)), False, finished, {"time_s": time_s}

    def _observation(self) -> NDArray[np.float32]:
        observation = np.zeros(len(OBSERVED), dtype=np.float32)
        self._runs.observe(observation)
        return observation
