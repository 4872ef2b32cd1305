"""A scenario as written against each remedy, on common seeds."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from airtcp import _core
from airtcp._core import RunError, Scenario, ScenarioError
from airtcp.scenarios import load_scenario
from airtcp.study.cells import BASELINE, Cell, CellStore, cell_frame, cell_key
from airtcp.study.statistics import Outcome, PairedDifference, paired_difference

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEFAULT_SEEDS = 10

METRICS = ("goodput_bps", "retransmitted_share", "timeouts", "timeouts_spurious")
"""The measurements of a run that a comparison pairs; the first decides which remedy is best."""

Progress = Callable[[int, int], object]
"""Called with the number of cells finished and the number of all."""


@dataclass(frozen=True)
class Comparison:
    """The finished cells of a comparison, and what they say.

    `remedies` begins with "baseline", the scenario as written, and keeps the order given.
    """

    scenario: Scenario
    remedies: tuple[str, ...]
    seeds: tuple[int, ...]
    finished: tuple[Cell, ...]

    @cached_property
    def cells(self) -> pl.DataFrame:
        """One row a cell: remedy, seed, totals, digest, and the whole summary as JSON."""
        return cell_frame(self.finished)

    def values(self, remedy: str, metric: str) -> list[float]:
        """The measurements of one remedy in the order of the seeds."""
        chosen = self.cells.filter(pl.col("remedy") == remedy).sort("seed")
        return [float(value) for value in chosen[metric]]

    @cached_property
    def differences(self) -> dict[str, dict[str, PairedDifference]]:
        """For each remedy but the baseline, the paired difference of each of `METRICS`."""
        return {
            remedy: {
                metric: paired_difference(
                    self.values(BASELINE, metric), self.values(remedy, metric)
                )
                for metric in METRICS
            }
            for remedy in self.remedies[1:]
        }

    @cached_property
    def best(self) -> str:
        """The remedy with the highest mean goodput, among those shown to raise it if any is."""
        goodput = {remedy: by["goodput_bps"] for remedy, by in self.differences.items()}
        shown = [name for name, by in goodput.items() if by.outcome is Outcome.HIGHER]
        return max(shown or goodput, key=lambda name: goodput[name].mean)

    @cached_property
    def table(self) -> pl.DataFrame:
        """One row a remedy, baseline first: means over the seeds and the goodput's difference."""
        means = self.cells.group_by("remedy").agg(pl.col(*_MEANS).mean())
        rows = [
            {"remedy": BASELINE, "n": len(self.seeds)},
            *(
                {"remedy": remedy, **_difference_row(by["goodput_bps"])}
                for remedy, by in self.differences.items()
            ),
        ]
        return pl.DataFrame(rows, schema=_TABLE_SCHEMA).join(
            means, on="remedy", how="left", maintain_order="left"
        )

    @property
    def verdict(self) -> list[str]:
        """What the comparison shows, in plain sentences, the best remedy first."""
        from airtcp.study.verdict import verdict

        return verdict(self)

    def plot(self) -> "Figure":
        """Each remedy's goodput as paired difference to the baseline, with intervals."""
        from airtcp.plot.comparison import comparison_figure

        return comparison_figure(self)

    def report(self, directory: str | os.PathLike[str], command: str | None = None) -> Path:
        """Writes index.html, comparison.csv and the figures; returns the path of index.html.

        Args:
            directory: made if absent.
            command: how this comparison was called, for the provenance.

        Raises:
            OSError: the directory cannot be written.
        """
        from airtcp.report import write_report

        return write_report(self, Path(directory), command)

    def _repr_html_(self) -> str:
        from airtcp.report import fragment

        return fragment(self)


