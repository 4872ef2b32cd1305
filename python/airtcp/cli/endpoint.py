"""`airtcp send` and `airtcp serve`: hand over to airtcp-net, whose own TCP carries the bytes."""

import sys

import typer

from airtcp.cli.errors import clear_errors
from airtcp.core.net import hand_over


def send_command(_context: typer.Context) -> None:
    """Send a file over airtcp's own TCP, with any remedy, to any receiver.

    [bold]Example[/bold]

    airtcp send FILE 10.112.7.1:9000 --remedy rto-factor:m=10 --stats
    """
    with clear_errors():
        hand_over("send")


def serve_command(_context: typer.Context) -> None:
    """Serve a folder by HTTP over airtcp's own TCP, to curl, a browser or any other client.

    [bold]Example[/bold]

    airtcp serve --port 8000 --dir . --remedy newzag

    airtcp serve --measure
    """
    if "--measure" in sys.argv[2:]:
        from airtcp.cli.measure import serve_measurements

        serve_measurements([word for word in sys.argv[2:] if word != "--measure"])
        return
    with clear_errors():
        hand_over("serve")
