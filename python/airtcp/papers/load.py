"""Loads papers from their folders."""

from collections.abc import Sequence
from pathlib import Path

from airtcp.core import shipped
from airtcp.papers.check import check
from airtcp.papers.claims import ClaimsFile
from airtcp.papers.files import PaperError, read_toml
from airtcp.papers.paper import Paper, PaperFile


def find_papers() -> Path:
    """The folder of papers that comes with airtcp.

    Raises:
        ScenarioError: the folder does not exist.
    """
    return shipped.folder("papers")


def load_papers(folder: Path, names: Sequence[str] | None = None) -> list[Paper]:
    """The papers of a folder in the order of their numbers, checked; `names` selects some.

    A name is the folder's name, or the paper's number.

    Raises:
        PaperError: a file is missing or wrong, or a name is unknown.
    """
    papers = [_load(file.parent) for file in folder.glob("*/paper.toml")]
    papers.sort(key=lambda paper: paper.about.number)
    if not papers:
        raise PaperError(f"{folder}: no papers here: expected folders with a paper.toml each")
    if not names:
        return papers
    chosen = []
    for name in names:
        found = [one for one in papers if name in {one.name, str(one.about.number)}]
        if not found:
            known = ", ".join(f"{one.about.number} ({one.name})" for one in papers)
            raise PaperError(f"no paper {name!r}: there are {known}")
        chosen += found
    return [one for one in papers if one in chosen]


def _load(folder: Path) -> Paper:
    file = read_toml(folder / "paper.toml", PaperFile)
    claims = read_toml(folder / "claims.toml", ClaimsFile).claims
    paper = Paper(folder.name, folder, file, claims)
    check(paper)
    return paper
