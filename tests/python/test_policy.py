"""A policy of integers: the BPF program that it writes, its training, and the guide's table."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("gymnasium", reason="pip install 'airtcp[gym]'")

import numpy as np

import airtcp
from airtcp.gym import LinkEnv, named
from airtcp.gym.policy import FACTORS, INPUTS, Inputs, IntegerPolicy, size

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "bpf" / "examples"
LINK = "lossy-pipe"
RENO = {"duration": "10s", "tcp.congestion_control": "reno", "link.loss.rate": 0.01}

# Decides on a table of inputs when a connection begins; its actions are counters.
CHECK = """
@weights@

#include "policy.h"

char _license[] SEC("license") = "GPL";

static const int rows[@count@][INPUTS] = {
@rows@
};
int actions[@count@];

SEC("struct_ops")
void BPF_PROG(check_init, struct sock *sk)
{
	for (int row = 0; row < @count@; row++)
		actions[row] = decide(rows[row]);
}

SEC("struct_ops")
void BPF_PROG(check_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	grow_as_reno(sk, acked);
}

SEC("struct_ops")
__u32 BPF_PROG(check_ssthresh, struct sock *sk)
{
	return max32(tcp_sk(sk)->snd_cwnd >> 1, 2);
}

SEC("struct_ops")
__u32 BPF_PROG(check_undo_cwnd, struct sock *sk)
{
	return tcp_reno_undo_cwnd(sk);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops check = {
	.init = (void *)check_init,
	.cong_avoid = (void *)check_cong_avoid,
	.ssthresh = (void *)check_ssthresh,
	.undo_cwnd = (void *)check_undo_cwnd,
	.name = "check",
};
"""


def module(path: Path) -> ModuleType:
    """A program outside the package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def random_policy(seed: int, hidden: int, most: int) -> IntegerPolicy:
    """Weights up to `most`, with outputs small enough that not every action is the greatest."""
    random = np.random.default_rng(seed)
    weights = random.integers(-most, most, size(hidden))
    weights[-hidden - 1 :] //= 30
    return IntegerPolicy.of(weights.tolist(), hidden)


@pytest.mark.needs("clang")
@pytest.mark.parametrize(
    "policy",
    [
        IntegerPolicy.load(EXAMPLES / "learned.json"),
        random_policy(1, 1, 100),
        random_policy(2, 6, 300),
        random_policy(3, 12, 2000),
    ],
    ids=["learned", "one neuron", "six", "twelve"],
)
def test_the_program_decides_as_python(policy: IntegerPolicy, tmp_path: Path) -> None:
    random = np.random.default_rng(7)
    count = 500
    inputs = random.integers(0, 1024, (count, len(INPUTS)))
    inputs[:, 1] -= 512
    rows = ",\n".join("\t{ " + ", ".join(map(str, row)) + " }" for row in inputs.tolist())
    text = CHECK.replace("@weights@", policy.declarations()).replace("@rows@", rows)
    source = tmp_path / "check.bpf.c"
    source.write_text(text.replace("@count@", str(count)))
    run = airtcp.run(LINK, 1, {"duration": "1s"}, bpf=source)
    (report,) = run.controls
    actions = [report["counters"][f"actions[{row}]"] for row in range(count)]
    assert actions == policy.decide(inputs).tolist()
    assert len(set(actions)) > 1


def test_the_example_is_the_one_of_its_weights() -> None:
    policy = IntegerPolicy.load(EXAMPLES / "learned.json")
    assert (EXAMPLES / "learned.bpf.c").read_text() == policy.to_bpf("learned")
    assert policy.to_json() == (EXAMPLES / "learned.json").read_text()
    assert policy == IntegerPolicy.of(
        [
            *(one for row in policy.hidden_weights for one in row),
            *policy.hidden_bias,
            *policy.output_weights,
            policy.output_bias,
        ],
        len(policy.hidden_bias),
    )
    assert (FACTORS[0], FACTORS[8], FACTORS[16]) == (512, 1024, 2048)


@pytest.mark.needs("clang")
def test_a_policy_of_zeros_is_reno(tmp_path: Path) -> None:
    policy = IntegerPolicy.of([0] * size(2), 2)
    zero, reno = tmp_path / "zero.bpf.c", tmp_path / "reno.bpf.c"
    zero.write_text(policy.to_bpf("zero"))
    text = CHECK.replace("@weights@", policy.declarations()).replace("@rows@", "{ 0 }")
    reno.write_text(text.replace("@count@", "1"))
    own, plain = (airtcp.run(LINK, 3, RENO, bpf=source) for source in (zero, reno))
    assert own.summary["digest"] == plain.summary["digest"]
    assert own.controls[0]["counters"]["widened"] == 0
    assert own.controls[0]["counters"]["intervals"] > 100


@pytest.mark.needs("clang")
def test_the_program_does_as_the_policy_in_the_environment() -> None:
    policy = IntegerPolicy.load(EXAMPLES / "learned.json")
    link = RENO | {"link.rate": "20 Mbit/s", "link.delay": "20 ms"}
    env = LinkEnv(LINK, settings=link)
    observation, info = env.reset(seed=5)
    seed, inputs, sums, truncated = info["seed"], Inputs(), np.zeros(2), False
    while not truncated:
        action = policy.decide(inputs.of(observation)) / 8
        observation, _, _, truncated, _ = env.step(np.array([action], dtype=np.float32))
        values = named(observation)
        sums += values["interval_ms"] * np.array([values["throughput_mbps"], 1])
    program = airtcp.run(LINK, seed, link, bpf=EXAMPLES / "learned.bpf.c").summary["goodput_bps"]
    reno = airtcp.run(LINK, seed, link).summary["goodput_bps"]
    assert program > 3 * reno
    assert sums[0] / sums[1] == pytest.approx(program / 1e6, rel=0.15)


def test_training_is_repeatable(monkeypatch: pytest.MonkeyPatch) -> None:
    train = module(EXAMPLES / "train_policy.py")
    for name, value in {"GENERATIONS": 3, "VARIATIONS": 6, "BEST": 2, "STEPS": 30}.items():
        monkeypatch.setattr(train, name, value)
    monkeypatch.setattr(train, "LINKS_A_GENERATION", 2)
    first = train.trained(seed=4)
    assert first == train.trained(seed=4)
    assert first != train.trained(seed=5)


@pytest.mark.needs("clang")
def test_the_sentences_of_the_guide_are_those_of_runs() -> None:
    write = module(ROOT / "pages" / "write_learned.py")
    page = write.PAGE.read_text(encoding="utf-8")
    block = page.split("<!-- learned: begin -->")[1].split("<!-- learned: end -->")[0]

    def words(text: str) -> list[str]:
        # Numbers change with the engine.
        return re.findall(r"[A-Za-z_]{2,}", text)

    assert words(write.table()) == words(block), "python pages/write_learned.py"


def test_bad_policies_are_refused() -> None:
    with pytest.raises(ValueError, match=f"3 weights: expected {size(2)} for 2 neurons"):
        IntegerPolicy.of([1, 2, 3], 2)
    with pytest.raises(ValueError, match="16 bits"):
        IntegerPolicy.of([2**15] + [0] * (size(1) - 1), 1)
    policy = IntegerPolicy.of([0] * size(1), 1)
    for name in ("", "a-b", "x" * 16, "ä"):
        with pytest.raises(ValueError, match="expected 1 to 15 letters"):
            policy.to_bpf(name)
