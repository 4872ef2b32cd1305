"""Range of a figure's lines over the voting readings, and the line of the best reading.

The default's line is known with all seeds; the others with the few seeds of their judgement.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from airtcp.papers.experiment import Experiment, Value
from airtcp.papers.outcomes import Outcomes
from airtcp.papers.paper import FigureSpec, Paper, Series
from airtcp.papers.readings import Reading

Bands = dict[tuple[str, str], "Band"]
"""By the figure's id and the name of the line."""


@dataclass(frozen=True)
class Band:
    """The lowest and the highest mean of all readings at each place of x, and the best reading's.

    None if no reading ran the point.
    """

    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    best: tuple[float | None, ...]


def mean_at(
    experiment: Experiment, spec: FigureSpec, series: Series, place: Value, outcomes: Outcomes
) -> float | None:
    """A line's mean at a place of x: a measurement, or a gain in per cent; None if not run."""
    at = {**spec.at, **series.at, spec.x: place}
    measure = series.measure or spec.measure
    if spec.kind == "gains":
        gain = outcomes.gain(experiment, measure, {}, {**at, **series.baseline}, at)
        return gain.value if gain else None
    values = outcomes.values(experiment, measure, at)
    return sum(values) / len(values) if values else None


def bands_of(
    paper: Paper, readings: Sequence[Reading], best: Reading, of: Callable[[Reading], Outcomes]
) -> Bands:
    """The bands of a paper's figures, over the voting readings; `of` has their runs."""
    lines = [
        (spec, series)
        for spec in paper.file.figures
        if spec.kind != "window"
        for series in spec.series
    ]
    found: dict[tuple[str, str], list[list[float | None]]] = {}
    of_best: dict[tuple[str, str], list[float | None]] = {}
    for reading in readings:
        outcomes = of(reading)
        for spec, series in lines:
            experiment = paper.experiment(spec.experiment)
            places = experiment.axis(spec.x).places
            means = [mean_at(experiment, spec, series, place, outcomes) for place in places]
            found.setdefault((spec.id, series.name), []).append(means)
            if reading == best:
                of_best[spec.id, series.name] = means
    return {
        line: Band(
            tuple(_of_place(min, column) for column in zip(*rows, strict=True)),
            tuple(_of_place(max, column) for column in zip(*rows, strict=True)),
            tuple(of_best.get(line, ())),
        )
        for line, rows in found.items()
    }


def _of_place(
    choose: Callable[[list[float]], float], means: Sequence[float | None]
) -> float | None:
    known = [mean for mean in means if mean is not None]
    return choose(known) if known else None
