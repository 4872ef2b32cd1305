"""Counters of congestion controls in BPF and Python, as columns of a run's results."""

import json
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Protocol, TypedDict, cast

from airtcp.core.quantities import format_count

PREFIX = "counter_"
"""Before a counter's name in a column: it may be named like a measurement."""
_ZEROS = {"zero_windows": "congestion window", "zero_thresholds": "slow-start threshold"}
"""Counts of zeros with which Linux would stall, with the name of the quantity."""


class Counted(TypedDict):
    """The control of one flow in a cell's summary: its report without messages."""

    flow: int
    counters: dict[str, int]
    instructions: int
    zero_windows: int
    zero_thresholds: int


class _Result(Protocol):
    """A finished run of the core."""

    def summary(self) -> str: ...
    def controls(self) -> str: ...


def cell_summary(result: _Result) -> str:
    """The summary of a run as JSON, with the counters of user-written controls, if any."""
    controls = json.loads(result.controls())
    if not controls:
        return result.summary()
    for one in controls:
        # Lines are events of a single run, and may be many.
        del one["messages"]
    return f'{result.summary().removesuffix("}")},"controls":{json.dumps(controls)}}}'


def counted(summary: Mapping[str, object]) -> list[Counted]:
    """The controls of a cell's flows; empty without user-written ones."""
    return cast(list[Counted], summary.get("controls", []))


def counters_of(summary: Mapping[str, object]) -> dict[str, int]:
    """Counters by column, each the sum over the flows of a run."""
    sums: dict[str, int] = {}
    for one in counted(summary):
        values = {f"{PREFIX}{name}": value for name, value in one["counters"].items()}
        for name in (*_ZEROS, "instructions"):
            values[name] = cast(dict[str, int], one)[name]
        for name, value in values.items():
            sums[name] = sums.get(name, 0) + value
    return sums


def means(runs: Iterable[Mapping[str, object]]) -> dict[str, float]:
    """Means over runs of the counters by column; empty without user-written controls."""
    each = [counters_of(run) for run in runs]
    names = dict.fromkeys(name for one in each for name in one)
    return {name: fmean(one[name] for one in each if name in one) for name in names}


def zero_sentence(name: str, runs: Sequence[Mapping[str, object]]) -> str | None:
    """Reports windows and thresholds of 0 segments that a control set; None without any."""
    each = [counters_of(run) for run in runs]
    told = [
        f"a {what} of 0 segments {times(sum(one.get(key, 0) for one in each))}"
        for key, what in _ZEROS.items()
        if any(one.get(key) for one in each)
    ]
    if not told:
        return None
    hit = sum(any(one.get(key) for key in _ZEROS) for one in each)
    where = "" if len(each) == 1 else f" in {hit} of {len(each)} runs"
    return (
        f"{name} set {' and '.join(told)}{where}; a window of 1 was used, where Linux would stall."
    )


def times(count: int) -> str:
    """A count as an adverb."""
    return "once" if count == 1 else f"{format_count(count)} times"
