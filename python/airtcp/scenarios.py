"""Where a scenario comes from: a file, a text, and the settings and remedies laid over it."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from airtcp._core import Scenario, ScenarioError

_LARGEST_SCENARIO_BYTES = 1 << 20
"""A scenario is a page of text; a file beyond this is something else and is not read in."""


def load_scenario(
    source: Scenario | str | os.PathLike[str],
    settings: Mapping[str, object] | None = None,
    remedies: Sequence[str] = (),
) -> Scenario:
    """A scenario from a file's path, from TOML text, or as it is.

    Args:
        source: a path; or the text itself, recognised by a "=" or a line break in it; or "-" for
            standard input; or a `Scenario`, which then takes no `settings`. Files that a text
            names are looked for from the current folder, those a file names from its own.
        settings: dotted key to value, for example `{"link.loss.rate": 0.01}`, applied before
            the scenario is checked.
        remedies: names from `airtcp remedies`, each with parameters if wanted
            ("rto-factor:factor=10"), all applied together.

    Raises:
        ScenarioError: the file cannot be read, or it, a setting or a remedy is wrong.
    """
    if isinstance(source, Scenario):
        if settings:
            raise ScenarioError("settings: a Scenario is already complete: give its file or text")
        scenario = source
    else:
        text, name, base = _read(source)
        pairs = [(key, _setting_text(value)) for key, value in (settings or {}).items()]
        scenario = Scenario.parse(text, name, base, pairs)
    return scenario.with_remedies("+".join(remedies)) if remedies else scenario


def parse_setting(text: str) -> tuple[str, str]:
    """The two sides of "dotted.key=value".

    Raises:
        ScenarioError: there is no "=" or nothing before it.
    """
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ScenarioError(
            f'setting "{text}": expected key=value, for example link.loss.rate=0.01'
        )
    return key.strip(), value.strip()


def _read(source: str | os.PathLike[str]) -> tuple[str, str, Path]:
    """Text, name for messages, and the folder from which the files it names are found."""
    if isinstance(source, str) and ("\n" in source or "=" in source) and not Path(source).exists():
        return source, "scenario", Path()
    if source == "-":
        return _decode(sys.stdin.buffer.read(_LARGEST_SCENARIO_BYTES + 1), "stdin"), "stdin", Path()
    path = Path(source)
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_SCENARIO_BYTES + 1)
    except OSError as error:
        raise ScenarioError(f'scenario "{path}": cannot be read: {error.strerror}') from None
    return _decode(content, str(path)), str(path), path.parent


def _decode(content: bytes, name: str) -> str:
    if len(content) > _LARGEST_SCENARIO_BYTES:
        raise ScenarioError(
            f'scenario "{name}": larger than {_LARGEST_SCENARIO_BYTES >> 20} MiB: '
            "this is not a scenario"
        )
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise ScenarioError(
            f'scenario "{name}": not text: byte {error.start} is not UTF-8'
        ) from None


def _setting_text(value: object) -> str:
    """A setting's value as TOML writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
