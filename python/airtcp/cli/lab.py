"""`airtcp lab`: see and play, in a browser."""

import signal
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from airtcp._core import ScenarioError
from airtcp.cli.asker import asked_for
from airtcp.cli.console import out
from airtcp.cli.errors import clear_errors, say
from airtcp.core.shipped import folder


def lab_command(
    port: Annotated[
        int,
        typer.Option(metavar="N", min=0, max=65535, help="The port; 0 takes any that is free."),
    ] = 8017,
    scenarios: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="The scenarios to choose from; by default the shipped ones.",
        ),
    ] = None,
    reports: Annotated[
        Path,
        typer.Option(metavar="FOLDER", help="The reports of past runs to list."),
    ] = Path("out"),
    can: Annotated[
        str | None,
        typer.Option(
            "--can",
            metavar="PLACES",
            help="What you may change, as `airtcp compare` takes it; the page begins with it. Left "
            "out, the kept answer holds.",
        ),
    ] = None,
    show: Annotated[
        bool, typer.Option("--open", help="Opens the page in this machine's browser.")
    ] = False,
) -> None:
    """Serve a page to explore a link interactively, only to this machine.

    Sliders for what matters on the link, what helps on it where you may change something, two
    remedies side by side on the same channel, the packets around a timeout, many seeds as a cloud.
    Ctrl-C ends it.

    [bold]Examples[/bold]

    airtcp lab

    airtcp lab --open --port 0 --can my-machine
    """
    with clear_errors():
        if scenarios is not None and not scenarios.is_dir():
            raise ScenarioError(f"--scenarios {scenarios}: there is no such folder")
        from airtcp.lab.server import Lab

        # The page has a choice of its places, so the terminal does not ask.
        asked = asked_for(can, is_interactive=False)
        try:
            server = Lab(port, scenarios or folder("scenarios"), reports, asked.can)
        except OSError as error:
            raise ScenarioError(
                f"--port {port}: {error.strerror}; choose another, or 0 for any that is free"
            ) from None
        # Ends as with Ctrl-C, so that dropped files are removed.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        with server:
            out.print(f"airtcp lab: {server.address}", highlight=False)
            if show:
                webbrowser.open(server.address)
            try:
                server.serve_forever()
            except KeyboardInterrupt:
                say("the lab is closed")
