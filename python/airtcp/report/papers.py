"""The report on the five papers: one HTML page that needs no other file, and the same as data."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from airtcp import _core
from airtcp.papers.charts import (
    Chart,
    calibration_chart,
    calibration_errors,
    chart_of,
)
from airtcp.papers.cross import (
    Company,
    PairOutcome,
    cross_grid,
    pair_outcomes,
)
from airtcp.papers.evidence import evidence_table
from airtcp.papers.judge import JudgedClaim, gain_text
from airtcp.papers.judgement import Judgement
from airtcp.papers.outcomes import Outcomes, scenario_at
from airtcp.papers.paper import FigureSpec, Paper
from airtcp.papers.rules import Verdict
from airtcp.papers.windows import Window, watched
from airtcp.plot.charts import chart_figure, distance_figure
from airtcp.plot.matrix import matrix_figure
from airtcp.plot.verdicts import COLOURS, SIGNS, verdict_figure
from airtcp.plot.window import window_figure
from airtcp.report import ReportFigure, environment, report_figure
from airtcp.report.tables import Table
from airtcp.study.grid import GridResult, text_of

_FEW_TARGETS = 4
"""More facts than these make a calibration's chart too full to be read."""

TITLES = {
    1: "1 RTO factor",
    2: "2 delay injection",
    3: "3 NewZag",
    4: "4 dynamic ARQ",
    5: "5 WSC-TCP",
}
"""The papers by their remedies, as figures name them."""


@dataclass(frozen=True)
class ClaimSection:
    """A claim on the page: its verdict, its parts, and what explains it where it fails."""

    judged: JudgedClaim
    parts: Table
    evidence: Table | None
    why: str
    explained_by: str
    sets: str


@dataclass(frozen=True)
class PaperSection:
    """A paper on the page."""

    paper: Paper
    title: str
    claims: list[ClaimSection]
    calibrations: list[ReportFigure]
    figures: list[ReportFigure]
    sensitivities: list[tuple[str, Table]]
    today: list[str]


