"""Links as environments: the libraries' own checks, seeds, threads, ranges, errors."""

import contextlib
import io
import math
import re
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

gymnasium = pytest.importorskip("gymnasium", reason="pip install 'airtcp[gym]'")

import numpy as np  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402

import airtcp  # noqa: E402
from airtcp import ScenarioError  # noqa: E402
from airtcp.gym import OBSERVED, LinkEnv, LinkVectorEnv, Range, aurora, named  # noqa: E402

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "learned-control.md"
LINK = "lossy-pipe"
SHORT = {"duration": "3s"}
RANGES = {
    "link.rate": Range(2, 50, "Mbit/s", "log"),
    "link.delay": Range(5, 60, "ms"),
    "link.queue.packets": Range(20, 200, "", "whole"),
    "link.loss.rate": [0, 0.001, 0.01],
}


@pytest.fixture(name="env", params=["window", "pace"])
def _env(request: pytest.FixtureRequest) -> LinkEnv:
    return LinkEnv(LINK, RANGES, SHORT, action=request.param)


def episode(env: LinkEnv, seed: int, actions: int = 5) -> list[Any]:
    random = np.random.default_rng(actions)
    observation, info = env.reset(seed=seed)
    seen: list[Any] = [info["link"], observation]
    truncated = False
    while not truncated:
        action = random.uniform(-1, 1, 1).astype(np.float32)
        observation, reward, terminated, truncated, info = env.step(action)
        assert not terminated
        assert math.isfinite(reward)
        assert env.observation_space.contains(observation), observation
        seen += [observation, reward, info["time_s"]]
    return seen


def same(one: list[Any], other: list[Any]) -> bool:
    return len(one) == len(other) and all(
        np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b
        for a, b in zip(one, other, strict=True)
    )


# Its bounds are infinite, since a throughput has no limit.
@pytest.mark.filterwarnings("ignore:.*A Box observation space m.*:UserWarning")
def test_it_passes_the_checker(env: LinkEnv) -> None:
    check_env(env, skip_render_check=True)


def test_a_seed_is_an_episode(env: LinkEnv) -> None:
    first = episode(env, 3)
    assert same(first, episode(env, 3))
    assert not same(first, episode(env, 4))
    assert len(first) > 50


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_it_is_registered() -> None:
    env = gymnasium.make("airtcp/Link-v0", scenario=LINK, settings=SHORT)
    assert env.reset(seed=1)[0].shape == (16,)
    many = gymnasium.make_vec("airtcp/Link-v0", num_envs=3, scenario=LINK, settings=SHORT)
    assert many.reset(seed=1)[0].shape == (3, 16)
    with pytest.raises(gymnasium.error.ResetNeeded, match="call reset first"):
        LinkEnv(LINK).step(np.zeros(1, dtype=np.float32))


def test_every_value_has_a_name_and_a_unit() -> None:
    assert len(OBSERVED) == 16
    assert len({one.name for one in OBSERVED}) == 16
    for one in OBSERVED:
        assert one.unit == "1" or one.name.endswith(
            {"Mbit/s": "_mbps", "ms": "_ms", "segments": "_segments", "ms/ms": "_gradient"}[
                one.unit
            ]
        )


def test_an_episode_of_no_actions_is_the_run() -> None:
    env = LinkEnv(LINK, settings=SHORT | {"link.loss.rate": 0.01})
    _, info = env.reset(seed=1)
    seed = info["seed"]
    delivered, truncated, last = 0.0, False, info["time_s"]
    while not truncated:
        observation, _, _, truncated, info = env.step(np.zeros(1, dtype=np.float32))
        values = named(observation)
        assert values["interval_ms"] / 1e3 == pytest.approx(info["time_s"] - last, abs=1e-6)
        delivered += values["throughput_mbps"] * (info["time_s"] - last)
        last = info["time_s"]
    assert last == 3
    run = airtcp.run(LINK, seed, SHORT | {"link.loss.rate": 0.01})
    # Less the data whose acknowledgments are on the way.
    assert delivered / 3 == pytest.approx(run.summary["goodput_bps"] / 1e6, rel=0.05)


def test_actions_decide() -> None:
    lossy = {"duration": "10s", "link.loss.rate": 0.02, "link.queue.packets": 1000}
    env = LinkEnv(LINK, settings=lossy)

    def means(act: float) -> tuple[float, float]:
        env.reset(seed=1)
        seen, truncated = [], False
        while not truncated:
            observation, _, _, truncated, _ = env.step(np.array([act], dtype=np.float32))
            values = named(observation)
            seen.append((values["srtt_ms"], values["throughput_mbps"]))
        queued, sent = np.mean(seen, axis=0)
        return float(queued), float(sent)

    wide, kept, narrow = means(1.0), means(0.0), means(-1.0)
    assert wide[0] > 1.5 * kept[0], "the queue fills"
    assert wide[1] > 1.5 * kept[1] > 1.5 * 1.5 * narrow[1]


