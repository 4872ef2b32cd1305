"""Pages of past runs: found below one folder, and served from it alone."""

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
"""The files of a report; nothing else is served from its folder."""


class Report(msgspec.Struct, frozen=True):
    """A page."""

    path: str
    """Below the folder of reports, with forward slashes."""
    title: str
    modified_s: float
    """Seconds since 1970."""


class Reports:
    """The reports below a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def all(self) -> list[Report]:
        """The reports, the latest first; none where the folder does not exist."""
        found = []
        for depth in range(_DEPTH + 1):
            for page in self.folder.glob("/".join(["*"] * depth + ["index.html"])):
                path = page.relative_to(self.folder).as_posix()
                if self.file(path) is not None:
                    found.append(Report(path, _title(page), page.stat().st_mtime))
        found.sort(key=lambda report: report.modified_s, reverse=True)
        return found[:_MAX]

    def file(self, path: str) -> Path | None:
        """The file of that path, links followed; None when it does not belong to a report."""
        return contained(self.folder, path, TYPES)


def contained(folder: Path, path: str, types: dict[str, str]) -> Path | None:
    """The file at `path` below `folder`, if it is there, is of these types and is not hidden."""
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
