"""Scenarios, studies, papers and recordings that come with airtcp, found from any folder.

In a wheel they are package data; in a checkout they are its folders. A name always means a shipped
file: a file in the current folder is given by its path, and never replaces it silently.
"""

import re
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import TypedDict

from airtcp._core import ScenarioError

_PACKAGE = Path(__file__).resolve().parents[1]
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


def folder(kind: str) -> Path:
    """The folder `scenarios`, `studies`, `papers` or `recordings`.

    Raises:
        ScenarioError: the folder is missing: the package is incomplete.
    """
    for candidate in (_PACKAGE / "data" / kind, _PACKAGE.parents[1] / kind):
        if candidate.is_dir():
            return candidate
    raise ScenarioError(f"the folder {kind} that comes with airtcp is missing: install it again")


def shipped(kind: str) -> dict[str, Path]:
    """The files of a kind, `scenarios` or `studies`, by name."""
    files = sorted(folder(kind).glob("*.toml"), key=lambda path: path.stem)
    return {path.stem: path for path in files}


class ShippedScenario(TypedDict):
    """A scenario that comes with airtcp."""

    name: str
    """Its name for every function and command."""
    description: str
    path: str


def scenarios() -> list[ShippedScenario]:
    """The scenarios that come with airtcp, by name.

    >>> import airtcp
    >>> "lossy-pipe" in [entry["name"] for entry in airtcp.scenarios()]
    True
    """
    return [
        {"name": name, "description": description(path), "path": str(path)}
        for name, path in shipped("scenarios").items()
    ]


def description(path: Path) -> str:
    """Purpose of a scenario or study that comes with airtcp."""
    return str(tomllib.loads(path.read_text(encoding="utf-8")).get("description", ""))


def find(source: str, kind: str) -> Path:
    """Resolves a word of the command line: a path, or the name of a shipped file.

    Raises:
        ScenarioError: the name is also a file here, so it is ambiguous; or it is neither.
    """
    path = Path(source)
    if not _NAME.fullmatch(source):
        if not path.exists() and path.stem in shipped(kind):
            raise ScenarioError(
                f'{kind}: no file {source}; "{path.stem}" without folder and ending is what comes '
                "with airtcp"
            )
        return path
    known = shipped(kind)
    is_here = path.exists() and not path.is_dir()
    if source in known and is_here:
        raise ScenarioError(
            f'{kind}: "{source}" comes with airtcp and is a file here too: say ./{source} for the '
            f"file, {known[source]} for the other"
        )
    if source in known:
        return known[source]
    if is_here:
        return path
    if path.is_dir():
        raise ScenarioError(f'{kind}: "{source}" is a folder; expected one of its files')
    near = get_close_matches(source, known, n=1)
    hint = f' (did you mean "{near[0]}"?)' if near else ""
    raise ScenarioError(
        f'{kind}: neither a file nor a name that comes with airtcp: "{source}"{hint}: '
        "`airtcp list scenarios` lists them"
    )


def copy_scenario(source: Path, target: Path) -> list[Path]:
    """Writes a scenario to a new file, and the recordings that it names next to it.

    Returns:
        The files written, the scenario first.

    Raises:
        ScenarioError: a file with that name exists already.
        OSError: a file cannot be read or written.
    """
    text = source.read_text(encoding="utf-8")
    copies = {}
    for value in _strings(tomllib.loads(text)):
        named = source.parent / value
        if "/" in value and named.is_file():
            copies[value] = named
    written = [target, *(target.parent / named.name for named in copies.values())]
    for path in written:
        if path.exists():
            raise ScenarioError(f"{path}: is there already; nothing is written over it")
    for value, named in copies.items():
        text = text.replace(f'"{value}"', f'"{named.name}"')
        (target.parent / named.name).write_bytes(named.read_bytes())
    target.write_text(text, encoding="utf-8")
    return written


def _strings(value: object) -> list[str]:
    """All strings in a TOML document."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for inner in value.values() for text in _strings(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in _strings(inner)]
    return []
