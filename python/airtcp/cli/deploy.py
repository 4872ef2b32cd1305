"""`airtcp deploy`, and two former names of its forms: hand over to airtcp-net."""

import typer

from airtcp.cli.errors import clear_errors
from airtcp.core.net import hand_over


def deploy_command(_context: typer.Context) -> None:
    """Apply a remedy to this machine, list deployed ones (--list), or restore all (--undo).

    [bold]Examples[/bold]

    airtcp deploy sack --all --dry-run

    airtcp deploy newzag --cgroup /sys/fs/cgroup/web --share 50% --for 10min

    airtcp deploy --list --check

    airtcp deploy --undo
    """
    with clear_errors():
        hand_over("deploy")


def deployed_command(_context: typer.Context) -> None:
    """Show deployed remedies, as `airtcp deploy --list`."""
    with clear_errors():
        hand_over("deployed")


def undeploy_command(_context: typer.Context) -> None:
    """Restore everything that `airtcp deploy` changed, as `airtcp deploy --undo`."""
    with clear_errors():
        hand_over("undeploy")
