"""Grids: remedies on several links and several stacks, from a TOML file.

Every entry is compared with the same stack on the same link without the remedy, seed by seed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airtcp._core import ScenarioError, deployments
from airtcp.comparison.comparison_plan import MAX_SEEDS
from airtcp.comparison.own_metric import metric_of
from airtcp.comparison.statistics import Outcome, PairedDifference
from airtcp.core.files import FileError, read_toml
from airtcp.core.loading import load_scenario
from airtcp.core.rows import Rows
from airtcp.core.shipped import shipped
from airtcp.core.shown import InNotebook

if TYPE_CHECKING:
    import polars as pl


class StudyError(ScenarioError):
    """Invalid study file: names the key, the value found and the expected one."""


@dataclass(frozen=True)
class Setting:
    """A link or a stack: its name and its settings."""

    name: str
    settings: Mapping[str, object]
    scenario: Path | None = None


@dataclass(frozen=True)
class Grid:
    """Content of a study file."""

    name: str
    description: str
    seeds: int
    remedies: tuple[str, ...]
    links: tuple[Setting, ...]
    stacks: tuple[Setting, ...]
    metric: str = "goodput"
    """The metric to compare unless another is requested."""
    folder: Path | None = None
    """The folder of the file, where a metric's module is searched first."""


@dataclass(frozen=True)
class Entry:
    """One remedy on one link and one stack.

    `difference` is that of the study's metric, goodput unless another was requested. It and
    `timeouts` are paired with the baseline; None if the remedy does not apply to the link, with the
    reason in `refusal`. `radio_right` and `congestion_right` are the shares of loss events of that
    cause which the sender classified correctly; None if it does not classify or saw no such event.
    """

    link: str
    stack: str
    remedy: str
    goodput_bps: float | None = None
    difference: PairedDifference | None = None
    timeouts: PairedDifference | None = None
    radio_events: int = 0
    radio_right: float | None = None
    congestion_events: int = 0
    congestion_right: float | None = None
    refusal: str = ""
    counters: Mapping[str, float] = field(default_factory=dict)
    """Means of the counters of a control in BPF, by column."""
    warning: str = ""
    """Reports windows and thresholds of 0 segments that a control in BPF set."""


@dataclass(frozen=True)
class GridResult(InNotebook):
    """All entries of a grid, in the order of its file."""

    grid: Grid
    seeds: int
    entries: tuple[Entry, ...]
    baselines: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """The mean of the metric without a remedy, by link and stack; absent if no run has it."""
    metric: str = "goodput"
    """One of `airtcp.comparison.metrics.METRICS`."""
    unstored: OSError | None = None
    """The error that kept finished runs from being stored in `out`; None if stored."""

    @property
    def warnings(self) -> list[str]:
        """Windows and thresholds of 0 segments that controls set, by link and stack."""
        return [
            f"{entry.link}, {entry.stack}: {entry.warning}"
            for entry in self.entries
            if entry.warning
        ]

    def table(self) -> "pl.DataFrame":
        """One row per entry: differences in per cent with half the 95 % interval."""
        return self.rows.frame()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table for any reader of Arrow's C stream, such as pandas, DuckDB and pyarrow."""
        return self.rows.__arrow_c_stream__(requested_schema)

    @cached_property
    def rows(self) -> Rows:
        """The table, whether Polars is installed or not."""
        names = dict.fromkeys(name for entry in self.entries for name in entry.counters)
        rows = (
            _row(entry) | {key: entry.counters.get(key) for key in names} for entry in self.entries
        )
        return Rows(rows, _TYPES | dict.fromkeys(names, "float64"))


def load_grid(path: Path) -> Grid:
    """Reads a study file.

    Raises:
        StudyError: a key is missing, unknown or of the wrong type.
        OSError: the file cannot be read.
    """
    try:
        document = read_toml(path)
    except FileError as error:
        raise StudyError(str(error)) from error
    known = {"name", "description", "seeds", "remedies", "metric", "link", "stack"}
    for key in document.keys() - known:
        raise StudyError(f"{path}: unknown key {key!r}: expected one of {', '.join(sorted(known))}")
    remedies = document.get("remedies")
    if not isinstance(remedies, list) or not all(isinstance(one, str) for one in remedies):
        raise StudyError(f"{path}: remedies: expected a list of names, as in airtcp list remedies")
    seeds = document.get("seeds", 10)
    if not isinstance(seeds, int) or isinstance(seeds, bool) or not 1 <= seeds <= MAX_SEEDS:
        raise StudyError(f"{path}: seeds = {seeds!r}: expected a number from 1 to {MAX_SEEDS}")
    return Grid(
        str(document.get("name", path.stem)),
        str(document.get("description", "")),
        seeds,
        tuple(remedies),
        tuple(_setting(path, "link", one) for one in _tables(path, document, "link")),
        tuple(_setting(path, "stack", one) for one in _tables(path, document, "stack")),
        _metric(path, document.get("metric", "goodput")),
        path.parent,
    )


