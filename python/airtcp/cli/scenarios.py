"""`airtcp scenarios` and `airtcp new`: shipped scenarios, and new ones based on them."""

from pathlib import Path
from typing import Annotated

import typer

from airtcp._core import ScenarioError
from airtcp.cli.console import AsJson, complete_scenario, print_json, writable_file
from airtcp.cli.errors import clear_errors
from airtcp.core.shipped import copy_scenario, description, find, shipped
from airtcp.pages.columns import columns


def scenarios_command(as_json: AsJson = False) -> None:
    """List the scenarios and studies that come with airtcp, by name.

    [bold]Examples[/bold]

    airtcp scenarios

    airtcp compare lossy-pipe --set link.loss.rate=0.01
    """
    with clear_errors():
        found = {
            kind: {name: (path, description(path)) for name, path in shipped(kind).items()}
            for kind in ("scenarios", "studies")
        }
        if as_json:
            print_json(
                {
                    kind: [
                        {"name": name, "path": str(path), "description": what}
                        for name, (path, what) in entries.items()
                    ]
                    for kind, entries in found.items()
                }
            )
            return
        for kind, command in (("scenarios", "compare"), ("studies", "study")):
            rows = [(name, what) for name, (_, what) in found[kind].items()]
            print(columns((kind, "what"), rows))
            print(f"\n`airtcp {command} {rows[0][0]}` runs one.\n")
        print("`airtcp new my-link.toml --from wlan-upload` makes one of your own.")


def new_command(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The file to make, as my-link.toml.")
    ],
    source: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="NAME",
            help="The scenario to begin with, a name from `airtcp scenarios` or a file.",
            autocompletion=complete_scenario,
        ),
    ] = "lossy-pipe",
) -> None:
    """Make a scenario of your own from one that comes with airtcp, recordings included.

    Example: airtcp new my-link.toml --from wlan-upload
    """
    with clear_errors():
        if file.suffix != ".toml":
            raise ScenarioError(f"{file}: expected a name ending in .toml")
        written = copy_scenario(find(source, "scenarios"), writable_file(file, "new"))
        print(
            f"wrote {', '.join(map(str, written))}; "
            "every key: docs/reference/scenarios.md, `airtcp schema`"
        )