def write_papers_report(judgement: Judgement, directory: Path, command: str) -> Path:
    """Writes index.html, papers.json, verdicts.md and every figure; returns index.html's path.

    Raises:
        OSError: the directory cannot be written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "papers.json").write_text(
        json.dumps(judgement.as_json(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    (directory / "verdicts.md").write_text(verdict_lines(judgement), encoding="utf-8")
    grid, pairs = _cross(judgement)
    sections = [_section(judgement, paper, grid, directory) for paper in judgement.papers]
    overview = report_figure(
        directory,
        "verdicts",
        "All claims",
        "A tile is a claim; its section says what it is about.",
        partial(
            verdict_figure,
            [
                (TITLES.get(paper.about.number, paper.name), judgement.claims[paper.name])
                for paper in judgement.papers
            ],
        ),
        _overview_table(judgement),
    )
    matrix = None
    if grid is not None:
        matrix = report_figure(
            directory,
            "cross",
            "Every remedy on every paper's scenario",
            "The paired difference in goodput, of flows over their own lives, to the same sender "
            "without the remedy.",
            partial(matrix_figure, grid),
            _matrix_table(grid),
        )
    page = directory / "index.html"
    page.write_text(
        environment()
        .get_template("papers.html.j2")
        .render(
            judgement=judgement,
            sections=sections,
            overview=overview,
            matrix=matrix,
            pairs=_pairs_table(pairs) if pairs else None,
            verdicts=list(Verdict),
            colours={str(verdict): colour for verdict, colour in COLOURS.items()},
            signs={str(verdict): sign for verdict, sign in SIGNS.items()},
            command=command,
            engine_version=_core.engine_version,
            Verdict=Verdict,
        ),
        encoding="utf-8",
    )
    return page


def verdict_lines(judgement: Judgement) -> str:
    """A table in Markdown: how many claims of each paper have which verdict."""
    lines = [
        "| paper | " + " | ".join(verdict.value for verdict in Verdict) + " |",
        "|---|" + "---:|" * len(Verdict),
    ]
    for paper in judgement.papers:
        claims = judgement.claims[paper.name]
        counts = [
            " ".join(one.claim.id for one in claims if one.verdict is verdict) or "-"
            for verdict in Verdict
        ]
        title = TITLES.get(paper.about.number, paper.name)
        lines.append(f"| {title} | " + " | ".join(counts) + " |")
    totals = [str(judgement.count(verdict)) for verdict in Verdict]
    lines.append(f"| all {len(judgement.all_claims)} | " + " | ".join(totals) + " |")
    return "\n".join(lines) + "\n"


def _cross(judgement: Judgement) -> tuple[GridResult | None, list[PairOutcome]]:
    if judgement.cross is None or judgement.cross_outcomes is None:
        return None, []
    experiment = judgement.cross.experiment(quick=judgement.quick)
    outcomes = judgement.cross_outcomes
    return (
        cross_grid(judgement.cross, experiment, outcomes),
        pair_outcomes(judgement.cross, experiment, outcomes),
    )


def _section(
    judgement: Judgement, paper: Paper, grid: GridResult | None, directory: Path
) -> PaperSection:
    outcomes = judgement.outcomes[paper.name]
    figures = []
    for spec in paper.file.figures:
        name = f"{paper.name}-{spec.id}"
        if spec.kind == "window":
            figures.append(_window(paper, spec, outcomes, directory, name))
            continue
        chart = chart_of(paper, spec, outcomes)
        figures.append(
            report_figure(
                directory,
                name,
                spec.title,
                spec.caption,
                partial(chart_figure, chart),
                chart_table(chart),
            )
        )
    calibrations = []
    for number, calibration in enumerate(paper.file.calibrations, 1):
        chart = calibration_chart(paper, calibration, outcomes)
        errors = calibration_errors(paper, calibration, outcomes)
        nearest = min(errors, key=lambda place: errors[place])
        calibrations.append(
            report_figure(
                directory,
                f"{paper.name}-calibration-{number}",
                chart.title,
                f"{chart.caption} Nearest in these runs: {nearest}.",
                partial(chart_figure, chart)
                if len(chart.lines) <= _FEW_TARGETS
                else partial(distance_figure, errors, calibration.chosen),
                Table(
                    (chart.x_label, "mean distance from the paper's facts", ""),
                    [
                        (
                            str(place),
                            f"{100 * error:.1f} %",
                            "chosen" if place == calibration.chosen else "",
                        )
                        for place, error in errors.items()
                    ],
                ),
            )
        )
    return PaperSection(
        paper,
        TITLES.get(paper.about.number, paper.name),
        [_claim(judgement, paper, judged) for judged in judgement.claims[paper.name]],
        calibrations,
        figures,
        [_sensitivity(paper, index, outcomes) for index in range(len(paper.file.sensitivities))],
        _today(paper, grid),
    )


def _claim(judgement: Judgement, paper: Paper, judged: JudgedClaim) -> ClaimSection:
    failed = judged.verdict is not Verdict.REPRODUCED
    outcomes = judgement.outcomes[paper.name]
    return ClaimSection(
        judged,
        Table(
            ("where", "verdict", "ours", "the paper"),
            [
                (part.label or "-", str(part.verdict), part.ours, part.paper)
                for part in judged.parts
            ],
            4,
        ),
        evidence_table(paper, judged.claim, outcomes) if failed else None,
        judged.claim.why if failed else "",
        f"{paper.name}-{judged.claim.explained_by}" if judged.claim.explained_by else "",
        ", ".join(str(verdict) for verdict in judgement.sets.get(judged.claim.id, [])),
    )


def _sensitivity(paper: Paper, index: int, outcomes: Outcomes) -> tuple[str, Table]:
    spec = paper.file.sensitivities[index]
    experiment = paper.experiment(spec.experiment)
    rows: list[tuple[str, ...]] = [("the paper", *(gain.paper or "-" for gain in spec.gains))]
    for place in experiment.axis(spec.axis).places:
        cells = []
        for gain in spec.gains:
            difference = outcomes.difference(
                experiment,
                gain.measure,
                {**gain.at, spec.axis: place},
                gain.baseline,
                gain.treated,
            )
            cells.append(gain_text(difference) if difference else "n/a")
        rows.append((str(place), *cells))
    return spec.title, Table(("read", *(gain.title for gain in spec.gains)), rows)


def _today(paper: Paper, grid: GridResult | None) -> list[str]:
    """What our runs say of the paper's remedies with today's sender on the paper's own scenario."""
    if grid is None:
        return []
    own = [
        entry
        for entry in grid.entries
        if entry.link.startswith(str(paper.about.number))
        and entry.remedy.split(":")[0].split("+")[-1] in paper.about.remedies
        and entry.difference is not None
    ]
    sentences = []
    for stack in grid.grid.stacks:
        told = [
            f"{entry.remedy} {text_of(entry)} on {entry.link[2:]}"
            for entry in own
            if entry.stack == stack.name
        ]
        if told:
            sentences.append(f"With the {stack.name} sender: {'; '.join(told)}.")
    return sentences


