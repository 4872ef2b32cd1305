"""`airtcp study`: remedies on several links and stacks, from a file."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from airtcp._core import ScenarioError
from airtcp.cli.console import (
    AsJson,
    Bpf,
    DaskAddress,
    FigureWidth,
    Jobs,
    MetricName,
    WithPng,
    command_line,
    figure_inches,
    out,
    out_option,
    report_folder,
)
from airtcp.cli.errors import clear_errors
from airtcp.cli.progress import progress_bar
from airtcp.cli.unwritten import AnswerFirst
from airtcp.comparison.grid import GridResult, load_grid
from airtcp.comparison.grid_run import run_grid
from airtcp.comparison.own_metric import metric_of
from airtcp.core.bpf import with_own
from airtcp.core.shipped import find
from airtcp.pages.columns import printable


def study_command(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="A study: a TOML file, or a name from `airtcp list scenarios`."
        ),
    ],
    seeds: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, max=100_000, help="Seeds 1 to N in place of the file's number."
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        out_option(
            "Writes DIR/index.html (the report), DIR/study.csv, DIR/study.md, the figures and "
            "DIR/cells, from which an interrupted study goes on."
        ),
    ] = None,
    metric: MetricName = None,
    bpf: Bpf = None,
    jobs: Jobs = None,
    dask: DaskAddress = None,
    png: WithPng = False,
    figure_width: FigureWidth = None,
    as_json: AsJson = False,
) -> None:
    """Compare remedies on every link and stack that a study file names.

    Each is compared with the same stack on the same link without it, seed by seed. Effects in
    brackets are not shown to differ from zero at 95 %.

    [bold]Examples[/bold]

    airtcp study then-and-now --out out/then-and-now

    airtcp study classifiers --seeds 5

    airtcp study then-and-now --metric rtt-p95

    airtcp study then-and-now --bpf my.bpf.c
    """
    with clear_errors():
        try:
            grid = load_grid(find(file, "studies"))
        except OSError as error:
            raise ScenarioError(f"study {file}: cannot be read ({error.strerror})") from error
        grid = replace(grid, remedies=with_own(grid.remedies, bpf))
        asked = metric_of(metric, Path.cwd()) if metric else None
        if folder:
            report_folder(folder)
        width = figure_inches(figure_width)
        with progress_bar(f"study {grid.name}") as report:

            def progress(finished: int, runs: int, what: str) -> None:
                report(finished / runs, f"{finished} of {runs} runs, {printable(what)}")

            result = run_grid(grid, seeds, folder, jobs, progress, dask, asked)
        from airtcp.pages.grid import write_study

        written = AnswerFirst(result.unstored)
        written.give(
            folder,
            partial(write_study, result, command=command_line(), png=png, width=width),
            partial(_json_object, result) if as_json else None,
            partial(_print, result),
        )
        written.finish()


def _json_object(result: GridResult, _page: Path | None) -> dict[str, object]:
    return {
        "name": result.grid.name,
        "seeds": result.seeds,
        "metric": result.metric,
        "entries": result.rows.records(),
        "warnings": result.warnings,
    }


def _print(result: GridResult) -> None:
    from airtcp.pages.grid import effect_table, judges, score_table

    tables = [effect_table(result), *([score_table(result)] if judges(result) else [])]
    for text in (*tables, *result.warnings):
        out.print(escape(printable(text)), highlight=False, soft_wrap=True)
