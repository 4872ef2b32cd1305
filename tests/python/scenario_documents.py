"""Random scenario documents by the schema, mended key by key until they are accepted.

A document drawn blindly is refused almost always: keys exclude or need each other. A refusal names
its key, so the generator takes that key away (or draws it again, if it is needed) and asks again.
The result has keys of every table, at and near their bounds.
"""

import json
import math
import random
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import airtcp
from airtcp._core import Scenario, ScenarioError
from airtcp.core.loading import load_scenario

Document = dict[str, Any]

_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_BITS = {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9}
_BYTES = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9}
_MAX_MENDS = 400
# Runs of accepted documents have to end: these keys are drawn small, whatever the schema admits.
_SMALL = {
    "duration": ["1 ms", "200 ms", "1 s", "3 s"],
    "flows.count": [1, 2, 5],
    "wlan.stations": [1, 2, 5],
    "link.rate": ["8 kbit/s", "384 kbit/s", "10 Mbit/s", "100 Mbit/s"],
    "wired.rate": ["384 kbit/s", "10 Mbit/s", "100 Mbit/s"],
}
_KEPT = {"duration", "topology"}
_FILES = re.compile(r"(^|\.)path$")


def schema() -> Document:
    """The schema of scenario files."""
    return airtcp.schema()


def topologies() -> list[Document]:
    """The alternatives of the key `topology`."""
    (kinds,) = [one for one in schema()["properties"]["topology"]["anyOf"] if "oneOf" in one]
    return list(kinds["oneOf"])


def draw(rng: random.Random, files: Mapping[str, Path]) -> tuple[Document, Scenario, list[str]]:
    """A document that is accepted, its scenario, and the refusals on the way.

    `files` has one that can be read for each kind: `rtt_log`, `recorded`, `lost_packets`, `stops`.
    """
    document = _object(schema(), "", rng, share=rng.choice([0.05, 0.2, 0.5]))
    _name_files(document, files)
    document.setdefault("duration", "1 s")
    # Drawn evenly and kept, else most surviving documents have the default.
    document["topology"] = rng.choice([one["const"] for one in topologies()])
    refusals: list[str] = []
    for _ in range(_MAX_MENDS):
        try:
            return document, load_scenario(to_toml(document)), refusals
        except ScenarioError as error:
            refusals.append(str(error))
            _mend(document, str(error), rng)
    raise AssertionError(f"no mend helped: {refusals[-3:]}\n{to_toml(document)}")


def _mend(document: Document, refusal: str, rng: random.Random) -> None:
    """Takes away the key that a refusal names, or its table, or, at last, any table."""
    named = re.findall(r"[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*", refusal.partition('":')[2])
    keys = [key for key in named if key not in _KEPT and _holds(document, key)]
    if not keys or rng.random() < 0.1:
        # Something is missing: the table that misses it goes.
        keys = [
            name.rpartition(".")[0] for name in named if _holds(document, name.rpartition(".")[0])
        ]
    if not keys:
        keys = [key for key in document if key not in _KEPT]
    if keys:
        _remove(document, rng.choice(keys[:3]))


def _name_files(document: Document, files: Mapping[str, Path]) -> None:
    """Every key that names a file names one of its kind."""
    for key, value in document.items():
        if not isinstance(value, dict):
            continue
        _name_files(value, files)
        if key in files and (key != "stops" or value.get("process") == "recorded"):
            value["path"] = str(files[key])


def _holds(document: Document, key: str) -> bool:
    at: Any = document
    for part in key.split("."):
        if not isinstance(at, dict) or part not in at:
            return False
        at = at[part]
    return bool(key)


def _remove(document: Document, key: str) -> None:
    *tables, last = key.split(".")
    at = document
    for part in tables:
        at = at[part]
    del at[last]


