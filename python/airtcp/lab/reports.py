"""Pages of past runs: searched in one folder, and served only from there."""

import html
import re
from pathlib import Path

import msgspec

_DEPTH = 3
_MAX = 200
_HEAD_BYTES = 16_384
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".csv": "text/csv; charset=utf-8",
    ".json": "application/json",
}
"""The files of a report; no others are served from its folder."""


class Report(msgspec.Struct, frozen=True):
    """A page."""

    path: str
    """Relative to the folder of reports, with forward slashes."""
    title: str
    modified_s: float
    """Seconds since 1970."""


class Reports:
    """The reports in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def all(self) -> list[Report]:
        """The reports, the latest first; empty if the folder does not exist."""
        found = []
        for depth in range(_DEPTH + 1):
            for page in self.folder.glob("/".join(["*"] * depth + ["index.html"])):
                path = page.relative_to(self.folder).as_posix()
                if self.file(path) is not None:
                    found.append(Report(path, _title(page), page.stat().st_mtime))
        found.sort(key=lambda report: report.modified_s, reverse=True)
        return found[:_MAX]

    def file(self, path: str) -> Path | None:
        """The file at that path, links followed; None if it does not belong to a report."""
        return contained(self.folder, path, TYPES)


def contained(folder: Path, path: str, types: dict[str, str]) -> Path | None:
    """The file at `path` in `folder`, if it exists, has one of these types and is not hidden."""
    if "\0" in path or any(part.startswith(".") for part in path.split("/")):
        return None
    try:
        root = folder.resolve(strict=True)
        found = (root / path).resolve(strict=True)
        is_file = found.is_file()
    except (OSError, RuntimeError):
        return None
    if not is_file or not found.is_relative_to(root) or found.suffix not in types:
        return None
    return found


def _title(page: Path) -> str:
    with page.open("rb") as file:
        head = file.read(_HEAD_BYTES).decode("utf-8", errors="replace")
    found = _TITLE.search(head)
    return html.unescape(" ".join(found[1].split())) if found else page.parent.name
