"""`airtcp verify`: remedies on this machine's kernel, beside their simulation."""

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from airtcp.cli.console import (
    AsJson,
    Settings,
    complete_remedy,
    folder_name,
    print_json,
    print_lines,
    progress_bar,
    writable_folder,
)
from airtcp.cli.errors import clear_errors, say
from airtcp.columns import numbers
from airtcp.loading import parse_setting
from airtcp.verification import DEFAULT_SEEDS, Verification, verify


def verify_command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The scenario, a TOML file.")],
    remedy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[:PARAMETER=VALUE]",
            autocompletion=complete_remedy,
            help="A remedy from `airtcp remedies` to verify. Repeatable.",
        ),
    ] = None,
    seeds: Annotated[
        int,
        typer.Option(metavar="N", min=1, max=1000, help="Seeds 1 to N, the same for every remedy."),
    ] = DEFAULT_SEEDS,
    settings: Settings = None,
    as_json: AsJson = False,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            parser=folder_name,
            metavar="DIR",
            help="Writes DIR/index.html (the report), DIR/verification.csv and DIR/cells, from "
            "which an interrupted verification goes on.",
        ),
    ] = None,
    jobs: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            max=64,
            help="Runs of the kernel at the same time; runs that were late are repeated.",
        ),
    ] = 1,
) -> None:
    """Measure remedies on this machine's kernel over the scenario's link, beside simulation.

    Each run takes the scenario's duration. Linux; no root, but for congestion controls that users
    may not choose.

    [bold]Examples[/bold]

    airtcp verify lossy-pipe --set "duration=10 s" --remedy sack --seeds 3

    airtcp verify wlan-upload --remedy inf-retry --remedy min-rto:min=1s --out out
    """
    with clear_errors():
        if folder:
            writable_folder(folder)
        with progress_bar(f"verifying on {file}") as report:
            verification = verify(
                file,
                remedy or [],
                seeds,
                dict(parse_setting(text) for text in settings or []),
                out=folder,
                jobs=jobs,
                progress=lambda done, runs, words: report(done / runs, words),
            )
        page = verification.report(folder, _command()) if folder else None
        if as_json:
            print_json(_json_object(verification, page))
        else:
            _print(verification)
            if page:
                say(f"report: {page}")


def _command() -> str:
    return shlex.join(["airtcp", *sys.argv[1:]])


def _print(verification: Verification) -> None:
    from airtcp.report.verification import effects_table

    print_lines(verification.verdict)
    shown = effects_table(verification)
    print(f"\n{numbers(shown.columns, shown.rows, shown.names)}")
    for remedy in verification.remedies[1:]:
        steps = verification.measured[remedy][0]["steps"]
        if steps:
            print(f"\n{remedy}: {'; '.join(steps)}")


def _json_object(verification: Verification, page: Path | None) -> dict[str, object]:
    return {
        "kernel": verification.kernel,
        "seeds": list(verification.seeds),
        "verdict": verification.verdict,
        "remedies": [
            {
                "remedy": remedy,
                "kernel": list(verification.measured[remedy]),
                "simulated_goodput_bps": verification.simulated.values(remedy, "goodput_bps"),
            }
            for remedy in verification.remedies
        ],
        "report": None if page is None else str(page),
    }