def compare(
    scenario: Scenario | str | os.PathLike[str],
    remedies: Sequence[str],
    seeds: int | Sequence[int] = DEFAULT_SEEDS,
    settings: Mapping[str, object] | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Runs a scenario as written and with each remedy, all on the same seeds.

    Args:
        scenario: a path, TOML text, or a `Scenario` (see `load_scenario`).
        remedies: what to compare, at least one; "a+b" applies two together.
        seeds: their number (1, 2, 3, ...) or the seeds themselves.
        settings: dotted key to value, applied to every cell.
        out: a folder; finished cells are saved in its folder `cells`, and found there again.
        jobs: runs at the same time; None takes the processors this process may use.
        progress: called at the start and after each cell.

    Raises:
        ScenarioError: the scenario, a setting or a remedy is wrong; before anything runs.
        RunError: a cell could not be finished; the others are finished and saved first.
        OSError: a cell cannot be saved.
    """
    chosen = tuple(range(1, seeds + 1)) if isinstance(seeds, int) else tuple(sorted(set(seeds)))
    if not chosen:
        raise ScenarioError("seeds: expected at least one")
    written = load_scenario(scenario, settings)
    variants = {BASELINE: written} | _variants(written, remedies)
    store = CellStore(Path(out) / "cells") if out is not None else None

    scenario_hash = written.hash()
    keys = {
        (remedy, seed): cell_key(scenario_hash, "" if remedy == BASELINE else remedy, seed)
        for seed in chosen  # seed by seed: what is finished after a kill is whole pairs
        for remedy in variants
    }
    finished: dict[tuple[str, int], Cell] = {}
    for cell, key in keys.items():
        found = store.get(key) if store else None
        if found:
            finished[cell] = found
    missing = [cell for cell in keys if cell not in finished]
    if progress:
        progress(len(finished), len(keys))

    def on_done(index: int, result: _core.RunResult) -> None:
        cell = Cell(keys[missing[index]], result.summary())
        if store:
            store.put(cell)
        finished[missing[index]] = cell
        if progress:
            progress(len(finished), len(keys))

    results = _core.run_many(
        [(variants[remedy], seed) for remedy, seed in missing],
        jobs or _processors(),
        on_done,
    )
    for (remedy, seed), result in zip(missing, results, strict=True):
        if isinstance(result, RunError):
            raise RunError(f"{remedy}, seed {seed}: {result}")
    return Comparison(written, tuple(variants), chosen, tuple(finished[cell] for cell in keys))


def _variants(written: Scenario, remedies: Sequence[str]) -> dict[str, Scenario]:
    """The scenario under each remedy, every name checked."""
    if not remedies:
        raise ScenarioError("no remedy to compare: `airtcp remedies` lists them")
    variants: dict[str, Scenario] = {}
    for remedy in remedies:
        if remedy in variants:
            raise ScenarioError(f'remedy "{remedy}" is named twice')
        variants[remedy] = written.with_remedies(remedy)
    return variants


def _processors() -> int:
    """The processors this process may use, which in a container are fewer than there are."""
    return len(os.sched_getaffinity(0))


_MEANS = (
    "goodput_bps",
    "retransmitted_share",
    "timeouts",
    "timeouts_spurious",
    "fast_retransmits",
)

_TABLE_SCHEMA = pl.Schema(
    {
        "remedy": pl.String,
        "n": pl.UInt32,
        "difference_bps": pl.Float64,
        "ci95_low_bps": pl.Float64,
        "ci95_high_bps": pl.Float64,
        "difference_percent": pl.Float64,
        "ci95_low_percent": pl.Float64,
        "ci95_high_percent": pl.Float64,
        "outcome": pl.String,
    }
)


def _difference_row(goodput: PairedDifference) -> dict[str, object]:
    low, high = goodput.interval or (None, None)
    low_percent, high_percent = goodput.interval_percent or (None, None)
    return {
        "n": goodput.n,
        "difference_bps": goodput.mean,
        "ci95_low_bps": low,
        "ci95_high_bps": high,
        "difference_percent": goodput.mean_percent,
        "ci95_low_percent": low_percent,
        "ci95_high_percent": high_percent,
        "outcome": goodput.outcome.value,
    }