def chart_table(chart: Chart) -> Table:
    """A chart's numbers: ours with half the 95 % interval, and the paper's where it has any."""
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


def _window(
    paper: Paper, spec: FigureSpec, outcomes: Outcomes, directory: Path, name: str
) -> ReportFigure:
    """Runs the first seed of each series once more, for its window against time."""
    experiment = paper.experiment(spec.experiment)
    seed = outcomes.seeds[experiment.id][0]
    windows: list[tuple[str, Window]] = []
    rows = []
    for series in spec.series:
        coordinates = experiment.coordinates(spec.at, series.at)
        _, window = watched(scenario_at(paper.folder, experiment, coordinates), seed)
        windows.append((series.name, window))
        mean = sum(window.cwnd_segments) / len(window.cwnd_segments)
        fifths = outcomes.values(experiment, "steps_four_fifths", spec.at, series.at) or [0.0]
        halves = outcomes.values(experiment, "steps_half", spec.at, series.at) or [0.0]
        rows.append((series.name, f"{mean:.1f}", f"{fifths[0]:.0f}", f"{halves[0]:.0f}"))
    table = Table(
        ("sender", "mean window, segments", "reductions to four fifths", "reductions to half"), rows
    )
    return report_figure(
        directory,
        name,
        spec.title,
        f"{spec.caption} Seed {seed}.",
        partial(window_figure, windows),
        table,
    )


def _overview_table(judgement: Judgement) -> Table:
    rows = []
    for paper in judgement.papers:
        claims = judgement.claims[paper.name]
        rows.append(
            (
                TITLES.get(paper.about.number, paper.name),
                *(
                    " ".join(one.claim.id for one in claims if one.verdict is verdict) or "-"
                    for verdict in Verdict
                ),
            )
        )
    return Table(("paper", *(str(verdict) for verdict in Verdict)), rows, 5)


def _matrix_table(grid: GridResult) -> Table:
    columns = [(link.name, stack.name) for link in grid.grid.links for stack in grid.grid.stacks]
    by = {(entry.link, entry.stack, entry.remedy): entry for entry in grid.entries}
    rows = [
        (remedy, *(text_of(by[(*column, remedy)]) for column in columns))
        for remedy in grid.grid.remedies
    ]
    return Table(("remedy", *(f"{link}, {stack}" for link, stack in columns)), rows)


def _pairs_table(pairs: Sequence[PairOutcome]) -> Table:
    """Every pair that combines or fights, with each alone."""
    rows = [
        (
            f"{pair.link}, {pair.stack}",
            f"{pair.one} + {pair.other}",
            str(pair.company),
            gain_text(pair.alone[0]) if pair.alone[0] else "n/a",
            gain_text(pair.alone[1]) if pair.alone[1] else "n/a",
            gain_text(pair.together) if pair.together else "n/a",
            gain_text(pair.against_better) if pair.against_better else "n/a",
            gain_text(pair.against_product) if pair.against_product else "n/a",
        )
        for pair in pairs
        if pair.company in {Company.COMBINE, Company.FIGHT}
    ]
    heads = (
        "where",
        "remedies",
        "they",
        "first alone",
        "second alone",
        "both",
        "over the better",
        "over both multiplied",
    )
    return Table(heads, rows, 3)
