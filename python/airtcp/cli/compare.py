"""`airtcp compare`: a scenario as written against remedies, on common seeds."""

import shlex
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Annotated

import typer

from airtcp._core import ScenarioError
from airtcp.cli.asker import Can, asked_for
from airtcp.cli.console import (
    AsJson,
    Beside,
    Bpf,
    DaskAddress,
    Jobs,
    ScenarioFile,
    Settings,
    WithPng,
    complete_remedy,
    folder_name,
    print_json,
    print_lines,
    progress_bar,
    warn,
    with_beside,
    writable_folder,
)
from airtcp.cli.errors import clear_errors, say
from airtcp.cli.unwritten import AnswerFirst
from airtcp.comparison.compare import UnstoredWarning, compare
from airtcp.comparison.compared import Comparison
from airtcp.comparison.context import context
from airtcp.comparison.everything import ALL
from airtcp.comparison.front import Front, Mark, front
from airtcp.comparison.metrics import METRICS, Metric
from airtcp.comparison.own_metric import metric_of
from airtcp.comparison.ranking import SMALLEST_PERCENT, Aim
from airtcp.comparison.ranking.aims import COMPANIONS
from airtcp.comparison.ranking.as_json import ranking_json
from airtcp.comparison.recommend import recommendations
from airtcp.comparison.sequential import MAX_CPU_S, MAX_SEEDS, Rounds
from airtcp.comparison.statistics import Outcome
from airtcp.comparison.words import amount, state_words
from airtcp.core.catalogue import BASELINE
from airtcp.core.loading import load_scenario, parse_setting
from airtcp.pages.columns import numbers


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
            show_default=False,
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
            show_default=False,
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
            show_default=False,
        ),
    ] = None,
    aim: Annotated[
        Aim | None,
        typer.Option(
            "--for",
            help="Use of the link, which decides in place of --metric: goodput, responsiveness, a "
            "call's packets in time, or goodput times responsiveness. All but bulk run probes "
            "under load (as --beside ping,exchange,call).",
            show_default=False,
        ),
    ] = None,
    beside: Beside = None,
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
    as_json: AsJson = False,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            parser=folder_name,
            metavar="DIR",
            help="Writes DIR/index.html (the report), DIR/comparison.csv, the figures and "
            "DIR/cells, from which an interrupted comparison goes on.",
        ),
    ] = None,
    png: WithPng = False,
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
    """
    with clear_errors():
        if folder:
            writable_folder(folder)
        asked = asked_for(can, is_interactive=not as_json)
        decides = _decides(metric, aim)
        if beside is None and aim not in {None, Aim.BULK}:
            beside = ",".join(COMPANIONS)
        given = with_beside(dict(parse_setting(text) for text in settings or []), beside)
        scenario = load_scenario(file, given)
        warn(scenario)
        done = _Done()
        try:
            with progress_bar(f"comparing on {file}") as report:

                def progress(finished: int, cells: int) -> None:
                    done.finished, done.cells = finished, cells
                    report(finished / cells, f"{finished} of {cells} runs")

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
                    progress=progress,
                )
            comparison = replace(comparison, settings=given)
            written: AnswerFirst[Path] = AnswerFirst()
            written.keep(comparison.unstored)
            page = None
            if folder:
                to = folder
                page = written.attempt(lambda: comparison.report(to, _command(), png=png))
        except KeyboardInterrupt:
            say(done.resume_message(folder))
            raise
        if as_json:
            print_json(comparison_object(comparison, page))
        else:
            print_comparison(comparison)
            if comparison.is_search and (note := asked.note):
                say(note)
            if page:
                say(f"report: {page}")
        written.finish()


class _Done:
    """Progress of a comparison."""

    finished = 0
    cells = 0

    def resume_message(self, folder: Path | None) -> str:
        count = f"{self.finished} of {self.cells} runs are finished"
        if folder is None:
            return f"{count}, and lost: with --out DIR they are kept for the next time"
        return f"{count} and kept in {folder / 'cells'}: the same command goes on from there"


def _decides(metric: str | None, aim: Aim | None) -> str:
    """The deciding metric.

    Raises:
        ScenarioError: both are given, or the metric is unknown.
    """
    if metric is not None and aim is not None:
        raise ScenarioError(
            f"--for {aim} decides by {aim.metric}, and --metric {metric} says another; give one"
        )
    if aim is not None:
        return aim.metric
    return metric_of(metric or "goodput", Path.cwd()).name


def _command() -> str:
    return shlex.join(["airtcp", *sys.argv[1:]])


def print_comparison(comparison: Comparison, notes: Sequence[str] = ()) -> None:
    """Prints the verdict with notes, the table, the recommendations by use and the deployment."""
    lines = comparison.verdict
    print_lines([lines[0], *notes, context(comparison), *lines[1:]])
    metric = METRICS[comparison.metric]
    own = "" if comparison.metric == "goodput" else metric.label
    has_beside = any(run["beside"]["added_bps"] for run in comparison.summaries[BASELINE])
    columns = [
        one
        for one in METRICS.values()
        # With probes under load, the load's round trips are in the report.
        if one.column and (one.beside or not has_beside) and one.name != comparison.metric
    ]
    head: tuple[str, ...] = (
        "remedy",
        "goodput",
        own,
        "difference, 95 %",
        "state",
        *(one.column for one in columns),
        "best in both",
        # To keep a row on one line: the report has these as well as the others.
        "retransmitted" if not has_beside else "",
        "timeouts" if not has_beside else "",
        "competing flow" if comparison.metric != "harm" else "",
    )
    places = front(comparison)
    names = (BASELINE, *comparison.shown)
    rows = [_row(comparison, remedy, metric, columns, places) for remedy in names]
    # No column without values, or for values shown already.
    kept = [
        column
        for column in range(len(head))
        if column < 1 or (head[column] and any(row[column] not in {"", "none"} for row in rows))
    ]
    head = tuple(head[column] for column in kept)
    rows = [tuple(row[column] for column in kept) for row in rows]
    seeds = len(comparison.seeds)
    print(f"\n{numbers(head, rows)}")
    note = f"Means per run over {seeds} {'seed' if seeds == 1 else 'seeds'}."
    if places:
        note += (
            f" Best in both: no other has more goodput and a lower {places.metric.label}; "
            '"no" names one that is shown to have both, "undecided" one that has both on average.'
        )
    print(f"\n{note}")
    if advice := recommendations(comparison):
        print()
        print_lines([one.sentence for one in advice])
    if lines := comparison.deployment:
        print()
        print_lines(lines)


def _mark(places: Front | None, remedy: str) -> str:
    """Whether the remedy is on the Pareto front of goodput and latency."""
    point = places.of(remedy) if places else None
    if point is None:
        return ""
    match point.mark:
        case Mark.FRONT:
            return "yes"
        case Mark.BEATEN:
            return f"no: {point.by}"
        case Mark.UNDECIDED:
            return f"undecided: {point.by}"


def _row(
    comparison: Comparison,
    remedy: str,
    metric: Metric,
    columns: Sequence[Metric],
    places: Front | None,
) -> tuple[str, ...]:
    def mean(name: str) -> str:
        known = [
            value
            for run in comparison.runs_for(name).get(remedy, [])
            if (value := METRICS[name].of(run)) is not None
        ]
        return METRICS[name].show(fmean(known)) if known else "none"

    name = remedy if remedy == BASELINE else comparison.row_name(remedy)
    if remedy != BASELINE and comparison.floods(remedy):
        name += " (floods)"
    timeouts = f"{mean('timeouts')} ({mean('spurious')} spurious)"
    return (
        name,
        mean("goodput"),
        mean(metric.name),
        _difference(comparison, remedy, metric),
        _state(comparison, remedy),
        *(mean(one.name) for one in columns),
        _mark(places, remedy),
        mean("retransmitted"),
        timeouts,
        _harm(comparison, remedy),
    )


def _state(comparison: Comparison, remedy: str) -> str:
    if remedy == BASELINE:
        return ""
    one = comparison.candidates[remedy]
    return state_words(one.state, one.seeds_to_decide)


def _harm(comparison: Comparison, remedy: str) -> str:
    """The paired change of an unchanged flow's goodput; empty if it was not measured."""
    if remedy in comparison.harm:
        harm = comparison.harm[remedy]
        return "identical" if harm.outcome is Outcome.IDENTICAL else amount(harm, sign=True)
    return "n/a" if remedy != BASELINE and comparison.beside else ""


