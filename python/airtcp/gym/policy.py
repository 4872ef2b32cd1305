"""A policy of integers that a BPF program evaluates: a network with one hidden layer.

`bpf/policy.h` has the same network: actions are equal to the last bit.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from airtcp.core.shipped import folder
from airtcp.gym.observed import INDEX, Values

Integers = NDArray[np.int64]

INPUTS: Final = (
    "smoothed queueing delay, in 256ths of the least round trip",
    "change of the smoothed round trip since the last interval, in 256ths of the least one",
    "share of losses, in 4096ths",
    "segments delivered, in 256ths of the window",
    "least queueing delay of the interval, in 256ths of the least round trip",
)
"""Meaning of each input."""

MAX_ACTION: Final = 8
"""Actions are whole numbers of eighths, from -8 to 8."""

FACTORS: Final = tuple(round(1024 * 2 ** (act / 8)) for act in range(-MAX_ACTION, MAX_ACTION + 1))
"""The window's multiplier for each action, in 1024ths."""

_ONE, _WEIGHT_BITS, _ACTION_BITS, _MAX_NEURON = 256, 6, 5, 4096
_SEGMENT_BITS = 1448 * 8
"""Payload of a segment with timestamps over Ethernet."""


@dataclass(frozen=True)
class IntegerPolicy:
    """Weights in 64ths, biases in 256ths, all whole numbers of 16 bits."""

    hidden_weights: tuple[tuple[int, ...], ...]
    """For each neuron, a weight for each input."""
    hidden_bias: tuple[int, ...]
    output_weights: tuple[int, ...]
    output_bias: int

    @classmethod
    def of(cls, flat: Sequence[int], hidden: int) -> "IntegerPolicy":
        """The policy of a flat list of weights: hidden ones, their biases, output ones, its bias.

        Raises:
            ValueError: the list has another length, or a number needs more than 16 bits.
        """
        width = len(INPUTS)
        if len(flat) != size(hidden):
            raise ValueError(f"{len(flat)} weights: expected {size(hidden)} for {hidden} neurons")
        if any(not -(2**15) <= one < 2**15 for one in flat):
            raise ValueError("a weight needs more than 16 bits: expected -32768 to 32767")
        values = [int(one) for one in flat]
        rows = [tuple(values[row * width : (row + 1) * width]) for row in range(hidden)]
        rest = values[hidden * width :]
        return cls(tuple(rows), tuple(rest[:hidden]), tuple(rest[hidden:-1]), rest[-1])

    def decide(self, inputs: Integers) -> Integers:
        """The action, in eighths, for each row of inputs."""
        return decide(
            inputs,
            np.array(self.hidden_weights),
            np.array(self.hidden_bias),
            np.array(self.output_weights),
            np.array(self.output_bias),
        )

    def to_json(self) -> str:
        """The weights as JSON; `IntegerPolicy.load` reads them."""
        return json.dumps(asdict(self)) + "\n"

    @classmethod
    def load(cls, path: Path) -> "IntegerPolicy":
        """Reads the weights of a file."""
        values = json.loads(path.read_text(encoding="utf-8"))
        return cls(
            tuple(tuple(row) for row in values["hidden_weights"]),
            tuple(values["hidden_bias"]),
            tuple(values["output_weights"]),
            values["output_bias"],
        )

    def to_bpf(self, name: str) -> str:
        """The program as C source, for `--bpf` and for the kernel.

        Raises:
            ValueError: the name does not suit a program of the kernel's.
        """
        if not (name.isidentifier() and name.isascii() and len(name) <= 15):
            raise ValueError(f"name = {name!r}: expected 1 to 15 letters, digits or _")
        template = (folder("bpf") / "policy.bpf.c.in").read_text(encoding="utf-8")
        return template.replace("@weights@", self.declarations()).replace("@name@", name)

    def declarations(self) -> str:
        """The weights as C constants."""
        rows = ",\n".join(f"\t{{ {_listed(row)} }}" for row in self.hidden_weights)
        return (
            f"#define INPUTS {len(INPUTS)}\n"
            f"#define HIDDEN {len(self.hidden_bias)}\n\n"
            f"static const short hidden_weights[HIDDEN][INPUTS] = {{\n{rows}\n}};\n"
            f"static const short hidden_bias[HIDDEN] = {{ {_listed(self.hidden_bias)} }};\n"
            f"static const short output_weights[HIDDEN] = {{ {_listed(self.output_weights)} }};\n"
            f"static const short output_bias = {self.output_bias};\n"
            f"/* 1024 times 2 to the power of -1 to 1, by eighths. */\n"
            f"static const unsigned short factors[{len(FACTORS)}] = {{\n"
            f"\t{_listed(FACTORS[:9])},\n\t{_listed(FACTORS[9:])}\n}};"
        )


def size(hidden: int) -> int:
    """Number of weights of a policy with this many neurons."""
    return hidden * (len(INPUTS) + 2) + 1


def decide(
    inputs: Integers,
    hidden_weights: Integers,
    hidden_bias: Integers,
    output_weights: Integers,
    output_bias: Integers,
) -> Integers:
    """The action, in eighths, for each row of inputs; weights may differ by row, too."""
    neurons = (hidden_weights * inputs[..., None, :]).sum(axis=-1) >> _WEIGHT_BITS
    neurons = np.clip(neurons + hidden_bias, 0, _MAX_NEURON)
    value = ((output_weights * neurons).sum(axis=-1) >> _WEIGHT_BITS) + output_bias
    rounded: Integers = (value + (1 << (_ACTION_BITS - 1))) >> _ACTION_BITS
    return np.clip(rounded, -MAX_ACTION, MAX_ACTION)


class Inputs:
    """Makes the inputs of a policy of the observations of environments, step by step."""

    def __init__(self) -> None:
        self._srtt_ms: NDArray[np.float64] | None = None

    def of(self, observations: Values) -> Integers:
        """The inputs for each row of observations."""
        value = {name: observations[..., at].astype(np.float64) for name, at in INDEX.items()}
        least = np.maximum(value["least_rtt_ms"], 1e-3)
        srtt = value["srtt_ms"]
        before = srtt if self._srtt_ms is None else self._srtt_ms
        self._srtt_ms = srtt
        bits = value["throughput_mbps"] * value["interval_ms"] * 1e3
        window = np.maximum(value["cwnd_segments"], 1)
        return np.stack(
            [
                _clipped((srtt - least) / least * _ONE, 0, 1023),
                _clipped((srtt - before) / least * _ONE, -512, 511),
                _clipped(value["loss_share"] * 4096, 0, 1023),
                _clipped(bits / _SEGMENT_BITS / window * _ONE, 0, 1023),
                _clipped((value["rtt_min_ms"] - least) / least * _ONE, 0, 1023),
            ],
            axis=-1,
        )


def _clipped(values: NDArray[np.float64], least: int, most: int) -> Integers:
    whole: Integers = np.clip(np.trunc(values), least, most).astype(np.int64)
    return whole


def _listed(values: Sequence[int]) -> str:
    return ", ".join(map(str, values))
