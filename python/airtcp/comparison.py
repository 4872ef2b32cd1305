"""Comparisons: remedies against the scenario as written, with verdict, figure and report."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from airtcp._core import RunError, Scenario
from airtcp.study.compare import ComparedRuns, comparison_plan
from airtcp.study.dask import executor_at
from airtcp.study.everything import ALL
from airtcp.study.execute import execute
from airtcp.study.metrics import metric_named

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEFAULT_SEEDS = 10

Progress = Callable[[int, int], object]
"""Called with the number of cells finished and the number of all."""


class Comparison(ComparedRuns):
    """The finished cells of a comparison, and what they say."""

    @property
    def verdict(self) -> list[str]:
        """What the comparison shows, in plain sentences, the best remedy first."""
        from airtcp.study.verdict import verdict

        return verdict(self)

    @property
    def deployment(self) -> list[str]:
        """How the best remedy is had on a real system; empty where none raises the goodput."""
        from airtcp.study.deployment import deployment

        return deployment(self)

    def plot(self) -> "Figure":
        """Each remedy's goodput as paired difference to the baseline, with intervals."""
        from airtcp.report.comparison import difference_rows

        return difference_rows(self).figure()

    def report(
        self,
        directory: str | os.PathLike[str],
        command: str | None = None,
        *,
        png: bool = False,
    ) -> Path:
        """Writes index.html, comparison.csv and the figures; returns the path of index.html.

        Args:
            directory: made if absent.
            command: how this comparison was called, for the provenance.
            png: whether to write every figure as PNG too.

        Raises:
            OSError: the directory cannot be written.
        """
        from airtcp.report.comparison import write_report

        return write_report(self, Path(directory), command, png=png)

    def _repr_html_(self) -> str:
        from airtcp.report.comparison import fragment

        return fragment(self)


def compare(
    scenario: Scenario | str | os.PathLike[str],
    remedies: Sequence[str] = (ALL,),
    seeds: int | Sequence[int] = DEFAULT_SEEDS,
    settings: Mapping[str, object] | None = None,
    *,
    metric: str = "goodput",
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Runs a scenario as written and with each remedy, all on the same seeds.

    Args:
        scenario: a path, TOML text, or a `Scenario` (see `load_scenario`).
        remedies: what to compare; "a+b" applies two together. Left out, every remedy that has a
            place on the link, with intervals that hold for all of them at once.
        seeds: their number (1, 2, 3, ...) or the seeds themselves.
        settings: dotted key to value, applied to every cell.
        metric: what decides which remedy is best, one of `airtcp.study.metrics.METRICS`.
        out: a folder; finished cells are saved in its folder `cells`, and found there again.
        jobs: runs at the same time; None takes the processors this process may use.
        dask: the address of a Dask scheduler, whose workers then run the cells.
        progress: called at the start and after each cell.

    Raises:
        ScenarioError: the scenario, a setting or a remedy is wrong; before anything runs.
        RunError: a cell could not be finished; the others are finished and saved first.
        OSError: a cell cannot be saved.
    """
    metric_named(metric)
    planned = comparison_plan(scenario, remedies, seeds, settings)
    results = execute(
        planned.plan,
        out=None if out is None else Path(out),
        jobs=jobs,
        executor=executor_at(dask),
        progress=None if progress is None else lambda done, cells, _: progress(done, cells),
    )
    compared = planned.result(results, metric)
    if not compared.decisive:
        raise RunError(f'metric "{metric}": the runs of this scenario have none')
    return Comparison(**{field.name: getattr(compared, field.name) for field in fields(compared)})
