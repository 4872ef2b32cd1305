"""`airtcp emulate`: hands over to airtcp-net, which carries real packets."""

import sys
from typing import NoReturn

import typer

from airtcp.cli.errors import clear_errors
from airtcp.core.net import hand_over


def emulate_command(_context: typer.Context) -> None:
    """Run a command over a scenario's link with real packets. Linux, no root needed.

    [bold]Examples[/bold]

    airtcp emulate wlan-upload

    airtcp emulate FILE --server "iperf3 -s" -- sh -c 'iperf3 -c $AIRTCP_SERVER'

    airtcp emulate FILE --kernel 6.12 --server "iperf3 -s" -- sh -c 'iperf3 -c $AIRTCP_SERVER'
    """
    with clear_errors():
        words = sys.argv[sys.argv.index("emulate") + 1 :]
        before = words[: words.index("--")] if "--" in words else words
        if any(word == "--kernel" or word.startswith("--kernel=") for word in before):
            _in_virtual_time(words)
        hand_over("emulate")


def _in_virtual_time(words: list[str]) -> NoReturn:
    from airtcp.cli.kernels import kernel_name
    from airtcp.kernel.emulate import emulate, parsed

    asked = parsed(words)
    asked.kernel = kernel_name(asked.kernel)
    done = emulate(asked)
    sys.stdout.write(done.out)
    sys.stderr.write(done.err)
    raise typer.Exit(done.status)
