"""Sections of a paper's page: its claims, its figures and tables, and why claims fail."""

from dataclasses import dataclass

from airtcp.pages.figures import PlannedFigure, ReportFigure
from airtcp.pages.papers.charts import calibration_chart, chart_of
from airtcp.pages.papers.claims import ClaimLine, Reason, claim_lines, reasons
from airtcp.pages.papers.readings import best_reading, facts, open_points
from airtcp.pages.plot.charts import Chart, Distances
from airtcp.pages.plot.svg import Drawing
from airtcp.pages.plot.window import WindowLine, Windows
from airtcp.pages.tables import Table
from airtcp.papers.calibration import Calibrated, calibrated, was_run
from airtcp.papers.carry_out import scenario_of
from airtcp.papers.experiment import Value
from airtcp.papers.judgement import Judgement
from airtcp.papers.outcomes import Outcomes
from airtcp.papers.paper import Calibration, FigureSpec, Paper
from airtcp.papers.sampled import watched
from airtcp.papers.sensitivity import sensitivity_tables
from airtcp.papers.today import ranked_today, today_sentences

_FEW_TARGETS = 4
"""Maximum number of facts for a readable calibration chart."""


@dataclass(frozen=True)
class PaperSection:
    """A paper on its page."""

    paper: Paper
    title: str
    lines: list[ClaimLine]
    reasons: list[Reason]
    calibrations: list[ReportFigure]
    figures: list[ReportFigure]
    sensitivities: list[tuple[str, Table]]
    today: str
    """Its lesson for a practitioner."""
    with_todays_sender: list[str]
    open_points: Table
    best_reading: list[str]
    facts: Table


def figures_of(paper: Paper, outcomes: Outcomes) -> tuple[list[PlannedFigure], list[PlannedFigure]]:
    """The figures on the page of a paper: of its calibrations, and of its experiments.

    Only figures with at least one run.
    """
    calibrations = [
        _calibration(paper, number, calibration, outcomes)
        for number, calibration in enumerate(paper.file.calibrations, 1)
        if was_run(paper, calibration, outcomes)
    ]
    figures = [
        _figure(paper, spec, outcomes)
        for spec in paper.file.figures
        if any(name == spec.experiment for name, _ in outcomes.measured)
    ]
    return calibrations, figures


def section_of(
    judgement: Judgement,
    paper: Paper,
    calibrations: list[ReportFigure],
    figures: list[ReportFigure],
) -> PaperSection:
    """Everything on the page of a paper, with its figures already drawn."""
    over = judgement.readings[paper.name]
    return PaperSection(
        paper,
        paper.short_title,
        claim_lines(judgement, paper),
        reasons(judgement, paper),
        calibrations,
        figures,
        [
            (table.title, Table(table.columns, table.rows))
            for table in sensitivity_tables(paper, judgement.outcomes[paper.name])
            if not judgement.quick
        ],
        judgement.today(paper).strip(),
        _with_todays_sender(judgement, paper),
        open_points(over),
        best_reading(over),
        facts(paper, over),
    )


def _figure(paper: Paper, spec: FigureSpec, outcomes: Outcomes) -> PlannedFigure:
    name = f"{paper.name}-{spec.id}"
    if spec.kind == "window":
        return _window(paper, spec, outcomes, name)
    chart = chart_of(paper, spec, outcomes)
    return PlannedFigure(name, spec.title, spec.caption, chart, chart_table(chart))


def _calibration(
    paper: Paper, number: int, calibration: Calibration, outcomes: Outcomes
) -> PlannedFigure:
    found = calibrated(paper, calibration, outcomes)
    chart = calibration_chart(paper, calibration, found, outcomes)
    errors = found.errors
    drawing: Drawing = chart
    if len(chart.lines) > _FEW_TARGETS:
        distances = tuple((str(place), error) for place, error in errors.items())
        drawing = Distances(distances, str(calibration.chosen))
    return PlannedFigure(
        f"{paper.name}-calibration-{number}",
        chart.title,
        f"{chart.caption} {_identified(found)}",
        drawing,
        Table(
            (chart.x_label, "mean distance from the paper's facts", ""),
            [
                (
                    str(place),
                    f"{100 * error:.1f} %",
                    _place_is(place, calibration.chosen, found),
                )
                for place, error in errors.items()
            ],
        ),
    )


def _identified(found: Calibrated) -> str:
    """Values that the calibration identifies, and values that it does not."""
    if found.identifies:
        return f"Nearest in these runs: {found.alike[0]}; every other is further off than noise."
    return f"Not told apart from the nearest: {'; '.join(map(str, found.alike[1:]))}."


def _place_is(place: Value, chosen: Value, found: Calibrated) -> str:
    words = ["chosen"] if place == chosen else []
    if place == found.alike[0]:
        words.append("nearest")
    elif place in found.alike:
        words.append("as near, within noise")
    return ", ".join(words)


def _with_todays_sender(judgement: Judgement, paper: Paper) -> list[str]:
    """Every remedy with today's sender on the paper's links, the paper's remedies included."""
    cross, outcomes = judgement.cross, judgement.cross_outcomes
    if cross is None or outcomes is None:
        return []
    experiment = cross.experiment(quick=judgement.quick)
    return [
        sentence
        for ranked in ranked_today(cross, experiment, outcomes, paper)
        for sentence in today_sentences(ranked, paper.about.remedies)
    ]


def chart_table(chart: Chart) -> Table:
    """A chart's numbers: ours with half the 95 % interval, and the paper's where available."""
    columns: list[str] = [chart.x_label]
    for line in chart.lines:
        columns.append(line.name)
        if any(number is not None for number in line.paper):
            columns.append("the paper")
    rows = []
    for index, place in enumerate(chart.x):
        cells = [str(place)]
        for line in chart.lines:
            mean, half = line.means[index], line.halves[index]
            cells.append("n/a" if mean is None else f"{mean:.4g} ± {half:.2g}")
            if any(number is not None for number in line.paper):
                number = line.paper[index]
                cells.append("-" if number is None else f"{number:g}")
        rows.append(tuple(cells))
    return Table(tuple(columns), rows)


def _window(paper: Paper, spec: FigureSpec, outcomes: Outcomes, name: str) -> PlannedFigure:
    """Runs the first seed of each series a second time, for its window against time."""
    experiment = paper.experiment(spec.experiment)
    seed = outcomes.seeds[experiment.id][0]
    lines: list[WindowLine] = []
    rows = []
    for series in spec.series:
        point = experiment.point(experiment.coordinates(spec.at, series.at))
        _, window = watched(scenario_of(paper.folder, point), seed)
        lines.append(WindowLine(series.name, tuple(window.time_s), tuple(window.cwnd_segments)))
        mean = sum(window.cwnd_segments) / len(window.cwnd_segments)
        fifths = outcomes.values(experiment, "steps_four_fifths", spec.at, series.at) or [0.0]
        halves = outcomes.values(experiment, "steps_half", spec.at, series.at) or [0.0]
        rows.append((series.name, f"{mean:.1f}", f"{fifths[0]:.0f}", f"{halves[0]:.0f}"))
    table = Table(
        ("sender", "mean window, segments", "reductions to four fifths", "reductions to half"), rows
    )
    caption = f"{spec.caption} Seed {seed}."
    return PlannedFigure(name, spec.title, caption, Windows(tuple(lines)), table)
