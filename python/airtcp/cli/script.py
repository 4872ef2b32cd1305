"""`airtcp script`: packetdrill's scripts without root and without waiting."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from airtcp._core import ScenarioError
from airtcp.cli.console import AsJson, out, print_json
from airtcp.cli.errors import clear_errors
from airtcp.core.scripts import ScriptResult, find_scripts, profiles, run_script

_COLOURS = {"passed": "green", "failed": "red", "unsupported": "yellow", "unreadable": "red"}


def script_command(
    paths: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Scripts, or folders of them.")
    ],
    profile: Annotated[
        str | None,
        typer.Option(
            help="The stack to run them on; else the one a script names in a line "
            "`// profile: NAME`, else linux."
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Only what did not pass, and the counts.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run packetdrill scripts against the simulated endpoint: no root, no real time.

    Exits with 1 if a script failed or could not be read. What asks for something the endpoint does
    not have (docs/measurements/validation.md) is unsupported, which is no failure.

    [bold]Examples[/bold]

    airtcp script tests/scripts

    airtcp script FILE.pkt --profile linux-reno
    """
    with clear_errors():
        if profile is not None and profile not in profiles():
            raise ScenarioError(f"--profile {profile}: expected one of {', '.join(profiles())}")
        try:
            results = [run_script(path, profile) for path in find_scripts(paths)]
        except FileNotFoundError as error:
            raise ScenarioError(str(error)) from error
        if as_json:
            print_json([_as_dict(result) for result in results])
        else:
            _print(results, quiet)
        if any(result.outcome in {"failed", "unreadable"} for result in results):
            raise typer.Exit(1)


def _as_dict(result: ScriptResult) -> dict[str, object]:
    return {
        "path": str(result.path),
        "profile": result.profile,
        "outcome": result.outcome,
        "line": result.line,
        "report": result.report,
    }


def _print(results: list[ScriptResult], quiet: bool) -> None:
    for result in results:
        if result.outcome == "passed" and quiet:
            continue
        colour = _COLOURS[result.outcome]
        place = f"{result.path}:{result.line}" if result.line else str(result.path)
        out.print(
            f"[{colour}]{result.outcome}[/] {escape(place)} ({result.profile})",
            highlight=False,
            soft_wrap=True,
        )
        if result.report:
            text = "\n".join(f"  {line}" for line in result.report.splitlines())
            out.print(escape(text), highlight=False, soft_wrap=True)
    counts = Counter(str(result.outcome) for result in results)
    parts = [f"{counts[name]} {name}" for name in _COLOURS if counts[name]]
    out.print(", ".join(parts), highlight=False)
