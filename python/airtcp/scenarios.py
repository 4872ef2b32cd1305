"""Where a scenario comes from: a file, a text, and the settings and remedies laid over it."""

import os
import sys
from collections.abc import Mapping, Sequence

from airtcp._core import Scenario, ScenarioError

_MOST_BYTES = (1 << 20) + 1
"""What is read of standard input: enough for the core to see that it is too large."""


def load_scenario(
    source: Scenario | str | os.PathLike[str],
    settings: Mapping[str, object] | None = None,
    remedies: Sequence[str] = (),
) -> Scenario:
    """A scenario from a file's path, from TOML text, or as it is.

    Args:
        source: a path; or the text itself, recognised by a line break in it; or "-" for
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
        pairs = [(key, _setting_text(value)) for key, value in (settings or {}).items()]
        scenario = _read(source, pairs)
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


def _read(source: str | os.PathLike[str], settings: list[tuple[str, str]]) -> Scenario:
    if source == "-":
        return Scenario.parse(_standard_input(), "stdin", settings=settings)
    if isinstance(source, str) and "\n" in source:
        return Scenario.parse(source, settings=settings)
    return Scenario.load(source, settings)


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read(_MOST_BYTES).decode()
    except UnicodeDecodeError:
        raise ScenarioError('scenario "stdin": is no text (UTF-8); expected TOML') from None


def _setting_text(value: object) -> str:
    """A setting's value as TOML writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
