"""`airtcp schema`: what a scenario file may contain."""

import airtcp
from airtcp.cli.console import print_json
from airtcp.cli.errors import clear_errors


def schema_command() -> None:
    """Print the JSON Schema of scenario files, for editors that check and complete TOML.

    Example: airtcp schema > airtcp.schema.json
    """
    with clear_errors():
        print_json(airtcp.schema())
