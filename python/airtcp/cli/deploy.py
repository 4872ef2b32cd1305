"""`airtcp deploy`, `deployed` and `undeploy`: hand over to airtcp-net."""

import typer

from airtcp.cli.errors import clear_errors
from airtcp.core.net import hand_over


def deploy_command(_context: typer.Context) -> None:
    """Apply a remedy to this machine: all connections, a route, a cgroup, a share or a device.

    [bold]Examples[/bold]

    airtcp deploy sack --all --dry-run

    airtcp deploy newzag --cgroup /sys/fs/cgroup/web --share 50% --for 10min

    airtcp deploy cake --device eth0 --rate 20Mbit
    """
    with clear_errors():
        hand_over("deploy")


def deployed_command(_context: typer.Context) -> None:
    """Show deployed remedies; with --check, the connections that use them and their gain."""
    with clear_errors():
        hand_over("deployed")


def undeploy_command(_context: typer.Context) -> None:
    """Restore everything that `airtcp deploy` changed, also after a crash."""
    with clear_errors():
        hand_over("undeploy")
