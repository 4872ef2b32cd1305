"""`airtcp remedies`: the catalogue."""

from typing import Annotated

import typer
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from airtcp.catalogue import Remedy, remedies, remedy
from airtcp.cli.console import AsJson, clear_errors, out, print_json


def remedies_command(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Only this remedy, with its parameters.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the remedies: what each changes, where, and who proposed it.

    [bold]Examples[/bold]

    airtcp remedies

    airtcp remedies rto-factor

    airtcp compare FILE --remedy rto-factor:factor=10 --remedy sack+limited-transmit
    """
    with clear_errors():
        if name is not None:
            chosen = remedy(name)
            if as_json:
                print_json(chosen)
            else:
                _print_remedy(chosen)
        elif as_json:
            print_json({"remedies": remedies()})
        else:
            _print_catalogue(remedies())


def _print_catalogue(catalogue: list[Remedy]) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("remedy", "place", "effect"):
        table.add_column(column, no_wrap=column != "effect", overflow="fold")
    for entry in catalogue:
        table.add_row(f"[bold]{escape(entry['name'])}[/]", entry["place"], escape(entry["effect"]))
    out.print(table, soft_wrap=False)
    out.print("\n`airtcp remedies NAME` shows the parameters and the source.", highlight=False)


def _print_remedy(entry: Remedy) -> None:
    out.print(f"[bold]{escape(entry['name'])}[/] ({entry['place']})", highlight=False)
    for label in ("effect", "source", "deployment"):
        out.print(f"{label}: {entry[label]}", markup=False, highlight=False)
    if not entry["parameters"]:
        out.print("It has no parameters.", highlight=False)
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("parameter", "default", "range", "effect"):
        table.add_column(column, no_wrap=column != "effect", overflow="fold")
    for parameter in entry["parameters"]:
        unit = f" {parameter['unit']}" if parameter["unit"] else ""
        table.add_row(
            escape(parameter["name"]),
            f"{parameter['default']}{unit}",
            f"{parameter['minimum']} to {parameter['maximum']}{unit}",
            escape(parameter["effect"]),
        )
    out.print(Padding(table, (1, 0, 0, 0)), soft_wrap=False)
    first = entry["parameters"][0]
    out.print(
        f"\nFor example --remedy {entry['name']}:{first['name']}={first['default']}",
        markup=False,
        highlight=False,
    )
