"""The numbers of a figure: each line's means with their intervals, and the paper's numbers."""

from airtcp.core.quantities import bit_rate_scale
from airtcp.pages.plot.charts import Chart, Line
from airtcp.papers.calibration import Calibrated
from airtcp.papers.estimates import level
from airtcp.papers.experiment import Experiment, Value
from airtcp.papers.measures import label_of
from airtcp.papers.outcomes import Outcomes
from airtcp.papers.paper import Calibration, FigureSpec, Paper, Series


def chart_of(paper: Paper, spec: FigureSpec, outcomes: Outcomes) -> Chart:
    """The numbers of a figure."""
    experiment = paper.experiment(spec.experiment)
    axis = experiment.axis(spec.x)
    x = tuple(axis.places)
    raw = [_line(experiment, spec, series, x, outcomes) for series in spec.series]
    is_gain = spec.kind == "gains"
    name = label_of(spec.measure)
    divisor, label = 1.0, f"gain in {name} (%)" if is_gain else name
    if spec.measure.endswith("_bps") and not is_gain:
        divisor, unit = bit_rate_scale(_largest(raw))
        label = f"{label} ({unit})"
    elif spec.measure.endswith("_Bps") and not is_gain:
        divisor, label = 1000.0, f"{label} (kB/s)"
    return Chart(
        spec.title,
        axis.label or axis.name,
        label,
        x,
        tuple(_scaled(line, divisor) for line in raw),
        len(outcomes.seeds[experiment.id]),
        spec.caption,
        is_gain,
    )


def calibration_chart(
    paper: Paper, calibration: Calibration, found: Calibrated, outcomes: Outcomes
) -> Chart:
    """The baseline's measurements at every place tried, relative to the paper's values."""
    experiment = paper.experiment(calibration.experiment)
    axis = experiment.axis(calibration.axis)
    lines = []
    for index, target in enumerate(calibration.targets):
        ratios = [found.ratios[place][index] for place in axis.places]
        name = ", ".join(
            [label_of(target.measure), *(f"{key} {place}" for key, place in target.at.items())]
        )
        lines.append(
            Line(name, tuple(ratios), tuple(0.0 for _ in ratios), tuple(None for _ in ratios))
        )
    return Chart(
        f"Calibration: {calibration.what}",
        axis.label or axis.name,
        "ours over the paper's",
        tuple(axis.places),
        tuple(lines),
        len(outcomes.seeds[experiment.id]),
        f"{calibration.source}. Chosen: {calibration.chosen}.",
    )


def _line(
    experiment: Experiment,
    spec: FigureSpec,
    series: Series,
    x: tuple[Value, ...],
    outcomes: Outcomes,
) -> Line:
    means: list[float | None] = []
    halves: list[float] = []
    measure = series.measure or spec.measure
    for place in x:
        at = {**spec.at, **series.at, spec.x: place}
        if spec.kind == "gains":
            before = {**at, **series.baseline}
            estimate = outcomes.gain(experiment, measure, {}, before, at)
        else:
            values = outcomes.values(experiment, measure, at)
            estimate = level(values) if values is not None else None
        means.append(estimate.value if estimate else None)
        halves.append(estimate.error_bar if estimate else 0.0)
    return Line(
        series.name,
        tuple(means),
        tuple(halves),
        tuple(series.paper.get(str(place)) for place in x),
    )


def _largest(lines: list[Line]) -> float:
    return max(
        (abs(mean) for line in lines for mean in (*line.means, *line.paper) if mean is not None),
        default=1.0,
    )


def _scaled(line: Line, divisor: float) -> Line:
    return Line(
        line.name,
        tuple(None if mean is None else mean / divisor for mean in line.means),
        tuple(half / divisor for half in line.halves),
        tuple(None if number is None else number / divisor for number in line.paper),
    )
