"""`airtcp schema`: the JSON Schema of scenario files and papers' files."""

from enum import StrEnum
from typing import Annotated

import typer

import airtcp
from airtcp.cli.console import print_json
from airtcp.cli.errors import clear_errors


class SchemaOf(StrEnum):
    """A kind of file."""

    SCENARIO = "scenario"
    PAPER = "paper"
    CLAIMS = "claims"


def schema_command(
    of: Annotated[
        SchemaOf,
        typer.Argument(help="A scenario's file, or a paper's paper.toml or claims.toml."),
    ] = SchemaOf.SCENARIO,
) -> None:
    """Print the JSON Schema of scenario files, for editors that check and complete TOML.

    Examples: airtcp schema > airtcp.schema.json; airtcp schema paper
    """
    with clear_errors():
        if of is SchemaOf.SCENARIO:
            print_json(airtcp.schema())
            return
        from airtcp.papers.claims import ClaimsFile
        from airtcp.papers.paper import PaperFile
        from airtcp.papers.schema import schema_of

        print_json(schema_of(PaperFile if of is SchemaOf.PAPER else ClaimsFile))
