"""The command line: `airtcp run`, `compare`, `emulate`, `papers`, `verify`, and more.

Imports dominate the start of a short command; so little is imported here that Ctrl-C is handled
from the first milliseconds on.
"""

import os
import sys

try:
    # Wrapped by `signal`: its enumerations take three times as long to load as all else here.
    from _signal import SIGINT, signal  # type: ignore[import-not-found]
except ImportError:  # another Python than CPython
    from signal import SIGINT, signal

from airtcp.cli.stop import INTERRUPTED, stop_at_once


def main() -> None:
    """The entry point of the program `airtcp`."""
    signal(SIGINT, stop_at_once)
    if sys.stderr is None:
        # Closed by the caller: messages have no destination, which is no reason to stop.
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115
    if sys.stdout is None:
        sys.exit("airtcp: standard output is closed: send it to a file, or to /dev/null")
    # Names that are not valid text are printed escaped, on standard output as on standard error.
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    if os.environ.get("NO_COLOR"):
        # Typer's help leaves out colours, but still prints bold.
        os.environ["_TYPER_FORCE_DISABLE_TERMINAL"] = "1"
    from airtcp.cli.commands import app

    try:
        app(prog_name="airtcp")
    except SystemExit as ended:
        if ended.code == INTERRUPTED:
            # Python may end by the signal instead of with this status, if it considers the
            # interrupt unhandled (`exit_sigint`).
            _end_interrupted()
        raise


def _end_interrupted() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue  # the reader is gone
    os._exit(INTERRUPTED)
