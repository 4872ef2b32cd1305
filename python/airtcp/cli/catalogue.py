"""`airtcp list`: the remedies, and the scenarios and studies that come with airtcp."""

from enum import StrEnum
from textwrap import fill
from typing import Annotated

import typer

from airtcp._core import ScenarioError
from airtcp.cli.console import AsJson, complete_remedy, print_json
from airtcp.cli.errors import clear_errors
from airtcp.core.catalogue import Parameter, Remedy, remedies, remedy
from airtcp.core.shipped import description, shipped
from airtcp.pages.columns import columns, width


class Listed(StrEnum):
    """The lists."""

    REMEDIES = "remedies"
    SCENARIOS = "scenarios"


def list_command(
    of: Annotated[
        Listed | None, typer.Argument(metavar="[remedies|scenarios]", help="Only these.")
    ] = None,
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
    """List the remedies, scenarios and studies that come with airtcp, by name.

    [bold]Examples[/bold]

    airtcp list scenarios

    airtcp list remedies rto-factor

    airtcp compare FILE --remedy rto-factor:factor=10 --remedy sack+limited-transmit
    """
    with clear_errors():
        if name is not None and of is not Listed.REMEDIES:
            raise ScenarioError(f"list {of} {name}: expected `airtcp list remedies NAME`")
        if of is None and as_json:
            print_json({**_scenarios(), "remedies": remedies()})
        elif of is None:
            _list_scenarios(as_json)
            _list_remedies(None, as_json)
        elif of is Listed.SCENARIOS:
            _list_scenarios(as_json)
        else:
            _list_remedies(name, as_json)


def remedies_command(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", autocompletion=complete_remedy)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the remedies, as `airtcp list remedies`."""
    list_command(Listed.REMEDIES, name, as_json)


def scenarios_command(as_json: AsJson = False) -> None:
    """List the scenarios and studies, as `airtcp list scenarios`."""
    list_command(Listed.SCENARIOS, None, as_json)


def _list_remedies(name: str | None, as_json: bool) -> None:
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


def _scenarios() -> dict[str, list[dict[str, str]]]:
    """The entries of scenarios and studies, by kind."""
    return {
        kind: [
            {"name": name, "path": str(path), "description": description(path)}
            for name, path in shipped(kind).items()
        ]
        for kind in ("scenarios", "studies")
    }


def _list_scenarios(as_json: bool) -> None:
    found = _scenarios()
    if as_json:
        print_json(found)
        return
    for kind, command in (("scenarios", "compare"), ("studies", "study")):
        rows = [(entry["name"], entry["description"]) for entry in found[kind]]
        print(columns((kind, "what"), rows))
        print(f"\n`airtcp {command} {rows[0][0]}` runs one.\n")
    print("`airtcp new my-link.toml --from wlan-upload` makes one of your own.")


def _print_catalogue(catalogue: list[Remedy]) -> None:
    rows = [(entry["name"], entry["place"], entry["effect"]) for entry in catalogue]
    print(columns(("remedy", "place", "effect"), rows))
    print("\n`airtcp list remedies NAME` shows the parameters and the source.")


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
