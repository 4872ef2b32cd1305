"""Ctrl-C while a command works: an exception, as usual in Python."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from airtcp.cli.stop import stop_at_once


@contextmanager
def as_exception() -> Iterator[None]:
    """Raises `KeyboardInterrupt` on Ctrl-C inside, and restores the immediate exit afterwards.

    An interrupted import can fail with another error: it is raised as the interrupt that caused it.
    In a program that only uses airtcp as a library nothing is changed.
    """
    if signal.getsignal(signal.SIGINT) is not stop_at_once:
        yield
        return
    came = False

    def interrupt(signum: int, frame: FrameType | None) -> None:
        nonlocal came
        came = True
        signal.default_int_handler(signum, frame)

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    except Exception as error:
        if came:
            raise KeyboardInterrupt from error
        raise
    finally:
        signal.signal(signal.SIGINT, stop_at_once)
