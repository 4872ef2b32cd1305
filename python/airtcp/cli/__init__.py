"""The command line: `airtcp run`, `compare`, `emulate`, `papers`, `verify`, and more."""

from typing import Annotated

import typer

from airtcp import _core
from airtcp.cli.compare import compare_command
from airtcp.cli.console import out
from airtcp.cli.deploy import deploy_command, deployed_command, undeploy_command
from airtcp.cli.emulate import PASSED_ON, emulate_command
from airtcp.cli.papers import papers_command
from airtcp.cli.remedies import remedies_command
from airtcp.cli.run import run_command
from airtcp.cli.schema import schema_command
from airtcp.cli.script import script_command
from airtcp.cli.study import study_command
from airtcp.cli.verify import verify_command

app = typer.Typer(
    name="airtcp",
    help="Finds, proves and deploys the change that makes TCP fast over a wireless link.",
    epilog="Start with: airtcp compare scenarios/ping.toml --remedy sack --out out",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run")(run_command)
app.command("compare")(compare_command)
app.command("deploy", context_settings=PASSED_ON)(deploy_command)
app.command("deployed", context_settings=PASSED_ON)(deployed_command)
app.command("emulate", context_settings=PASSED_ON)(emulate_command)
app.command("papers")(papers_command)
app.command("remedies")(remedies_command)
app.command("schema")(schema_command)
app.command("script")(script_command)
app.command("study")(study_command)
app.command("undeploy", context_settings=PASSED_ON)(undeploy_command)
app.command("verify")(verify_command)


def _print_version(wanted: bool) -> None:
    if wanted:
        out.print(f"airtcp {_core.engine_version}", highlight=False)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and stop."
        ),
    ] = False,
) -> None:
    """Finds, proves and deploys the change that makes TCP fast over a wireless link."""


def main() -> None:
    """The entry point of the program `airtcp`."""
    app(prog_name="airtcp")
