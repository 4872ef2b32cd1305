"""`airtcp compare`: a scenario as written against remedies, on common seeds."""

import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from airtcp.cli.asker import Can, asked_for
from airtcp.cli.compare_output import give_comparison
from airtcp.cli.console import (
    AsJson,
    Bpf,
    DaskAddress,
    FigureWidth,
    Jobs,
    ScenarioFile,
    Settings,
    UnderLoad,
    WithPng,
    command_line,
    complete_remedy,
    figure_inches,
    out_option,
    report_folder,
    settings_of,
    warn,
)
from airtcp.cli.errors import clear_errors
from airtcp.cli.progress import progress_bar
from airtcp.cli.resumable import resumable
from airtcp.comparison.compare import UnstoredWarning, compare
from airtcp.comparison.everything import ALL
from airtcp.comparison.metrics import METRICS
from airtcp.comparison.own_metric import deciding_metric
from airtcp.comparison.ranking import SMALLEST_PERCENT, Aim
from airtcp.comparison.sequential import MAX_CPU_S, MAX_SEEDS, Rounds
from airtcp.core.loading import load_scenario


def compare_command(
    file: ScenarioFile,
    remedy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[:PARAMETER=VALUE]",
            autocompletion=complete_remedy,
            help="A remedy from `airtcp list remedies` to compare. Repeatable: each is compared "
            "with the scenario as written; a+b applies two together. Left out, every remedy that "
            "has a place on the link is.",
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=100_000,
            help="Seeds 1 to N, the same for every remedy. Left out, they are run in rounds until "
            "what matters is decided.",
        ),
    ] = None,
    settings: Settings = None,
    bpf: Bpf = None,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"What decides: {', '.join(METRICS)}, or a function of your own as "
            "MODULE:FUNCTION. Default goodput.",
            autocompletion=lambda: list(METRICS),
        ),
    ] = None,
    aim: Annotated[
        Aim | None,
        typer.Option(
            "--for",
            help="Use of the link, which decides in place of --metric: goodput, responsiveness, a "
            "call's packets in time, or goodput times responsiveness. All but bulk run probes "
            "under load (as --under-load ping,exchange,call).",
        ),
    ] = None,
    under_load: UnderLoad = None,
    can: Can = None,
    worth: Annotated[
        float,
        typer.Option(
            metavar="PERCENT",
            min=0.0,
            help="The smallest effect worth having; smaller ones are excluded.",
        ),
    ] = SMALLEST_PERCENT,
    max_seeds: Annotated[
        int,
        typer.Option(metavar="N", min=2, max=100_000, help="The most seeds of the rounds."),
    ] = MAX_SEEDS,
    max_cpu: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=1.0,
            help="The most processor time of the rounds, the first too, with the harm and the "
            "longer runs of the best remedy.",
        ),
    ] = MAX_CPU_S,
    harm: Annotated[
        bool,
        typer.Option(
            help="Whether to run each remedy shown with an unchanged competing flow too, and "
            "report the loss of that flow."
        ),
    ] = True,
    horizon: Annotated[
        bool,
        typer.Option(
            help="Whether to run the best remedy four times as long, too, and say so where its "
            "gain does not last."
        ),
    ] = True,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR|FILE",
            help="An earlier --out, or its result.json: prints one line, and ends with status 4, "
            "if a remedy or the baseline is shown to be worse than stored.",
        ),
    ] = None,
    as_json: AsJson = False,
    folder: Annotated[
        Path | None,
        out_option(
            "Writes DIR/index.html (the report), DIR/comparison.csv, DIR/result.json, the "
            "figures and DIR/cells, from which an interrupted comparison goes on."
        ),
    ] = None,
    png: WithPng = False,
    figure_width: FigureWidth = None,
    jobs: Jobs = None,
    dask: DaskAddress = None,
) -> None:
    """Compare remedies with the scenario as written, all on the same seeds.

    Shown are the paired differences in goodput, or in what --metric names, with their 95 %
    confidence intervals.

    [bold]Examples[/bold]

    airtcp compare wlan-upload --can my-machine --out out

    airtcp compare ping --remedy sack --remedy rto-factor:factor=10

    airtcp compare lossy-pipe --set link.loss.rate=0.01 --metric rtt-p95

    airtcp compare household --for calls

    airtcp compare ping --remedy go-back-n+rto-factor:factor=10 --json

    airtcp compare my-link.toml --remedy cake --metric rtt-p95 --against results
    """
    from airtcp.comparison.stored import read_result, regression

    with clear_errors():
        stored = read_result(against) if against else None
        if folder:
            # Its figures are written without matplotlib, its cells as Parquet.
            is_printed = png or figure_width is not None
            report_folder(folder, (*(["matplotlib"] if is_printed else []), "polars"))
        width = figure_inches(figure_width)
        asked = asked_for(can, is_interactive=not as_json)
        decides = deciding_metric(metric, aim, Path.cwd())
        given = settings_of(settings, under_load, aim)
        scenario = load_scenario(file, given)
        warn(scenario)
        with resumable(folder) as runs:
            with progress_bar(f"comparing on {file}") as report:
                warnings.simplefilter("ignore", UnstoredWarning)
                comparison = compare(
                    scenario,
                    remedy or [ALL],
                    seeds,
                    bpf=bpf,
                    metric=decides,
                    can=asked.can,
                    smallest=worth,
                    rounds=Rounds(max_seeds, max_cpu),
                    harm=harm,
                    horizon=horizon,
                    out=folder,
                    jobs=jobs,
                    dask=dask,
                    progress=runs.reported(report),
                )
            comparison = replace(comparison, settings=given)
            found = regression(comparison, stored, str(against)) if stored else None
            report_to = partial(comparison.report, command=command_line(), png=png, width=width)
            give_comparison(comparison, found, folder, report_to, is_json=as_json, note=asked.note)
