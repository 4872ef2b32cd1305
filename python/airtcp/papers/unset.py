"""Keys of a scenario's file that a reading removes: `None` in the settings of a point.

Some keys belong to one value of another (a speed to `fading = "jakes"`) and must be removed with
it. The table that has the key is written as a whole without it; single keys are set after it.
"""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from airtcp.papers.files import PaperError


def without_unset(path: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of the scenario at `path`, with tables in place of removed keys.

    Raises:
        PaperError: a key's table is neither in the settings nor in the file.
    """
    kept = {key: value for key, value in settings.items() if value is not None}
    gone = [key for key, value in settings.items() if value is None]
    if not gone:
        return kept
    document = tomllib.loads(path.read_text("utf-8"))
    for key in gone:
        name, _, leaf = key.rpartition(".")
        table = _table(document, kept, name)
        if table is None:
            raise PaperError(f"{path}: unset {key}: no table {name}: expected one with this key")
        table.pop(leaf, None)
        kept[name] = _inline(table)
    return kept


def _table(
    document: Mapping[str, Any], settings: Mapping[str, Any], name: str
) -> dict[str, Any] | None:
    """The table with that name, from the settings or else from the file."""
    if name in settings:
        return dict(tomllib.loads(f"table = {settings[name]}")["table"])
    found: Any = document
    for part in name.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return dict(found) if isinstance(found, Mapping) else None


def _inline(value: Any) -> str:
    """A value as inline TOML."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_inline(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_inline(one) for one in value) + "]"
    return json.dumps(value, ensure_ascii=False)
