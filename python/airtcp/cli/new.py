"""`airtcp new`: a scenario of your own, and the schema of its keys."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import airtcp
from airtcp._core import ScenarioError
from airtcp.cli.console import complete_scenario, print_json
from airtcp.cli.errors import clear_errors
from airtcp.core.files import writable_file
from airtcp.core.shipped import copy_scenario, find

SCHEMA_FILE = "airtcp.schema.json"
"""The schema's file, in the folder of a new scenario."""


class SchemaOf(StrEnum):
    """A kind of file."""

    SCENARIO = "scenario"
    PAPER = "paper"
    CLAIMS = "claims"


def new_command(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="The file to make, as my-link.toml.")
    ] = None,
    source: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="NAME",
            help="The scenario to begin with, a name from `airtcp list scenarios` or a file.",
            autocompletion=complete_scenario,
        ),
    ] = "lossy-pipe",
    schema: Annotated[
        SchemaOf | None,
        typer.Option(
            help="Print the JSON Schema of such a file, for editors that check and complete TOML: "
            "a scenario's, or a paper's paper.toml or claims.toml.",
        ),
    ] = None,
) -> None:
    """Make a scenario of your own from one that comes with airtcp, recordings included.

    The schema is written with it: editors complete and check the keys.

    Examples: airtcp new my-link.toml --from wlan-upload;
    airtcp new --schema scenario > airtcp.schema.json
    """
    with clear_errors():
        if schema is not None:
            print_json(_schema(schema))
            return
        if file is None:
            raise ScenarioError("new: expected a file to make, as my-link.toml")
        if file.suffix != ".toml":
            raise ScenarioError(f"{file}: expected a name ending in .toml")
        written = copy_scenario(find(source, "scenarios"), writable_file(file, "new"))
        written.append(_with_schema(file))
        print(
            f"wrote {', '.join(map(str, written))}; "
            f"every key: docs/reference/scenarios.md; `airtcp check {file}` finds mistakes"
        )


def _with_schema(file: Path) -> Path:
    """Writes the schema into the scenario's folder, and names it in the scenario's first line.

    Editors with a TOML language server (Taplo, Even Better TOML) read this line.
    """
    schema = file.parent / SCHEMA_FILE
    schema.write_text(json.dumps(airtcp.schema(), indent=1) + "\n", encoding="utf-8")
    text = file.read_text(encoding="utf-8")
    file.write_text(f"#:schema ./{SCHEMA_FILE}\n{text}", encoding="utf-8")
    return schema


def schema_command(
    of: Annotated[SchemaOf, typer.Argument()] = SchemaOf.SCENARIO,
) -> None:
    """Print the JSON Schema of a kind of file, as `airtcp new --schema`."""
    with clear_errors():
        print_json(_schema(of))


def _schema(of: SchemaOf) -> object:
    if of is SchemaOf.SCENARIO:
        return airtcp.schema()
    from airtcp.papers.claims import ClaimsFile
    from airtcp.papers.files import schema_of
    from airtcp.papers.paper import PaperFile

    return schema_of(PaperFile if of is SchemaOf.PAPER else ClaimsFile)
