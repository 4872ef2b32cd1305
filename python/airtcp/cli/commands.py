"""Every command of the program, and their group."""

from typing import Annotated

import typer

from airtcp.cli.lazy import FORMER, LazyCommand, LazyGroup

_ASK = "What helps on a link"
_REAL = "With real packets (Linux)"
_KNOW = "Catalogue"

COMMANDS = {
    "diagnose": LazyCommand(
        _ASK,
        "diagnose:diagnose_command",
        "Find out from a capture or a ping log what makes TCP slow, and what would help.",
    ),
    "compare": LazyCommand(
        _ASK,
        "compare:compare_command",
        "Compare remedies with the scenario as written, all on the same seeds.",
    ),
    "tune": LazyCommand(
        _ASK,
        "tune:tune_command",
        "Search the parameters and combinations of remedies that are best for a link.",
    ),
    "import": LazyCommand(
        _ASK,
        "imports:import_command",
        "Make a scenario from files: iperf3, speed tests, ping, tc, mahimahi, flent and more.",
    ),
    "run": LazyCommand(_ASK, "run:run_command", "Run a scenario once."),
    "lab": LazyCommand(
        _ASK,
        "lab:lab_command",
        "Serve a page to explore a link interactively, only to this machine.",
    ),
    "study": LazyCommand(
        _ASK,
        "study:study_command",
        "Compare remedies on every link and stack that a study file names.",
    ),
    "demo": LazyCommand(
        _ASK,
        "demo:demo_command",
        "Show what airtcp is for: a link, what is wrong on it, what helps, what to do.",
    ),
    "papers": LazyCommand(
        _ASK,
        "papers:papers_command",
        "Rerun every table and figure of the papers, and judge every claim.",
    ),
    "script": LazyCommand(
        _ASK,
        "script:script_command",
        "Run packetdrill scripts against the simulated endpoint: no root, no real time.",
    ),
    "measure": LazyCommand(
        _REAL,
        "measure:measure_command",
        "Measure a real link: round trips idle and loaded, goodput, responsiveness; what helps.",
    ),
    "verify": LazyCommand(
        _REAL,
        "verify:verify_command",
        "Measure remedies on this machine's kernel, or others, over the scenario's link.",
    ),
    "kernels": LazyCommand(
        _REAL,
        "kernels:kernels_command",
        "List the kernels that `airtcp verify --kernel` runs in virtual time, add or remove one.",
    ),
    "deploy": LazyCommand(
        _REAL,
        "packets:deploy_command",
        "Apply a remedy to this machine, list deployed ones (--list), or restore all (--undo).",
        passed_on=True,
    ),
    "emulate": LazyCommand(
        _REAL,
        "packets:emulate_command",
        "Run a command over a scenario's link with real packets. Linux, no root needed.",
        passed_on=True,
    ),
    "gateway": LazyCommand(
        _REAL,
        "packets:gateway_command",
        "Run an access point's remedies on a router's real packets: none, a share, or all.",
        passed_on=True,
    ),
    "proxy": LazyCommand(
        _REAL,
        "packets:proxy_command",
        "Split TCP connections on this machine, with a separate TCP stack for each side.",
        passed_on=True,
    ),
    "serve": LazyCommand(
        _REAL,
        "packets:serve_command",
        "Serve a folder over HTTP, on airtcp's TCP, to curl, a browser or any other client.",
        passed_on=True,
    ),
    "send": LazyCommand(
        _REAL,
        "packets:send_command",
        "Send a file over airtcp's TCP, with any remedy, to any receiver.",
        passed_on=True,
    ),
    "list": LazyCommand(
        _KNOW,
        "catalogue:list_command",
        "List the remedies, scenarios and studies that come with airtcp, by name.",
    ),
    "new": LazyCommand(
        _KNOW,
        "new:new_command",
        "Make a scenario of your own from one that comes with airtcp, recordings included.",
    ),
    "check": LazyCommand(
        _KNOW,
        "check:check_command",
        "Check files without running them: one line per error, with file and line.",
    ),
    "export": LazyCommand(
        _KNOW,
        "export:export_command",
        "Write a scenario's link for netem, mahimahi, CellReplay or ns-3.",
    ),
    # Former names, for one release.
    "deployed": LazyCommand(
        FORMER,
        "packets:deployed_command",
        "Show deployed remedies, as `airtcp deploy --list`.",
        passed_on=True,
    ),
    "undeploy": LazyCommand(
        FORMER,
        "packets:undeploy_command",
        "Restore everything that `airtcp deploy` changed, as `airtcp deploy --undo`.",
        passed_on=True,
    ),
    "remedies": LazyCommand(
        FORMER,
        "catalogue:remedies_command",
        "List the remedies, as `airtcp list remedies`.",
    ),
    "scenarios": LazyCommand(
        FORMER,
        "catalogue:scenarios_command",
        "List the scenarios and studies, as `airtcp list scenarios`.",
    ),
    "schema": LazyCommand(
        FORMER,
        "new:schema_command",
        "Print the JSON Schema of a kind of file, as `airtcp new --schema`.",
    ),
}
"""Every command; a new one is a module in `airtcp.cli` and an entry here."""


class _Group(LazyGroup):
    table = COMMANDS


app = typer.Typer(
    name="airtcp",
    cls=_Group,
    help="Finds, proves and deploys the change that makes TCP fast over a wireless link.",
    epilog="Start with: airtcp compare lossy-pipe --set link.loss.rate=0.01",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from airtcp._core import engine_version

        print(f"airtcp {engine_version}")
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
