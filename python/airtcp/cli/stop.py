"""Ends the program immediately on Ctrl-C while there is nothing to lose. Imports almost nothing."""

import os

INTERRUPTED = 130
"""The exit status after Ctrl-C, as in shells: 128 and the number of the signal."""


def stop_at_once(*_: object) -> None:
    """Ends the program: an exception during imports would end in an arbitrary traceback."""
    os.write(2, b"airtcp: interrupted\n")
    os._exit(INTERRUPTED)
