"""`airtcp proxy`: hands over to airtcp-net, which carries real packets."""

import typer

from airtcp.cli.errors import clear_errors
from airtcp.core.net import hand_over


def proxy_command(_context: typer.Context) -> None:
    """Split TCP connections on this machine, with a separate TCP stack for each side.

    [bold]Examples[/bold]

    airtcp proxy --listen :8080 --to web.example:80 --mobile-stack linux-bbr

    airtcp proxy --listen :3129 --transparent --device wlan0 --mobile-stack linux-newzag
    """
    with clear_errors():
        hand_over("proxy")