def _difference(comparison: Comparison, remedy: str, metric: Metric) -> str:
    if remedy == BASELINE:
        return ""
    by = comparison.decisive[remedy]
    return "identical" if by.outcome is Outcome.IDENTICAL else amount(by, sign=True, metric=metric)


def comparison_object(comparison: Comparison, page: Path | None) -> dict[str, object]:
    """The comparison as one object; the cells without their per-flow summaries."""
    cells = comparison.cells
    return {
        "scenario": cells["scenario"][0],
        "scenario_hash": cells["scenario_hash"][0],
        "engine_version": cells["engine_version"][0],
        "seeds": list(comparison.seeds),
        "metric": comparison.metric,
        "can": comparison.can,
        "smallest_percent": comparison.smallest,
        "decided": comparison.is_decided,
        "stopped": comparison.stopped or None,
        "ranking": ranking_json(comparison.ranking),
        "aims": {
            one.aim.value: {
                "metric": one.aim.metric,
                "sentence": one.sentence,
                **ranking_json(one.ranking),
            }
            for one in recommendations(comparison)
        },
        "front": _front_json(front(comparison)),
        "link_and_sender": context(comparison),
        "verdict": comparison.verdict,
        "refused": dict(comparison.refused),
        "sized": dict(comparison.sized),
        "deployment": comparison.deployment,
        "remedies": comparison.table.to_dicts(),
        "cells": cells.drop("summary", "scenario", "scenario_hash", "engine_version").to_dicts(),
        "report": None if page is None else str(page),
    }


def _front_json(places: Front | None) -> dict[str, object] | None:
    if places is None:
        return None
    return {
        "metric": places.metric.name,
        "points": [
            {
                "remedy": point.remedy,
                "goodput_bps": point.goodput_bps,
                "latency": point.latency,
                "mark": point.mark.value,
                "by": point.by,
            }
            for point in places.points
        ],
    }
