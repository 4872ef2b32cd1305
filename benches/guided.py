"""The programs of ``make bench``, built with a profile as the core of a wheel is."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "packaging"))
import trained
from profile_guided import AbsentError, guided, obstacle

__all__ = ("AbsentError", "build", "obstacle")


def build() -> Path:
    """Builds them; returns their folder.

    Raises:
        AbsentError: there can be no profile here.
    """
    return trained.build_benched(guided())
