"""Provenance of the generated tables in the documentation.

The marker of each table is preceded by a comment with the engine's version and the digest of the
table's simulated cells, as listed in `docs/provenance.toml`. If the current engine simulates these
cells differently, the table is stale. It is then regenerated, or its page states in a visible
sentence that an earlier engine made it: an hour of kernel measurements is not thrown away, and no
reader takes it for current.
"""

import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from airtcp._core import engine_version
from airtcp.core.runs import run

LIST = Path("docs", "provenance.toml")
SENTENCE = "*Made with an earlier engine: today's simulation may give other numbers.*"
UNKNOWN = "unknown"
"""The digest of a table that is older than digests."""
_MARKS = (
    re.compile(r"<!-- ([a-z0-9-]+): begin -->"),
    re.compile(r"<!-- generated: ([a-z0-9 -]+) -->"),
)


@dataclass(frozen=True)
class Cell:
    """One simulated run that a table depends on."""

    scenario: Path
    settings: tuple[tuple[str, object], ...] = field(hash=False)
    """By key; a value may be a list, which is not hashable."""
    remedies: str
    seed: int


@dataclass(frozen=True)
class Table:
    """A generated table."""

    mark: str
    page: Path
    program: str
    """The command that regenerates it."""
    cells: tuple[Cell, ...]
    """The cells it depends on, or a sample of them; empty if nothing is simulated."""


@dataclass(frozen=True)
class Made:
    """Content of a table's comment."""

    engine: str
    digest: str
    is_earlier: bool


def tables(root: Path) -> list[Table]:
    """The tables listed in `docs/provenance.toml`."""
    listed = tomllib.loads((root / LIST).read_text("utf-8"))["table"]
    return [
        Table(mark, Path(entry["page"]), entry["program"], tuple(_cells(root, entry)))
        for entry in listed
        for mark in entry["marks"]
    ]


def _cells(root: Path, entry: Mapping[str, Any]) -> Iterator[Cell]:
    for cells in entry.get("cells", []):
        for name in cells["scenarios"]:
            for remedies in cells.get("remedies", [""]):
                for seed in cells.get("seeds", [1]):
                    yield _cell(root / name, cells.get("settings", {}), remedies, seed)
    if grid := entry.get("grid"):
        path = root / grid
        document = tomllib.loads(path.read_text("utf-8"))
        for link in document["link"]:
            for stack in document["stack"]:
                settings = {**link.get("settings", {}), **stack.get("settings", {})}
                yield _cell(path.parent / link["scenario"], settings, "", 1)


def _cell(scenario: Path, settings: Mapping[str, object], remedies: str, seed: int) -> Cell:
    return Cell(scenario.resolve(), tuple(sorted(settings.items())), remedies, seed)


@cache
def _result(cell: Cell) -> str:
    remedies = [cell.remedies] if cell.remedies else []
    summary = run(cell.scenario, cell.seed, dict(cell.settings), remedies, events=False).summary
    return str(summary["digest"])


def digest(cells: Sequence[Cell]) -> str:
    """The digest of these cells by the current engine: the first 16 digits of SHA-256."""
    whole = hashlib.sha256()
    for cell in cells:
        name = f"{cell.scenario.name} {cell.settings} {cell.remedies} {cell.seed}"
        whole.update(f"{name} {_result(cell)}\n".encode())
    return whole.hexdigest()[:16]


def marks(text: str) -> list[str]:
    """The marks of a page's generated tables, in order."""
    found = [match for pattern in _MARKS for match in pattern.finditer(text)]
    return [match[1] for match in sorted(found, key=lambda match: match.start())]


def _line(mark: str) -> re.Pattern[str]:
    """The comment before a marker, and the sentence, if there is one."""
    return re.compile(
        rf"<!-- provenance: {re.escape(mark)}; airtcp (\S+); (?:nothing simulated|"
        rf"\d+ simulated cells, sha256 (\w+))(; earlier)? -->\n(?:{re.escape(SENTENCE)}\n\n)?"
    )


def made(text: str, mark: str) -> Made | None:
    """The comment of a table; `None` without one."""
    found = _line(mark).search(text)
    return Made(found[1], found[2] or "", bool(found[3])) if found else None


def stamped(text: str, table: Table, said: Made) -> str:
    """The page with this comment before the table's marker.

    Raises:
        ValueError: the page has no such table.
    """
    text = _line(table.mark).sub("", text)
    for form in (f"<!-- {table.mark}: begin -->", f"<!-- generated: {table.mark} -->"):
        before, marker, after = text.partition(form)
        if marker:
            count = len(table.cells)
            what = (
                f"{count} simulated cells, sha256 {said.digest}" if count else "nothing simulated"
            )
            earlier = "; earlier" if said.is_earlier else ""
            line = f"<!-- provenance: {table.mark}; airtcp {said.engine}; {what}{earlier} -->\n"
            sentence = f"{SENTENCE}\n\n" if said.is_earlier else ""
            return f"{before}{line}{sentence}{marker}{after}"
    raise ValueError(f"{table.page}: no table {table.mark}")


def stamp(root: Path, *wanted: str) -> None:
    """Records that the current engine made these tables; called by their programs."""
    for table in tables(root):
        if table.mark in wanted:
            said = Made(engine_version, digest(table.cells) if table.cells else "", False)
            _rewrite(root, table, said)


def admit(root: Path) -> list[str]:
    """Marks tables on the pages that the current engine would change; returns their marks.

    Removes the sentence where it no longer applies.
    """
    earlier = []
    for table in tables(root):
        text = (root / table.page).read_text("utf-8")
        said = made(text, table.mark) or Made(
            engine_version, UNKNOWN if table.cells else "", bool(table.cells)
        )
        is_earlier = bool(table.cells) and said.digest != digest(table.cells)
        if is_earlier:
            earlier.append(table.mark)
        _rewrite(root, table, Made(said.engine, said.digest, is_earlier))
    return earlier


def _rewrite(root: Path, table: Table, said: Made) -> None:
    path = root / table.page
    before = path.read_text("utf-8")
    after = stamped(before, table, said)
    if after != before:
        path.write_text(after, encoding="utf-8")


def faults(root: Path) -> list[str]:
    """Errors in the provenance of the pages' tables, one sentence each; empty without errors.

    A table without a comment, a stale table without the sentence on its page, and a current one
    with it.
    """
    found = []
    listed = {(table.page, table.mark) for table in tables(root)}
    pages = (path.relative_to(root) for path in sorted(root.glob("docs/**/*.md")))
    for page in [Path("README.md"), *pages]:
        found += [
            f"{page}: {mark} is not in {LIST}: list what it was made of"
            for mark in marks((root / page).read_text("utf-8"))
            if (page, mark) not in listed
        ]
    for table in tables(root):
        said = made((root / table.page).read_text("utf-8"), table.mark)
        where = f"{table.page}: {table.mark}"
        if said is None:
            found.append(f"{where} does not say what it was made with: {table.program}")
            continue
        if not table.cells:
            continue
        is_todays = said.digest == digest(table.cells)
        if not is_todays and not said.is_earlier:
            found.append(
                f"{where} would be another today: {table.program}; or have its page say so: "
                "python pages/write_provenance.py"
            )
        if is_todays and said.is_earlier:
            found.append(f"{where} is today's again: python pages/write_provenance.py")
    return found
