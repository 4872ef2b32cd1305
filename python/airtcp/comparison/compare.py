"""`airtcp.compare`: remedies against the scenario as written."""

import os
import warnings
from collections.abc import Mapping, Sequence

from airtcp._core import Scenario
from airtcp.comparison.compared import Comparison
from airtcp.comparison.everything import ALL
from airtcp.comparison.metrics import Metric
from airtcp.comparison.own_metric import OwnMetric
from airtcp.comparison.ranking import SMALLEST_PERCENT
from airtcp.comparison.run import Progress, run_comparison
from airtcp.comparison.sequential import Rounds
from airtcp.core.loading import remedy_names


class UnstoredWarning(UserWarning):
    """Finished runs could not be stored: the disk is full."""


def compare(
    scenario: Scenario | str | os.PathLike[str],
    remedies: Sequence[str] | str = (ALL,),
    seeds: int | Sequence[int] | None = None,
    settings: Mapping[str, object] | None = None,
    *,
    bpf: str | os.PathLike[str] | None = None,
    metric: str | Metric | OwnMetric = "goodput",
    can: str = "all",
    smallest: float = SMALLEST_PERCENT,
    rounds: Rounds | None = None,
    harm: bool = False,
    horizon: bool = False,
    out: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Runs a scenario as written and with each remedy, all on the same seeds.

    Args:
        scenario: a path, TOML text, or a `Scenario` (see `load_scenario`).
        remedies: names of remedies, one or several; "a+b" applies two together. None takes every
            remedy that applies to the link, with intervals that hold jointly.
        seeds: number of seeds (1, 2, 3, ...) or the seeds themselves. None runs rounds until the
            answer is decided.
        settings: dotted key to value, applied to every cell.
        bpf: a congestion control for the kernel's BPF, `my.bpf.o` or `my.bpf.c`, as one more
            remedy; alone where no other is named.
        metric: the metric that ranks the remedies: one of `airtcp.comparison.metrics.METRICS`, or a
            function of a run's summary (more is better); an `airtcp.comparison.metrics.Metric` can
            define the opposite, and a unit.
        can: what you may change, one or several with commas of `my-machine`, `server`,
            `access-point`, `sender`, `receiver`, `all`: the best of a search is the best deployable
            one.
        smallest: the smallest effect worth having, in per cent: a smaller one is excluded.
        rounds: the bounds of the rounds if `seeds` is None.
        harm: whether to measure the remedies' cost to others too, by runs in which an unchanged
            flow competes with one that has the remedy. In a search, for remedies worth a row; in
            rounds, on more seeds until the best remedy's harm is decided.
        horizon: whether to run the best remedy longer, too, to show whether its gain lasts.
        out: a folder; finished cells are stored in and reused from its folder `cells`.
        jobs: number of parallel runs; None takes the processors this process may use.
        dask: the address of a Dask scheduler; its workers then run the cells.
        progress: called at the start and after each cell.

    Raises:
        ScenarioError: the scenario, a setting or a remedy is wrong; before anything runs.
        RunError: a cell could not be finished; the others are finished and saved first.
        OSError: `out` cannot be created or written. If it is full later, the comparison has the
            error as `unstored`, with a warning.
    """
    names = remedy_names(remedies)
    if bpf is not None:
        from airtcp.core.bpf import remedy

        names = [*(name for name in names if name != ALL), remedy(bpf)]
    compared = run_comparison(
        scenario,
        names,
        seeds,
        settings,
        metric=metric,
        can=can,
        smallest=smallest,
        rounds=rounds,
        harm=harm,
        horizon=horizon,
        out=out,
        jobs=jobs,
        dask=dask,
        progress=progress,
    )
    if compared.unstored is not None:
        warnings.warn(f"{compared.unstored}", UnstoredWarning, stacklevel=2)
    return compared
