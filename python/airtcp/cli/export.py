"""`airtcp export`: a scenario's link for other emulators and simulators."""

from pathlib import Path
from typing import Annotated

import typer

from airtcp.cli.console import (
    ScenarioFile,
    Settings,
    folder_name,
    print_lines,
    settings_of,
)
from airtcp.cli.errors import clear_errors
from airtcp.core.files import writable_folder
from airtcp.core.loading import load_scenario


def export_command(
    file: ScenarioFile,
    target: Annotated[
        str,
        typer.Option("--as", metavar="PROGRAM", help="One of netem, mahimahi, cellreplay, ns-3."),
    ],
    folder: Annotated[
        Path,
        typer.Option("--out", parser=folder_name, metavar="DIR", help="Writes the files there."),
    ] = Path("link"),
    settings: Settings = None,
) -> None:
    """Write a scenario's link for netem, mahimahi, CellReplay or ns-3.

    A note names each feature of the link that the program cannot express.

    [bold]Examples[/bold]

    airtcp export cellular --as mahimahi --out cell

    airtcp export lossy-pipe --as netem
    """
    from airtcp.core.recordings.export.targets import export_link

    with clear_errors():
        scenario = load_scenario(file, settings_of(settings))
        written, notes = export_link(scenario, target, writable_folder(folder))
        print_lines([f"wrote {', '.join(map(str, written))}", *notes])
