"""`airtcp remedies`: the catalogue."""

from textwrap import fill
from typing import Annotated

import typer

from airtcp.cli.console import AsJson, complete_remedy, print_json
from airtcp.cli.errors import clear_errors
from airtcp.core.catalogue import Parameter, Remedy, remedies, remedy
from airtcp.pages.columns import columns, width


def remedies_command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="Only this remedy, with its parameters.",
            autocompletion=complete_remedy,
        ),
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
    rows = [(entry["name"], entry["place"], entry["effect"]) for entry in catalogue]
    print(columns(("remedy", "place", "effect"), rows))
    print("\n`airtcp remedies NAME` shows the parameters and the source.")


def _print_remedy(entry: Remedy) -> None:
    print(f"{entry['name']} ({entry['place']})")
    for label in ("effect", "source", "deployment"):
        print(fill(f"{label}: {entry[label]}", width(), break_on_hyphens=False))
    if not entry["parameters"]:
        print("It has no parameters.")
        return
    rows = []
    for parameter in entry["parameters"]:
        unit = f" {parameter['unit']}" if parameter["unit"] else ""
        bounds = f"{parameter['minimum']} to {parameter['maximum']}{unit}"
        key = f"{parameter['key']}: " if parameter["key"] else ""
        default = f"{parameter['default']}{unit}"
        rows.append((parameter["name"], default, bounds, key + parameter["effect"]))
    print("\n" + columns(("parameter", "default", "range", "effect"), rows))
    first = entry["parameters"][0]
    print(f"\nFor example --remedy {entry['name']}:{first['name']}={_another(first)}")


def _another(parameter: Parameter) -> object:
    """A value other than the default: a toggled switch, half of a time, twice of the rest.

    The default if there is no other.
    """
    default, most = parameter["default"], parameter["maximum"]
    if isinstance(default, str):
        number, _, unit = default.partition(" ")
        return f"{float(number) / 2:g} {unit}" if unit else default
    if not isinstance(most, int | float):
        return 2 * default or 1
    doubled = 2 * default or 1
    return doubled if doubled <= most else parameter["minimum"]
