"""User-defined metrics: a function of a run's summary, in Python or as "module:function"."""

import importlib
import sys
from collections.abc import Callable
from math import isfinite
from pathlib import Path

from airtcp._core import RunError, ScenarioError
from airtcp.comparison.metrics import METRICS, Metric, metric_named
from airtcp.comparison.ranking.aims import Aim
from airtcp.core.summary import RunSummary

OwnMetric = Callable[[RunSummary], float | None]
"""Takes a run's summary, as in `Run.summary`; returns None if the run has no value."""


def metric_of(metric: "str | Metric | OwnMetric", folder: Path | None = None) -> Metric:
    """Resolves a metric and registers it by name.

    Args:
        metric: a name in `METRICS`, a function (more is better), a `Metric`, or one of the latter
            two as "module:name".
        folder: where to search a module first.

    Raises:
        ScenarioError: no metric has that name, or it cannot be imported.
    """
    if isinstance(metric, str):
        if ":" not in metric:
            return metric_named(metric)
        metric = _imported(metric, folder)
    if not isinstance(metric, Metric):
        metric = _of_function(metric)
    return _kept(metric)


def deciding_metric(metric: str | None, aim: Aim | None, folder: Path) -> str:
    """The name of the metric that decides: as named, else for the aim, else goodput.

    `folder` is where a module of the user's is searched first.

    Raises:
        ScenarioError: both are given, or the metric is unknown.
    """
    if metric is not None and aim is not None:
        raise ScenarioError(
            f"--for {aim} decides by {aim.metric}, and --metric {metric} says another; give one"
        )
    return aim.metric if aim is not None else metric_of(metric or "goodput", folder).name


def _of_function(function: OwnMetric) -> Metric:
    name = getattr(function, "__name__", type(function).__name__).strip("<>")
    return Metric(
        name.replace("_", "-"),
        name.replace("_", " "),
        True,
        _checked(name, function),
        lambda value: f"{value:.4g}",
        may_cost_goodput=False,
        function=function,
    )


def _checked(name: str, function: OwnMetric) -> OwnMetric:
    def measured(summary: RunSummary) -> float | None:
        try:
            value = function(summary)
        except Exception as error:
            raise RunError(f'metric "{name}": {type(error).__name__}: {error}') from error
        if value is None:
            return None
        number: object = value
        if not isinstance(number, int | float) or not isfinite(number):
            raise RunError(f'metric "{name}" = {value!r}: expected a finite number or None')
        return float(value)

    return measured


def _kept(metric: Metric) -> Metric:
    """Registers a metric under a unique name: comparisons refer to metrics by name."""
    name, count = metric.name, 2
    while name in METRICS and METRICS[name].function is not (metric.function or metric.of):
        name, count = f"{metric.name}-{count}", count + 1
    if name in METRICS:
        return METRICS[name]
    fields = vars(metric) | {"name": name, "function": metric.function or metric.of}
    METRICS[name] = Metric(**fields)
    return METRICS[name]


def _imported(spec: str, folder: Path | None) -> "Metric | OwnMetric":
    module_name, _, name = spec.partition(":")
    if folder is not None:
        sys.path.insert(0, str(folder.resolve()))
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        raise ScenarioError(
            f'metric "{spec}": the module {module_name} cannot be imported '
            f"({type(error).__name__}: {error})"
        ) from error
    finally:
        if folder is not None:
            sys.path.remove(str(folder.resolve()))
    found = getattr(module, name, None)
    if not callable(found) and not isinstance(found, Metric):
        raise ScenarioError(
            f'metric "{spec}": expected a function of a run\'s summary named {name!r} in '
            f"{module_name}"
        )
    return found  # type: ignore[no-any-return]