@pytest.mark.parametrize("threads", [1, 3])
def test_a_vector_is_its_environments(threads: int) -> None:
    many = LinkVectorEnv(3, LINK, RANGES, SHORT, threads=threads)
    each = [LinkEnv(LINK, RANGES, SHORT) for _ in range(3)]
    observations, _ = many.reset(seed=10)
    for index, env in enumerate(each):
        # Gymnasium's generator of a seed is that of the vector.
        assert np.array_equal(observations[index], env.reset(seed=10 + index)[0])
    random = np.random.default_rng(1)
    ended = np.zeros(3, dtype=bool)
    for _ in range(400):
        actions = random.uniform(-1, 1, (3, 1)).astype(np.float32)
        observations, rewards, terminated, truncated, _ = many.step(actions)
        assert not terminated.any()
        for index, env in enumerate(each):
            if ended[index]:
                alone, reward, done = env.reset()[0], 0.0, False
            else:
                alone, reward, _, done, _ = env.step(actions[index])
            assert np.array_equal(observations[index], alone)
            assert rewards[index] == pytest.approx(reward)
            assert truncated[index] == done
            ended[index] = done
    assert many.observation_space.contains(observations)


def test_a_step_releases_the_interpreter() -> None:
    # A step of 20 s of a fast link: a tenth of a second and more.
    link = {"duration": "600s", "link.rate": "100 Mbit/s"}
    many = LinkVectorEnv(2, LINK, settings=link, least_interval_s=20)
    many.reset(seed=1)
    counted = 0
    stop = threading.Event()

    def count() -> None:
        nonlocal counted
        while not stop.wait(0.0001):
            counted += 1

    other = threading.Thread(target=count)
    other.start()
    during = 0
    try:
        # Without it, the other thread gets a turn or two before and after the core's part.
        while during < 30:
            before = counted
            many.step(np.zeros((2, 1), dtype=np.float32))
            during = counted - before
    finally:
        stop.set()
        other.join()


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
def test_several_agents_share_a_link(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pettingzoo", reason="pip install 'airtcp[gym]'")
    from pettingzoo.test import parallel_api_test, parallel_seed_test

    from airtcp.gym import FlowsEnv

    parallel_api_test(FlowsEnv(3, LINK, RANGES, SHORT), num_cycles=300)
    parallel_seed_test(lambda: FlowsEnv(2, LINK, RANGES, SHORT), num_cycles=50)
    assert "Passed" in capsys.readouterr().out
    env = FlowsEnv(2, LINK, settings={"duration": "10s"})
    env.reset(seed=1)
    sums = dict.fromkeys(env.agents, 0.0)
    while env.agents:
        acts = {"flow_0": 0.5, "flow_1": -0.5}
        observations, *_ = env.step(
            {agent: np.array([act], dtype=np.float32) for agent, act in acts.items()}
        )
        for agent, seen in observations.items():
            values = named(seen)
            sums[agent] += values["throughput_mbps"] * values["interval_ms"]
    assert sums["flow_0"] > 3 * sums["flow_1"]


def test_aurora_reward_by_hand() -> None:
    observation = np.zeros(16, dtype=np.float32)
    values = {"throughput_mbps": 12.0, "rtt_mean_ms": 50.0, "loss_share": 0.1}
    for index, one in enumerate(OBSERVED):
        observation[index] = values.get(one.name, 0.0)
    # 1000 packets a second; 50 for the round trip; 200 for the losses.
    assert aurora(observation) == pytest.approx(10_000 - 50 - 200)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"ranges": {"link.rat": Range(1, 2)}}, "link.rat"),
        ({"ranges": {"link.loss.rate": Range(0, 1.5)}}, "1.5"),
        ({"ranges": {"link.loss.rate": Range(0.5, 0.1)}}, "lower end first"),
        ({"ranges": {"link.loss.rate": Range(0, 0.1, spacing="log")}}, "begins above 0"),
        ({"ranges": {"link.loss.rate": []}}, "expected a Range or a list"),
        ({"action": "rate"}, 'expected "window" or "pace"'),
        ({"gain": 0.0}, "gain = 0"),
        ({"least_interval_s": 0.0}, "least_interval_s = 0"),
        ({"remedies": "nonsense"}, "nonsense"),
    ],
)
def test_bad_input_is_refused_at_once(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        LinkEnv(LINK, **given)


def test_flows_that_cannot_be_steered() -> None:
    with pytest.raises(ScenarioError, match="model of the path"):
        LinkEnv(LINK, remedies="bbr").reset(seed=1)
    with pytest.raises(ScenarioError, match="a steered pace needs"):
        LinkEnv(LINK, settings={"tcp.profile": "reno"}, action="pace").reset(seed=1)

    class Mine(airtcp.Control):
        pass

    run = airtcp.run(LINK, 1, SHORT, control=Mine)
    with pytest.raises(ScenarioError, match="in Python"):
        LinkEnv(run.scenario)
    env = LinkEnv(LINK, settings=SHORT)
    env.reset(seed=1)
    with pytest.raises(ScenarioError, match="expected a number from -1 to 1"):
        env.step(np.array([math.nan], dtype=np.float32))
    with pytest.raises(ScenarioError, match="2 actions: expected 1"):
        env.step(np.zeros(2, dtype=np.float32))


def test_without_the_library_the_extra_is_named() -> None:
    from airtcp.core.extras import required

    with pytest.MonkeyPatch.context() as hidden:
        hidden.setitem(sys.modules, "pettingzoo", None)
        with pytest.raises(ModuleNotFoundError, match=r"pip install 'airtcp\[gym\]'"):
            required("pettingzoo")


def test_the_examples_of_the_guide_run() -> None:
    pytest.importorskip("pettingzoo", reason="pip install 'airtcp[gym]'")
    page = GUIDE.read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec("\n".join(blocks), {"__name__": "guide"})
    assert printed.getvalue().count("True") == 4
    rows = [f"| `{one.name}` | {one.unit} | {one.meaning} |" for one in OBSERVED]
    assert "\n".join(rows) in page
