"""The section on scale in docs/measurements/performance.md: its tables, and their figures as data.

Each table is made by its program, which knows the columns; the figures of all are in
docs/measurements/scale.json, by the table's mark.
"""

from __future__ import annotations

import json
import platform
from pathlib import Path
from typing import Any

from airtcp.pages.marked import put
from airtcp.pages.provenance import stamp

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "measurements" / "performance.md"
FIGURES = ROOT / "docs" / "measurements" / "scale.json"


def figures(mark: str) -> Any:
    """The figures of a table, as its program wrote them; None before it did."""
    return json.loads(FIGURES.read_text("utf-8")).get(mark) if FIGURES.exists() else None


def write(mark: str, measured: Any, table: str) -> None:
    """Puts a table between its marks, its figures into the file, and records the engine."""
    every = json.loads(FIGURES.read_text("utf-8")) if FIGURES.exists() else {}
    every[mark] = measured
    FIGURES.write_text(json.dumps(every, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(put(PAGE.read_text("utf-8"), mark, table), encoding="utf-8")
    stamp(ROOT, mark)


def processor() -> str:
    """The name of this machine's processor."""
    lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
