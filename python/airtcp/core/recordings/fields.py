"""The fields of a recording as the core reads them, once for several questions about one file."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

from airtcp import _core


def fields(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Reads a file in any format of the registry, unless it has just been read; not to be changed.

    A log of a day takes seconds, and is asked for its kind, its link and its probes.

    Raises:
        ScenarioError: it cannot be read, is of no known format, or has a fault.
    """
    try:
        found = Path(path).stat()
    except OSError:
        # The core's error names the reason.
        return _core.read_recording(path)
    return _read(os.fspath(path), found.st_ino, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=4)
def _read(path: str, _inode: int, _changed_ns: int, _size: int) -> dict[str, Any]:
    return _core.read_recording(path)
