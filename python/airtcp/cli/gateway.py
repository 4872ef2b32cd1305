"""`airtcp gateway`: hands over to airtcp-net, which treats a router's real packets."""

import typer

from airtcp.cli.errors import clear_errors
from airtcp.core.net import hand_over


def gateway_command(_context: typer.Context) -> None:
    """Run an access point's remedies on a router's real packets: none, a share, or all.

    [bold]Examples[/bold]

    airtcp gateway delay-injection --mobile wlan0 --wired eth0

    airtcp gateway delay-injection --mobile wlan0 --wired eth0 --apply --share 20%

    airtcp gateway status
    """
    with clear_errors():
        hand_over("gateway")