def check_grid(grid: Grid) -> None:
    """Checks every link with every stack, and the remedies' names, without a run.

    Raises:
        ScenarioError: one of them is wrong.
    """
    for remedy in grid.remedies:
        deployments(remedy)
    for link in grid.links:
        for stack in grid.stacks:
            assert link.scenario is not None
            load_scenario(link.scenario, combined(link, stack))


def _metric(path: Path, name: object) -> str:
    if not isinstance(name, str):
        raise StudyError(f'{path}: metric = {name!r}: expected a name or "module:function"')
    try:
        return metric_of(name, path.parent).name
    except ScenarioError as error:
        raise StudyError(f"{path}: {error}") from error


def _tables(path: Path, document: dict[str, Any], key: str) -> list[dict[str, Any]]:
    tables = document.get(key)
    if (
        not isinstance(tables, list)
        or not all(isinstance(one, dict) for one in tables)
        or not tables
    ):
        raise StudyError(f"{path}: expected at least one [[{key}]]")
    return tables


def _setting(path: Path, kind: str, table: dict[str, Any]) -> Setting:
    known = {"name", "settings"} | ({"scenario"} if kind == "link" else set())
    for key in table.keys() - known:
        raise StudyError(
            f"{path}: {kind}.{key}: unknown key; expected one of {', '.join(sorted(known))}"
        )
    if not isinstance(table.get("settings", {}), dict):
        raise StudyError(f'{path}: {kind}.settings: expected a table, as {{ duration = "60 s" }}')
    name = table.get("name")
    if not isinstance(name, str):
        raise StudyError(f'{path}: a [[{kind}]] has no name: add name = "…"')
    scenario = None
    if kind == "link":
        if not isinstance(table.get("scenario"), str):
            raise StudyError(
                f'{path}: link {name!r}: expected scenario = "FILE.toml", or the name of one that '
                "comes with airtcp"
            )
        scenario = _scenario(path, table["scenario"])
    return Setting(name, table.get("settings", {}), scenario)


def _scenario(path: Path, source: str) -> Path:
    """The scenario of a link: a file, relative to the study's folder, or a shipped scenario.

    Raises:
        StudyError: the name of a shipped scenario is also a file, so it is ambiguous.
    """
    file = (path.parent / source).resolve()
    known = shipped("scenarios")
    if source in known and file.is_file():
        raise StudyError(
            f'{path}: scenario = "{source}": comes with airtcp and is a file here too: say '
            f'"./{source}" for the file'
        )
    return known.get(source, file)


def combined(link: Setting, stack: Setting) -> dict[str, object]:
    """Settings of a link and a stack in the order of application: whole tables first."""
    settings = {**link.settings, **stack.settings}
    return dict(sorted(settings.items(), key=lambda item: not isinstance(item[1], dict)))


_TYPES = {
    **dict.fromkeys(("link", "stack", "remedy"), "string"),
    **dict.fromkeys(("goodput_bps", "difference_percent", "half_width_percent"), "float64"),
    "outcome": "string",
    **dict.fromkeys(("baseline", "treated", "timeouts_baseline", "timeouts"), "float64"),
    "radio_events": "int64",
    "radio_right": "float64",
    "congestion_events": "int64",
    "congestion_right": "float64",
    "refusal": "string",
}


def _row(entry: Entry) -> dict[str, object]:
    difference, timeouts = entry.difference, entry.timeouts
    return {
        "link": entry.link,
        "stack": entry.stack,
        "remedy": entry.remedy,
        "goodput_bps": entry.goodput_bps,
        "difference_percent": difference and difference.mean_percent,
        "half_width_percent": difference and difference.half_width_percent,
        "outcome": str(difference.outcome) if difference else "does not apply",
        "baseline": difference and difference.baseline_mean,
        "treated": difference and difference.treated_mean,
        "timeouts_baseline": timeouts and timeouts.baseline_mean,
        "timeouts": timeouts and timeouts.treated_mean,
        "radio_events": entry.radio_events,
        "radio_right": entry.radio_right,
        "congestion_events": entry.congestion_events,
        "congestion_right": entry.congestion_right,
        "refusal": entry.refusal,
    }


def text_of(entry: Entry) -> str:
    """An entry as a table cell: `+8.3 ± 1.2 %`; differences that are not shown in brackets."""
    difference = entry.difference
    if difference is None:
        return "n/a"
    mean, half = difference.mean_percent, difference.half_width_percent
    if difference.outcome is Outcome.IDENTICAL:
        return "the same"
    if mean is None:
        return "no baseline"
    if half is None:
        return f"{mean:+.1f} %"
    text = f"{mean:+.1f} ± {half:.1f} %"
    return f"({text})" if difference.outcome is Outcome.NO_DIFFERENCE_SHOWN else text
