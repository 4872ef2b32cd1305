"""The command line: `airtcp run`, `compare`, `emulate`, `papers`, `verify`, and more.

What a short command waits for is imports; so little is imported here that Ctrl-C finds the program
prepared for it from its first milliseconds on.
"""

import os
import sys

try:
    # What `signal` wraps: its enumerations take three times as long to load as all else here.
    from _signal import SIGINT, signal  # type: ignore[import-not-found]
except ImportError:  # another Python than CPython
    from signal import SIGINT, signal

from airtcp.cli.stop import INTERRUPTED, stop_at_once


def main() -> None:
    """The entry point of the program `airtcp`."""
    signal(SIGINT, stop_at_once)
    if sys.stderr is None:
        # Closed by the caller: messages have nowhere to go, and that is no reason to stop.
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115
    if sys.stdout is None:
        sys.exit("airtcp: standard output is closed: send it to a file, or to /dev/null")
    # A name that is no text prints as it can, on standard output as on standard error.
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    if os.environ.get("NO_COLOR"):
        # Typer's help leaves out colours, but still prints bold.
        os.environ["_TYPER_FORCE_DISABLE_TERMINAL"] = "1"
    from airtcp.cli.commands import app

    try:
        app(prog_name="airtcp")
    except SystemExit as ended:
        if ended.code == INTERRUPTED:
            # Python may still end by the signal in place of this status, where it holds that an
            # interrupt was not handled (`exit_sigint`).
            _end_interrupted()
        raise


def _end_interrupted() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue  # the reader is gone
    os._exit(INTERRUPTED)
