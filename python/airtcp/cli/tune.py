"""`airtcp tune`: the best parameters and combinations of remedies for one link."""

import warnings
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from airtcp.cli.asker import Can, asked_for
from airtcp.cli.compare_output import print_comparison
from airtcp.cli.console import (
    AsJson,
    Bpf,
    Jobs,
    ScenarioFile,
    Settings,
    out_option,
    report_folder,
    settings_of,
    warn,
)
from airtcp.cli.errors import clear_errors
from airtcp.cli.progress import progress_bar
from airtcp.cli.unwritten import AnswerFirst
from airtcp.comparison.as_json import comparison_object
from airtcp.comparison.compare import UnstoredWarning
from airtcp.comparison.ranking import SMALLEST_PERCENT, Aim
from airtcp.comparison.sequential import MAX_SEEDS
from airtcp.core.loading import load_scenario
from airtcp.tuning import tune
from airtcp.tuning.tuned import MAX_CPU_S, Tuned


def tune_command(
    file: ScenarioFile,
    can: Can = None,
    aim: Annotated[
        Aim,
        typer.Option(
            "--for",
            help="Use of the link: goodput, responsiveness, a call's packets in time, or goodput "
            "times responsiveness. All but bulk run probes under load.",
        ),
    ] = Aim.BULK,
    among: Annotated[
        str | None,
        typer.Option(
            "--with",
            metavar="NAME,…",
            help="Remedies to search among, with commas. Left out, every remedy that applies to "
            "the link.",
        ),
    ] = None,
    bpf: Bpf = None,
    settings: Settings = None,
    worth: Annotated[
        float,
        typer.Option(
            metavar="PERCENT",
            min=0.0,
            help="The smallest effect worth having, also of one more parameter or remedy.",
        ),
    ] = SMALLEST_PERCENT,
    harmful: Annotated[
        bool,
        typer.Option(
            "--harmful",
            help="Allow settings that take over a tenth of the goodput of a competing flow.",
        ),
    ] = False,
    max_seeds: Annotated[
        int,
        typer.Option(metavar="N", min=2, max=100_000, help="The most fresh seeds."),
    ] = MAX_SEEDS,
    max_cpu: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=1.0,
            help="The most processor time of the search and of the final comparison.",
        ),
    ] = MAX_CPU_S,
    as_json: AsJson = False,
    folder: Annotated[
        Path | None,
        out_option(
            "Writes DIR/index.html (the report of the final comparison) and DIR/cells, from "
            "which an interrupted search goes on."
        ),
    ] = None,
    jobs: Jobs = None,
) -> None:
    """Search the parameters and combinations of remedies that are best for a link.

    Settings are searched on some seeds, and the best run again on others: the answer has their
    gain with intervals that hold jointly, the trade-off between goodput and latency, and the
    deployment.

    [bold]Examples[/bold]

    airtcp tune lossy-pipe --can server

    airtcp tune my-link.toml --can access-point --for latency

    airtcp tune household --for balance --with cake,fq-codel,bbr
    """
    with clear_errors():
        if folder:
            report_folder(folder)
        asked = asked_for(can, is_interactive=not as_json)
        scenario = load_scenario(file, settings_of(settings, aim=aim))
        warn(scenario)
        with progress_bar(f"tuning {file}") as report, warnings.catch_warnings():
            warnings.simplefilter("ignore", UnstoredWarning)
            tuned = tune(
                scenario,
                [name.strip() for name in among.split(",")] if among else (),
                metric=aim.metric,
                can=asked.can,
                smallest=worth,
                max_cpu_s=max_cpu,
                max_seeds=max_seeds,
                harmful=harmful,
                bpf=bpf,
                out=folder,
                jobs=jobs,
                progress=report,
            )
        written = AnswerFirst(tuned.unstored)
        written.give(
            folder,
            tuned.comparison.report,
            partial(_json_object, tuned) if as_json else None,
            partial(print_comparison, tuned.comparison, tuned.notes),
            asked.note,
        )
        written.finish()


def _json_object(tuned: Tuned, page: Path | None) -> dict[str, object]:
    return {
        "best": tuned.best,
        "settings_tried": tuned.tried,
        "rounds": list(tuned.rounds),
        "left_out": tuned.left_out and tuned.left_out[0],
        "search_stopped": tuned.stopped or None,
        **comparison_object(tuned.comparison, page),
    }
