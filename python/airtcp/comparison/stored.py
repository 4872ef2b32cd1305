"""A comparison's measurements as a file, and whether a later comparison is worse.

The file has the deciding metric of each remedy by seed: small enough for a repository, and enough
for the paired statistics that `airtcp compare` itself uses.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec

from airtcp._core import ScenarioError, engine_version
from airtcp.comparison.compared import Comparison
from airtcp.comparison.metrics import METRICS, Metric
from airtcp.comparison.ranking import State
from airtcp.comparison.simultaneous import simultaneous
from airtcp.comparison.state_of import state_of
from airtcp.comparison.statistics import PairedDifference
from airtcp.comparison.words import amount, basis
from airtcp.core.files import read_text

NAME = "result.json"
"""The file in the folder of `airtcp compare --out`."""
_MIN_SEEDS = 2


class StoredResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Measurements of a comparison."""

    scenario: str
    engine_version: str
    metric: str
    values: dict[str, dict[int, float]]
    """By remedy, "baseline" included, and by seed; runs without the metric are absent."""


def stored_result(comparison: Comparison) -> StoredResult:
    """The measurements of a comparison's deciding metric."""
    measure = METRICS[comparison.metric].of
    values = {}
    for remedy, runs in comparison.runs_for(comparison.metric).items():
        by_seed = zip(comparison.seeds, map(measure, runs), strict=False)
        values[remedy] = {seed: value for seed, value in by_seed if value is not None}
    name = comparison.scenario.name
    return StoredResult(name, engine_version, comparison.metric, values)


def result_text(comparison: Comparison) -> str:
    """The content of `NAME`."""
    encoded = msgspec.json.encode(stored_result(comparison))
    return msgspec.json.format(encoded, indent=1).decode() + "\n"


def read_result(path: Path) -> StoredResult:
    """Reads a stored result.

    Args:
        path: the file, or the folder of `airtcp compare --out`.

    Raises:
        ScenarioError: it is missing or damaged.
    """
    file = path / NAME if path.is_dir() else path
    if not file.is_file():
        raise ScenarioError(
            f"--against {path}: no stored result; write one with `airtcp compare … --out {path}`"
        )
    try:
        return msgspec.json.decode(read_text(file), type=StoredResult)
    except (msgspec.DecodeError, OSError) as error:
        raise ScenarioError(
            f"--against {file}: not a stored result ({error}); write it again with "
            f"`airtcp compare … --out {file.parent}`"
        ) from error


@dataclass(frozen=True)
class Regression:
    """A comparison against a stored one: every remedy that both have, on the seeds of both."""

    against: str
    """The stored result, as the user named it."""
    metric: Metric
    differences: Mapping[str, PairedDifference]
    """By remedy, "baseline" included: new minus stored. The intervals hold jointly."""
    smallest: float
    """The smallest change worth a report, in per cent."""

    @cached_property
    def worse(self) -> tuple[str, ...]:
        """The settings shown to have changed for the worse."""
        return tuple(
            name
            for name, by in self.differences.items()
            if state_of(by, self.smallest) is State.SHOWN
            and (by.mean < 0) is self.metric.is_better_higher
        )

    @property
    def sentence(self) -> str:
        """The finding in one line."""
        if self.worse:
            changes = (
                f"{name}: {self.metric.label} {amount(by, sign=True, metric=self.metric)} "
                f"({basis(by)})"
                for name in self.worse
                for by in [self.differences[name]]
            )
            return f"Worse than {self.against}: {'; '.join(changes)}."
        undecided = [
            f"{name} ({amount(by, sign=True, metric=self.metric)})"
            for name, by in self.differences.items()
            if state_of(by, self.smallest) is State.UNDECIDED and by.half_width is not None
        ]
        note = f"; undecided: {', '.join(undecided)}" if undecided else ""
        return f"Not worse than {self.against} in {self.metric.phrase}{note}."


def regression(comparison: Comparison, stored: StoredResult, against: str) -> Regression:
    """Compares a comparison with a stored one.

    Raises:
        ScenarioError: the metrics differ, or no remedy has two seeds in both.
    """
    if stored.metric != comparison.metric:
        raise ScenarioError(
            f"--against {against}: decided by {stored.metric}, and this comparison by "
            f"{comparison.metric}; give --metric {stored.metric}, or store the result again"
        )
    now = stored_result(comparison).values
    pairs = {}
    for remedy, values in stored.values.items():
        seeds = sorted(values.keys() & now.get(remedy, {}).keys())
        if len(seeds) >= _MIN_SEEDS:
            before = [values[seed] for seed in seeds]
            pairs[remedy] = (before, [now[remedy][seed] for seed in seeds])
    if not pairs:
        raise ScenarioError(
            f"--against {against}: no remedy has {_MIN_SEEDS} seeds in both results; it has "
            f"{', '.join(stored.values)}; name these with --remedy, and the same --seeds"
        )
    return Regression(against, METRICS[comparison.metric], simultaneous(pairs), comparison.smallest)
