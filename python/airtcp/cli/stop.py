"""Ends the program immediately on Ctrl-C while nothing can be lost. Imports almost nothing."""

import os

INTERRUPTED = 130
"""The exit status after Ctrl-C, as shells have it: 128 and the number of the signal."""


def stop_at_once(*_: object) -> None:
    """Ends the program: while modules are imported an exception would be anybody's traceback."""
    os.write(2, b"airtcp: interrupted\n")
    os._exit(INTERRUPTED)
