"""How near the simulation is to the kernels' runs, setting by setting and group by group.

python -m tests.oracles.kernels.agreement [--kernel 6.12] [--worst 20] [--longer 20]
"""

import argparse
import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import exp, log, sqrt
from statistics import mean, median, stdev
from typing import Any

from airtcp import _core

from .design import Setting, settings
from .record import RUNS, SCENARIO

RECEIVE_WINDOWS = {"6.1": "autotuned-6.1", "6.12": "autotuned-6.12"}
"""A kernel's receive window, if it differs from today's."""

ACK_IN_THE_WAY_MBPS = 4
"""In a guest the first data leave 0.1 ms after the acknowledgment that ends the handshake, as long
as a program there takes to write. Up to this rate its 40 or 52 bytes are in the way until then."""

NEAR = 0.03
"""Goodputs whose ratio is at most this far from 1 agree."""


@dataclass(frozen=True)
class Pair:
    """A kernel's run and the simulated one, with the same losses."""

    setting: Setting
    seed: int
    kernel: str
    measured: dict[str, Any]
    simulated: dict[str, Any]

    @property
    def ratio(self) -> float:
        """The kernel's goodput over the simulated one."""
        simulated = float(self.simulated["goodput_bps"])
        measured = float(self.measured["goodput_bps"])
        return measured / simulated if simulated else float(measured == 0) or float("inf")

    @property
    def distance(self) -> float:
        """How far the ratio is from 1."""
        return abs(self.ratio - 1)

    def apart(self, name: str) -> int:
        """The kernel's count less the simulated one."""
        return int(self.measured[name]) - int(self.simulated[name])

    @property
    def words(self) -> str:
        """The pair in a line."""
        counts = ", ".join(
            f"{name} {self.measured[name]}/{self.simulated[name]}"
            for name in ("retransmissions", "timeouts")
        )
        return (
            f"{self.ratio:.3f} ({counts}) kernel {self.kernel}, seed {self.seed}, "
            f"{self.setting.words}"
        )


def head() -> dict[str, Any]:
    """Provenance of the data: kernels and program, with their hashes."""
    with RUNS.open(encoding="utf-8") as file:
        return dict(json.loads(file.readline()))


def pairs(longer_us: float = 0) -> list[Pair]:
    """Every run of the data paired with its simulation by today's engine, with a longer delay."""
    lines = [json.loads(line) for line in RUNS.read_text("utf-8").splitlines()[1:]]
    known = {setting.number: setting for setting in settings()}
    wanted = sorted({_place(line) for line in lines})
    cells = [(_scenario(known[place[0]], place[1], longer_us), place[2]) for place in wanted]
    results = _core.run_many(cells, len(os.sched_getaffinity(0)))
    simulated = {}
    for place, result in zip(wanted, results, strict=True):
        assert isinstance(result, _core.RunResult), result
        summary = json.loads(result.summary())
        (flow,) = summary["flows"]
        simulated[place] = {
            # In order, as the kernel's runs were counted.
            "goodput_bps": 8 * flow["delivered_bytes"] / summary["duration_s"],
            "retransmissions": flow["segments_retransmitted"],
            "timeouts": flow["timeouts"],
        }
    return [
        Pair(
            known[line["setting"]],
            line["seed"],
            line["kernel"],
            line,
            simulated[_place(line)],
        )
        for line in lines
    ]


def _place(line: dict[str, Any]) -> tuple[int, str, int]:
    return line["setting"], line["kernel"], line["seed"]


def _scenario(setting: Setting, kernel: str, longer_us: float) -> _core.Scenario:
    keys = setting.settings | {"tcp.receive_window": RECEIVE_WINDOWS[kernel]}
    keys["link.delay"] = f"{setting.round_trip_ms * 500 + longer_us:g} us"
    if setting.rate_mbps > ACK_IN_THE_WAY_MBPS:
        keys["tcp.quirks.handshake_ack"] = "with-data"
    texts = [
        (key, json.dumps(value) if isinstance(value, bool) else str(value))
        for key, value in keys.items()
    ]
    return _core.Scenario.load(SCENARIO, texts)


def near_share(found: Sequence[Pair]) -> float:
    """The share of pairs whose goodputs are within `NEAR`."""
    return sum(pair.distance <= NEAR for pair in found) / len(found)