def _object(spec: Document, path: str, rng: random.Random, share: float) -> Document:
    document: Document = {}
    needed = set(spec.get("required", ()))
    for name, of in spec.get("properties", {}).items():
        at = f"{path}.{name}" if path else name
        is_table = "properties" in json.dumps(of)[:400] and "object" in _types(of)
        if name not in needed and rng.random() > (0.5 if is_table else share):
            continue
        if _FILES.search(at):
            continue
        value = _value(of, at, rng, share)
        if value is not None:
            document[name] = value
    return document


def _types(spec: Document) -> list[str]:
    types = spec.get("type", [])
    return [types] if isinstance(types, str) else list(types)


def _value(spec: Document, path: str, rng: random.Random, share: float) -> Any:
    if path in _SMALL:
        return rng.choice(_SMALL[path])
    for key in ("anyOf", "oneOf"):
        if key in spec:
            kinds = [one for one in spec[key] if one.get("type") != "null"]
            return _value({**_without(spec, key), **rng.choice(kinds)}, path, rng, share)
    if "const" in spec:
        return spec["const"]
    if "enum" in spec:
        return rng.choice(spec["enum"])
    types = [one for one in _types(spec) if one != "null"]
    match rng.choice(types or ["string"]):
        case "object":
            return _object(spec, path, rng, share)
        case "array":
            count = rng.choice([0, 1, 2, 5])
            return [_value(spec.get("items", {}), path + "[]", rng, share) for _ in range(count)]
        case "boolean":
            return rng.random() < 0.5
        case "integer":
            return round(_number(spec, rng))
        case "number":
            return float(_number(spec, rng))
        case _:
            return _text(spec, rng)


def _without(spec: Document, key: str) -> Document:
    return {name: value for name, value in spec.items() if name != key}


def _number(spec: Document, rng: random.Random) -> float:
    low, high = spec.get("minimum", 0), spec.get("maximum", 1000)
    if rng.random() < 0.15:
        return float(rng.choice([low, high]))
    if isinstance(spec.get("default"), int | float) and rng.random() < 0.3:
        return float(spec["default"])
    return _between(low, min(high, max(10.0 * max(low, 1), 100.0)), rng)


def _between(low: float, high: float, rng: random.Random) -> float:
    """Evenly in the logarithm, since bounds are many powers of ten apart."""
    least = max(low, high * 1e-9, 1e-9)
    return math.exp(rng.uniform(math.log(least), math.log(max(high, least))))


def _text(spec: Document, rng: random.Random) -> str:
    bounds = spec.get("x-range", "")
    for units in (_SECONDS, _BITS, _BYTES):
        if found := re.fullmatch(r"(\S+) (\S+) to (\S+) (\S+)", bounds):
            low, low_unit, high, high_unit = found.groups()
            if low_unit in units and high_unit in units:
                if rng.random() < 0.1:
                    return rng.choice([f"{low} {low_unit}", f"{high} {high_unit}"])
                most = {id(_SECONDS): 30.0, id(_BITS): 1e8, id(_BYTES): 1e7}[id(units)]
                value = _between(
                    float(low) * units[low_unit], min(float(high) * units[high_unit], most), rng
                )
                return _written(value, units)
    if "%" in spec.get("pattern", ""):
        return f"{rng.choice([0, 0.1, 1, 5, 30, 100])} %"
    return str(rng.choice(spec.get("examples", ["x"])))


def _written(value: float, units: dict[str, float]) -> str:
    unit = max((one for one in units if units[one] <= value), key=units.__getitem__, default=None)
    unit = unit or min(units, key=units.__getitem__)
    return f"{max(1, round(value / units[unit]))} {unit}"


def to_toml(document: Document) -> str:
    """The document as TOML, tables inline."""
    return "\n".join(f"{key} = {_inline(value)}" for key, value in document.items()) + "\n"


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_inline(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return json.dumps(value)


def keys(document: Document, path: str = "") -> Iterator[str]:
    """The dotted names of all values."""
    for name, value in document.items():
        at = f"{path}.{name}" if path else name
        if isinstance(value, dict):
            yield from keys(value, at)
        else:
            yield at
