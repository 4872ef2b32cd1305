"""`airtcp emulate`: hands over to airtcp-net, which carries real packets."""

import typer

from airtcp.cli.errors import clear_errors
from airtcp.net import hand_over


def emulate_command(_context: typer.Context) -> None:
    """Run a command over a scenario's link with real packets. Linux, no root needed.

    [bold]Examples[/bold]

    airtcp emulate wlan-upload

    airtcp emulate FILE --server "iperf3 -s" -- sh -c 'iperf3 -c $AIRTCP_SERVER'
    """
    with clear_errors():
        hand_over("emulate")