GROUPS: dict[str, Callable[[Setting], str]] = {
    "congestion control": lambda one: one.control,
    "options": lambda one: one.options,
    "rate": lambda one: f"{one.rate_mbps} Mbit/s",
    "round trip": lambda one: f"{one.round_trip_ms} ms",
    "loss": lambda one: f"{100 * one.loss:g} %",
    "discipline": lambda one: one.discipline,
    "delay": lambda one: one.delay,
    "control, options": lambda one: f"{one.control}, {one.options}",
    "control, discipline": lambda one: f"{one.control}, {one.discipline}",
    "control, delay": lambda one: f"{one.control}, {one.delay}",
}
"""Groups of settings by common properties."""


def grouped(found: Iterable[Pair], name: str) -> dict[str, list[Pair]]:
    """The pairs by group, the least near first."""
    groups: dict[str, list[Pair]] = {}
    for pair in found:
        groups.setdefault(GROUPS[name](pair.setting), []).append(pair)
    return dict(sorted(groups.items(), key=lambda item: near_share(item[1])))


def row(found: Sequence[Pair]) -> tuple[int, float, float, float, float]:
    """Number, shares within 3 and 10 %, median distance, and share of equal retransmissions."""
    return (
        len(found),
        near_share(found),
        sum(pair.distance <= 0.1 for pair in found) / len(found),
        median(pair.distance for pair in found),
        sum(pair.apart("retransmissions") == 0 for pair in found) / len(found),
    )


def mean_ratio(found: Iterable[Pair]) -> tuple[float, float]:
    """The mean of kernel over simulation, as a difference from 1, and its half interval (95 %).

    Of logarithms, and of settings' means: both kernels and seeds of a setting go wrong together.
    """
    by_setting: dict[int, list[float]] = {}
    for pair in found:
        by_setting.setdefault(pair.setting.number, []).append(log(max(pair.ratio, 1e-3)))
    means = [mean(ratios) for ratios in by_setting.values()]
    return exp(mean(means)) - 1, 1.96 * stdev(means) / sqrt(len(means))


TOLD = ("control, options", "control, discipline", "control, delay")
"""Groups that docs/measurements/kernels.md shows."""


def between_kernels(found: Iterable[Pair]) -> tuple[int, float, float, float, float]:
    """As `row`, for one kernel's runs paired with the other's: the bound for any simulation."""
    by_place: dict[tuple[int, int], list[Pair]] = {}
    for pair in found:
        by_place.setdefault((pair.setting.number, pair.seed), []).append(pair)
    cells = [
        replace(members[0], simulated=members[1].measured)
        for members in by_place.values()
        if len(members) == 2
    ]
    return row(cells)


def of_one_kernel(found: Sequence[Pair], longer_us: float) -> list[Pair]:
    """The simulation paired with itself, its delay longer by the kernel's processing time.

    Where these two part, a run turns on microseconds, and no model can be nearer to a kernel.
    """
    other = {
        (pair.setting.number, pair.kernel, pair.seed): pair.simulated for pair in pairs(longer_us)
    }
    return [
        replace(pair, measured=other[pair.setting.number, pair.kernel, pair.seed]) for pair in found
    ]


def main() -> None:
    """Prints the table of groups and the worst pairs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kernel", help="only this one's runs")
    parser.add_argument("--worst", type=int, default=20, help="pairs that are printed")
    parser.add_argument(
        "--longer",
        type=float,
        metavar="US",
        help="compare the simulation with itself where the delay is longer by so many microseconds",
    )
    arguments = parser.parse_args()
    found = [pair for pair in pairs() if arguments.kernel in (None, pair.kernel)]
    if arguments.longer is not None:
        found = of_one_kernel(found, arguments.longer)
    for name in GROUPS:
        print(f"{name}:")
        for group, members in grouped(found, name).items():
            count, near, within, distance, equal = row(members)
            ratio, half = mean_ratio(members)
            print(
                f"  {group:<26} {count:4}  {near:6.1%} within 3 %  {within:6.1%} within 10 %  "
                f"median {distance:6.2%}  retransmissions equal {equal:6.1%}  "
                f"mean {ratio:+.1%} ± {half:.1%}"
            )
    count, near, within, distance, equal = row(found)
    print(
        f"all: {count}, {near:.1%} within 3 %, {within:.1%} within 10 %, median {distance:.2%}, "
        f"retransmissions equal {equal:.1%}, timeouts equal "
        f"{sum(pair.apart('timeouts') == 0 for pair in found) / count:.1%}"
    )
    if arguments.kernel is None:
        count, near, within, distance, equal = between_kernels(found)
        print(
            f"the kernels compared with each other: {count}, {near:.1%} within 3 %, {within:.1%} "
            f"within 10 %, median {distance:.2%}, retransmissions equal {equal:.1%}"
        )
    for pair in sorted(found, key=lambda pair: -pair.distance)[: arguments.worst]:
        print(f"  {pair.words}")


if __name__ == "__main__":
    main()
