#!/usr/bin/env python3
"""Trains the policy of learned.bpf.c by evolution, and writes its weights and its source.

Run it with the project's Python: ``.venv/bin/python bpf/examples/train_policy.py``; it takes a few
minutes of two cores. Weights are whole numbers throughout, so that the policy that is trained is
the one that runs. Each generation tries many variations of the mean policy on the same links, and
the mean of the best ones is the next; the same seed gives the same policy.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from airtcp.gym import LinkVectorEnv, Range
from airtcp.gym.observed import INDEX
from airtcp.gym.policy import MAX_ACTION, Inputs, IntegerPolicy, decide, size

HERE = Path(__file__).resolve().parent
SCENARIO = "lossy-pipe"
LINKS = {
    "link.rate": Range(10, 40, "Mbit/s", "log"),
    "link.delay": Range(10, 40, "ms"),
    "link.queue.packets": Range(60, 200, spacing="whole"),
    "link.loss.rate": Range(0.003, 0.02, spacing="log"),
}
"""Radio links that lose at random."""

HIDDEN = 6
GENERATIONS = 60
VARIATIONS = 48
BEST = 12
LINKS_A_GENERATION = 6
EPISODE = {"duration": "8s", "tcp.congestion_control": "reno"}
STEPS = 260
SPREAD = (48.0, 8.0)
"""Standard deviation of a weight's variations, in the first generation and in the last."""
DELAY_WEIGHT, LOSS_WEIGHT = 0.5, 8.0


def worth(observations: NDArray[np.float32]) -> NDArray[np.float64]:
    """The reward of an interval: doubling the throughput as much as quartering the round trip."""
    values = observations.astype(np.float64)
    throughput = np.log2(values[..., INDEX["throughput_mbps"]] + 0.05)
    delay = np.log2(
        np.maximum(values[..., INDEX["srtt_ms"]], 1) / values[..., INDEX["least_rtt_ms"]].clip(1)
    )
    worth: NDArray[np.float64] = (
        throughput - DELAY_WEIGHT * delay - LOSS_WEIGHT * values[..., INDEX["loss_share"]]
    )
    return worth * values[..., INDEX["interval_ms"]]


def scores(env: LinkVectorEnv, policies: NDArray[np.int64], seed: int) -> NDArray[np.float64]:
    """Mean worth of each policy, all on the same links."""
    links = env.num_envs // len(policies)
    width = size(HIDDEN)
    each = np.repeat(policies, links, axis=0)
    inputs = HIDDEN * ((width - 1) // HIDDEN - 2)
    hidden = each[:, :inputs].reshape(len(each), HIDDEN, -1)
    bias, output = each[:, inputs : inputs + HIDDEN], each[:, inputs + HIDDEN : -1]
    observations, _ = env.reset(seed=[seed + link for link in range(links)] * len(policies))
    seen = Inputs()
    total, length = np.zeros(len(each)), np.zeros(len(each))
    running = np.ones(len(each), dtype=np.bool_)
    for _ in range(STEPS):
        acts = decide(seen.of(observations), hidden, bias, output, each[:, -1])
        actions = (acts[:, None] / MAX_ACTION).astype(np.float32)
        observations, _, _, ended, _ = env.step(actions)
        total += np.where(running, worth(observations), 0)
        length += np.where(running, observations[:, INDEX["interval_ms"]], 0)
        running &= ~ended
        if not running.any():
            break
    by_link: NDArray[np.float64] = (total / length).reshape(len(policies), links)
    return by_link.mean(axis=1)


def trained(seed: int = 1) -> IntegerPolicy:
    """The policy after all generations."""
    random = np.random.Generator(np.random.PCG64(seed))
    env = LinkVectorEnv(VARIATIONS * LINKS_A_GENERATION, SCENARIO, LINKS, EPISODE)
    mean = np.zeros(size(HIDDEN), dtype=np.int64)
    # Neurons that differ from the start, so that each can learn something else.
    mean[: HIDDEN * 5] = np.rint(random.normal(0, 24, HIDDEN * 5)).astype(np.int64)
    for generation in range(GENERATIONS):
        share = generation / (GENERATIONS - 1)
        spread = SPREAD[0] * (SPREAD[1] / SPREAD[0]) ** share
        moves = np.rint(random.normal(0, spread, (VARIATIONS // 2, len(mean)))).astype(np.int64)
        policies = np.clip(mean + np.concatenate([moves, -moves]), -(2**15), 2**15 - 1)
        got = scores(env, policies, 1000 * (generation + 1))
        best = np.argsort(-got, kind="stable")[:BEST]
        mean = np.rint(policies[best].mean(axis=0)).astype(np.int64)
        print(f"{generation}: {got.mean():.4f} {got[best].mean():.4f}", file=sys.stderr)
    return IntegerPolicy.of(mean.tolist(), HIDDEN)


def main() -> None:
    """Writes learned.json and learned.bpf.c."""
    policy = trained()
    (HERE / "learned.json").write_text(policy.to_json(), encoding="utf-8")
    (HERE / "learned.bpf.c").write_text(policy.to_bpf("learned"), encoding="utf-8")


if __name__ == "__main__":
    main()
