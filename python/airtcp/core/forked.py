"""Processes forked after Polars started threads: its tables would wait for them forever.

Only the thread that forks survives in the child (fork(2)), and Polars' thread pool does not notice
(https://docs.pola.rs/user-guide/misc/multiprocessing/). Simulations do not need it.
"""

import os
import sys
from pathlib import Path

from airtcp._core import RunError


class _Pool:
    """Whether Polars' threads were lost by the fork of this process."""

    was_running = False
    is_lost = False


def _before() -> None:
    _Pool.was_running = "polars" in sys.modules and _has_threads()


def _in_child() -> None:
    _Pool.is_lost = _Pool.is_lost or _Pool.was_running


def _has_threads() -> bool:
    """Whether a thread of this process is one of Polars'."""
    try:
        names = [path.read_text() for path in Path("/proc/self/task").glob("*/comm")]
    except OSError:
        return True
    return any(name.startswith("polars-") for name in names)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_child=_in_child)


def check_tables() -> None:
    """Refuses to build a table if that would never end.

    Raises:
        RunError: this process was forked after Polars had started its threads.
    """
    if _Pool.is_lost:
        raise RunError(
            "no table can be made in this process: it was forked after another table was made, and "
            'Polars\' threads were not; use multiprocessing.get_context("forkserver") or "spawn", '
            "or fork before the first comparison"
        )
