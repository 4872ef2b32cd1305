"""`airtcp compare`: a scenario as written against remedies, on common seeds."""

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from airtcp.catalogue import BASELINE
from airtcp.cli.console import (
    AsJson,
    Jobs,
    ScenarioFile,
    Settings,
    WithPng,
    clear_errors,
    complete_remedy,
    out,
    print_json,
    print_lines,
    progress_bar,
    say,
)
from airtcp.comparison import DEFAULT_SEEDS, Comparison, compare
from airtcp.quantities import format_bit_rate, format_count, format_percent
from airtcp.scenarios import parse_setting
from airtcp.study.statistics import Outcome
from airtcp.study.verdict import amount


def compare_command(
    file: ScenarioFile,
    remedy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[:PARAMETER=VALUE]",
            autocompletion=complete_remedy,
            help="A remedy from `airtcp remedies` to compare. Repeatable: each is compared with "
            "the scenario as written; a+b applies two together.",
        ),
    ] = None,
    seeds: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, max=100_000, help="Seeds 1 to N, the same for every remedy."
        ),
    ] = DEFAULT_SEEDS,
    settings: Settings = None,
    as_json: AsJson = False,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Writes DIR/index.html (the report), DIR/comparison.csv, the figures and "
            "DIR/cells, from which an interrupted comparison goes on.",
        ),
    ] = None,
    png: WithPng = False,
    jobs: Jobs = None,
) -> None:
    """Compare remedies with the scenario as written, every one on the same seeds.

    Shown are the paired differences in goodput with their 95 % confidence intervals.

    [bold]Examples[/bold]

    airtcp compare scenarios/ping.toml --remedy sack --remedy rto-factor:factor=10 --out out

    airtcp compare scenarios/lossy-pipe.toml --set link.loss.rate=0.01 --remedy sack --seeds 20

    airtcp compare scenarios/ping.toml --remedy go-back-n+rto-factor:factor=10 --json
    """
    with clear_errors():
        done = _Done()
        try:
            with progress_bar(f"comparing on {file}") as report:

                def progress(finished: int, cells: int) -> None:
                    done.finished, done.cells = finished, cells
                    report(finished / cells, f"{finished} of {cells} runs")

                comparison = compare(
                    file,
                    remedy or [],
                    seeds,
                    dict(parse_setting(text) for text in settings or []),
                    out=folder,
                    jobs=jobs,
                    progress=progress,
                )
            page = comparison.report(folder, _command(), png=png) if folder else None
        except KeyboardInterrupt:
            say(done.resume_message(folder))
            raise
        if as_json:
            print_json(_json_object(comparison, page))
        else:
            _print_comparison(comparison)
            if page:
                say(f"report: {page}")


class _Done:
    """How far a comparison came."""

    finished = 0
    cells = 0

    def resume_message(self, folder: Path | None) -> str:
        count = f"{self.finished} of {self.cells} runs are finished"
        if folder is None:
            return f"{count}, and lost: with --out DIR they are kept for the next time"
        return f"{count} and kept in {folder / 'cells'}: the same command goes on from there"


def _command() -> str:
    return shlex.join(["airtcp", *sys.argv[1:]])


def _print_comparison(comparison: Comparison) -> None:
    print_lines(comparison.verdict)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("remedy", overflow="fold")
    for column in ("goodput", "difference, 95 %", "resent", "timeouts", "spurious"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in comparison.table.iter_rows(named=True):
        table.add_row(
            escape(row["remedy"]),
            format_bit_rate(row["goodput_bps"]),
            _difference(comparison, row["remedy"]),
            format_percent(100 * row["retransmitted_share"]),
            format_count(row["timeouts"]),
            format_count(row["timeouts_spurious"]),
        )
    out.print()
    out.print(table)
    seeds = len(comparison.seeds)
    out.print(f"\nMeans a run over {seeds} {'seed' if seeds == 1 else 'seeds'}.", highlight=False)
    if lines := comparison.deployment:
        out.print()
        print_lines(lines)


def _difference(comparison: Comparison, remedy: str) -> str:
    if remedy == BASELINE:
        return ""
    goodput = comparison.differences[remedy]["goodput_bps"]
    return "identical" if goodput.outcome is Outcome.IDENTICAL else amount(goodput, sign=True)


def _json_object(comparison: Comparison, page: Path | None) -> dict[str, object]:
    """The comparison as one object; the cells without their per-flow summaries."""
    cells = comparison.cells
    return {
        "scenario": cells["scenario"][0],
        "scenario_hash": cells["scenario_hash"][0],
        "engine_version": cells["engine_version"][0],
        "seeds": list(comparison.seeds),
        "verdict": comparison.verdict,
        "deployment": comparison.deployment,
        "remedies": comparison.table.to_dicts(),
        "cells": cells.drop("summary", "scenario", "scenario_hash", "engine_version").to_dicts(),
        "report": None if page is None else str(page),
    }
