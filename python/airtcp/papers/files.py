"""The files of a paper: reading them, their JSON Schema, and error messages for their keys."""

import difflib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from airtcp._core import ScenarioError
from airtcp.core import files
from airtcp.core.files import FileError

T = TypeVar("T")

_ERROR = re.compile(r"^(?P<problem>.*?)(?: - at `\$(?P<path>[^`]*)`)?$", re.DOTALL)
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]")
_UNKNOWN = re.compile(r"unknown field `(.*)`")

Step = str | int


class PaperError(ScenarioError):
    """Invalid paper files: names the file and key, the value found and the expected one."""


def read_toml(path: Path, kind: type[T]) -> T:
    """A TOML file as the given structure.

    Raises:
        PaperError: it cannot be read, is not TOML, or a key is wrong.
    """
    try:
        given = files.read_toml(path)
    except OSError as error:
        raise PaperError(f"{path}: cannot be read ({error.strerror})") from error
    except FileError as error:
        raise PaperError(str(error)) from error
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        raise PaperError(f"{path}: {_wrong_key(given, kind, error)}") from error


def schema_of(kind: type) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a file that is read as `kind`."""
    dialect = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": dialect, **msgspec.json.schema(kind)}


def _wrong_key(given: object, kind: type, error: msgspec.ValidationError) -> str:
    """Error message in the form of a scenario's errors: the key, its value, and the expectation."""
    match = _ERROR.match(str(error))
    problem, path = (match["problem"], match["path"] or "") if match else (str(error), "")
    steps: list[Step] = [name or int(index) for name, index in _STEP.findall(path)]
    schema = schema_of(kind)
    node = _at(schema, steps)
    if unknown := _UNKNOWN.search(problem):
        known = list(node.get("properties", {}))
        return f"{_dotted([*steps, unknown[1]])}: unknown key{_remedy(unknown[1], known)}"
    value = _value(given, steps)
    where = _dotted(steps) if value is None else f"{_dotted(steps)} = {value!r}"
    if choices := [str(choice) for choice in node.get("enum", ())]:
        named = ", ".join(f'"{choice}"' for choice in choices)
        near = difflib.get_close_matches(str(value), choices, 1)
        question = f'; did you mean "{near[0]}"?' if near else ""
        return f"{where}: expected one of {named}{question}"
    return f"{where}: {problem[:1].lower()}{problem[1:]}" if steps else problem


def _remedy(unknown: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(unknown, known, 1)
    return f'; did you mean "{near[0]}"?' if near else f"; the table takes {', '.join(known)}"


def _at(schema: Mapping[str, Any], steps: Sequence[Step]) -> Mapping[str, Any]:
    """The subschema at `steps`."""
    node = _resolved(schema, schema)
    for step in steps:
        inner = node.get("items", {}) if isinstance(step, int) else node.get("properties", {})
        node = _resolved(schema, inner if isinstance(step, int) else inner.get(step, {}))
    return node


def _resolved(schema: Mapping[str, Any], node: Mapping[str, Any]) -> Mapping[str, Any]:
    name = node.get("$ref", "").removeprefix("#/$defs/")
    found: Mapping[str, Any] = schema["$defs"][name] if name else node
    return found


def _value(given: object, steps: Sequence[Step]) -> str | float | None:
    """The value there, unless it is a table or a list."""
    for step in steps:
        try:
            given = given[step]  # type: ignore[index]
        except (KeyError, IndexError, TypeError):
            return None
    return given if isinstance(given, str | int | float) else None


def _dotted(steps: Sequence[Step]) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return text.removeprefix(".")
