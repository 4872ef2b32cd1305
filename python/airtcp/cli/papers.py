"""`airtcp papers`: the papers' claims, judged by our runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from airtcp.cli.console import (
    AsJson,
    DaskAddress,
    FigureWidth,
    Jobs,
    WithPng,
    command_line,
    figure_inches,
    out,
    out_option,
    print_json,
    report_folder,
)
from airtcp.cli.errors import clear_errors, say
from airtcp.cli.progress import progress_bar

if TYPE_CHECKING:
    from airtcp.papers.judge import JudgedClaim
    from airtcp.papers.judgement import Judgement
    from airtcp.papers.verdicts_by_reading import VerdictsByReading

_COLOURS = {
    "reproduced": "green",
    "direction": "blue",
    "direction, larger": "blue",
    "direction, smaller": "blue",
    "depends on the reading": "magenta",
    "not yet decided": "white",
    "not shown": "yellow",
    "never the paper's way": "red",
    "contradicted": "red",
}
"""By verdict."""


def papers_command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Papers by name or number, as rto-factor or 1; all of them when left out.",
        ),
    ] = None,
    folder: Annotated[
        Path,
        out_option(
            "Writes DIR/index.html, papers.json, verdicts.md and the figures, and DIR/cells, "
            "from which an interrupted run goes on."
        ),
    ] = Path("out/papers"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Few seeds and shorter runs: a first look in a minute.")
    ] = False,
    seed_sets: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            max=100,
            help="Judges every claim with N sets of seeds that share none, and says which verdicts "
            "differ. The figures are of the first.",
        ),
    ] = 1,
    first_seed: Annotated[
        int, typer.Option(metavar="N", min=1, max=2**62, help="The seeds count up from here.")
    ] = 1,
    cross: Annotated[
        bool | None,
        typer.Option(
            "--cross/--no-cross",
            help="Whether to run every remedy on every paper's scenario too; only with all papers. "
            "A quick run does so if asked.",
        ),
    ] = None,
    papers: Annotated[
        Path | None,
        typer.Option(
            "--papers", metavar="DIR", help="The folder of papers; by default the shipped ones."
        ),
    ] = None,
    readings: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            max=100_000,
            help="Maximum number of readings of each paper to judge in addition to the default, "
            "single departures first; left out, all where they are cheap, else single departures "
            "and the joint readings named by the paper; none with --quick.",
        ),
    ] = None,
    png: WithPng = False,
    figure_width: FigureWidth = None,
    jobs: Jobs = None,
    dask: DaskAddress = None,
    as_json: AsJson = False,
) -> None:
    """Rerun every table and figure of the papers, and judge every claim.

    Verdicts are computed from paired runs, over the readings that each paper's text admits:
    reproduced, direction (another size), depends on the reading, not shown, never the paper's
    way, contradicted. The report says why a claim fails, which open point decides, and how much of
    the remedies is left today.

    [bold]Examples[/bold]

    airtcp papers --quick

    airtcp papers newzag --out out/newzag

    airtcp papers --seed-sets 3
    """
    with clear_errors():
        from airtcp.papers import run

        report_folder(folder)
        width = figure_inches(figure_width)
        with progress_bar("papers") as report:
            judgement = run(
                names or None,
                quick=quick,
                cross=not quick if cross is None else cross,
                first_seed=first_seed,
                seed_sets=seed_sets,
                readings=readings,
                folder=papers,
                out=folder,
                jobs=jobs,
                dask=dask,
                progress=report,
            )
        from airtcp.pages.papers import write_papers_report

        page = write_papers_report(judgement, folder, command_line(), png=png, width=width)
        if as_json:
            print_json(judgement.as_json())
            return
        _print(judgement)
        say(f"report: {page}")


def _print(judgement: "Judgement") -> None:
    """One line per claim, then the counts."""
    from airtcp.papers.rules import Verdict

    quick = judgement.quick
    for paper in judgement.papers:
        out.print(f"[bold]{paper.about.number} {paper.name}[/bold]", highlight=False)
        for judged in judgement.claims[paper.name]:
            colour = _COLOURS[str(judged.outcome)]
            words = _so_far(judged) if quick else str(judged.outcome)
            out.print(f"  {judged.claim.id}  [{colour}]{words:<22}[/{colour}]  ", end="")
            out.print(judged.claim.what, markup=False, highlight=False)
        over = judgement.readings[paper.name]
        if quick:
            continue
        if len(over.verdicts) > 1:
            _print_best(over)
    counts = "; ".join(f"{judgement.count(verdict)} {verdict}" for verdict in Verdict)
    out.print(f"{len(judgement.all_claims)} claims: {counts}", highlight=False)
    if judgement.sets:
        steady = (
            "all verdicts the same"
            if not judgement.unsteady
            else (f"other verdicts for {', '.join(judgement.unsteady)}")
        )
        out.print(f"other sets of seeds: {steady}", highlight=False)
    if judgement.quick:
        out.print(
            "a quick run: what is so under the default, other readings may make depend on the "
            "reading: the full run decides",
            highlight=False,
        )


def _so_far(judged: "JudgedClaim") -> str:
    """A verdict of a quick run, which tries few readings."""
    if judged.few_readings and judged.verdict.goes_the_papers_way:
        return f"{judged.verdict}, by default"
    return str(judged.outcome)


def _print_best(over: "VerdictsByReading") -> None:
    """The reading that serves the paper best."""
    from airtcp.papers.readings import departures

    claims = len(over.verdicts[over.default])
    best = ", ".join(departures(over.points, over.best)) or "the default"
    out.print(
        f"  of {len(over.verdicts)} readings, {best} serves the paper best: "
        f"{over.served(over.best)[0]} of {claims} claims its way, "
        f"{over.served(over.default)[0]} under the default",
        markup=False,
        highlight=False,
    )
