"""Loads scenarios: from a file or a text, with settings and remedies applied."""

import json
import os
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from airtcp import _core
from airtcp._core import Scenario, ScenarioError
from airtcp.core.shipped import find

_MAX_BYTES = (1 << 20) + 1
"""Bytes read from standard input: enough for the core to detect that it is too large."""


def _object_file(source: str | os.PathLike[str]) -> str:
    """The object file of a congestion control's source that a scenario names."""
    from airtcp.core.compiled import object_file

    return str(object_file(source))


_core.compile_with(_object_file)


def load_scenario(
    source: Scenario | str | os.PathLike[str],
    settings: Mapping[str, object] | None = None,
    remedies: Sequence[str] | str = (),
) -> Scenario:
    """A scenario from a file's path, from TOML text, or an existing one.

    Args:
        source: a path; or the name of a scenario that comes with airtcp; or the text itself,
            recognised by a line break in it; or "-" for standard input; or a `Scenario`, which then
            takes no `settings`; or a file about a link in a format of `airtcp import --formats`,
            such as iperf3's JSON or the log of a ping, which needs the setting "link.rate". Files
            that a text names are looked for from the current folder, those a file names from its
            own.
        settings: dotted key to value, for example `{"link.loss.rate": 0.01}`, applied before
            the scenario is checked. A table may be given as such, `{"link": {"loss": {"rate":
            0.01}}}`, and a time as `datetime.timedelta`.
        remedies: names from `airtcp list remedies`, each with parameters if wanted
            ("rto-factor:factor=10"), all applied together; or one such name.

    Raises:
        ScenarioError: the file cannot be read, or it, a setting or a remedy is wrong.
    """
    if isinstance(source, Scenario):
        if settings:
            raise ScenarioError("settings: a Scenario is already complete: give its file or text")
        scenario = source
    else:
        pairs = list(_pairs(settings or {}))
        scenario = _read(source, pairs)
    names = remedy_names(remedies)
    if not names:
        return scenario
    try:
        _core.deployments("+".join(names))
    except ScenarioError as error:
        # The request is wrong for any scenario: its file is not to blame.
        raise ScenarioError(f"remedies {'+'.join(names)!r}: {error}") from error
    return scenario.with_remedies("+".join(names))


def remedy_names(remedies: Sequence[str] | str) -> list[str]:
    """The requested remedies: one, or any number of them.

    Raises:
        ScenarioError: a name is empty, or not text.
    """
    if not isinstance(remedies, Iterable):
        raise ScenarioError(f"remedies = {remedies!r}: expected a name or a list of names")
    names = [remedies] if isinstance(remedies, str) else list(remedies)
    for name in names:
        if not isinstance(name, str):
            raise ScenarioError(f"remedy {name!r}: expected a name as text")
        if not name.strip():
            raise ScenarioError(
                f'remedy "{name}": expected a name: `airtcp list remedies` lists them'
            )
    return names


def parse_setting(text: str) -> tuple[str, str]:
    """The two sides of "dotted.key=value".

    Raises:
        ScenarioError: there is no "=", or no key before it.
    """
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ScenarioError(
            f'setting "{text}": expected key=value, for example link.loss.rate=0.01'
        )
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ScenarioError(f"setting {text!a}: is no text (UTF-8)") from None
    return key.strip(), value.strip()


def _read(source: object, settings: list[tuple[str, str]]) -> Scenario:
    if not isinstance(source, str | os.PathLike):
        hint = "; its keys are settings of one" if isinstance(source, Mapping) else ""
        raise ScenarioError(
            f"scenario = {source!r:.60}: expected a file's path, a name from "
            f"`airtcp list scenarios`, TOML text or a Scenario{hint}"
        )
    if source == "-":
        return Scenario.parse(_standard_input(), "stdin", settings=settings)
    if isinstance(source, str) and "\n" in source:
        return Scenario.parse(source, settings=settings)
    path = find(source, "scenarios") if isinstance(source, str) else Path(source)
    if path.is_fifo():
        # As with `<(command)`: its writer's output is as good as a file.
        return Scenario.parse(_piped(path), str(path), settings=settings)
    if path != Path(source):
        # Errors give the requested name, not the file it resolves to.
        text = path.read_text(encoding="utf-8")
        return Scenario.parse(text, str(source), path.parent, settings=settings)
    if path.suffix != ".toml" and path.is_file():
        from airtcp.core.recordings.imported import recorded_scenario
        from airtcp.core.recordings.recording import is_recording, other_kind

        if is_recording(path):
            return recorded_scenario(path, settings)
        if (kind := other_kind(path)) is not None:
            raise ScenarioError(f'scenario "{path}": {kind}')
        if (fault := _toml_fault(path)) is not None:
            raise ScenarioError(
                f'scenario "{path}": {fault}; expected a scenario in TOML (`airtcp list '
                "scenarios`), or a recording that `airtcp import --formats` lists"
            )
    if path.is_file() and path.stat().st_size == 0:
        raise ScenarioError(
            f'scenario "{path}": is empty; expected TOML: `airtcp list` has examples'
        )
    return Scenario.load(path, settings)


def _toml_fault(path: Path) -> str | None:
    """The reason why a short file is no TOML; None for TOML and long files."""
    if not 0 < path.stat().st_size < _MAX_BYTES:
        return None
    try:
        tomllib.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        return "is no text (UTF-8)"
    except RecursionError:
        return "has brackets that are nested too deeply"
    except tomllib.TOMLDecodeError as error:
        return str(error)
    except OSError:
        return None
    return None


def _standard_input() -> str:
    if sys.stdin is None:
        raise ScenarioError('scenario "stdin": standard input is closed; name a file')
    text = _text(sys.stdin.buffer.read(_MAX_BYTES), "stdin")
    if not text.strip():
        raise ScenarioError(
            'scenario "stdin": standard input is empty; expected TOML, as of `cat FILE |`'
        )
    return text


def _piped(path: Path) -> str:
    """The content of a pipe; does not wait for a writer that has not opened it."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with open(handle, "rb") as pipe:  # noqa: PTH123
        try:
            if not (first := os.read(handle, 1)):
                raise ScenarioError(f'scenario "{path}": is a pipe that nobody writes to')
        except BlockingIOError:
            first = b""
        os.set_blocking(handle, True)
        return _text(first + pipe.read(_MAX_BYTES), str(path))


def _text(content: bytes, source: str) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise ScenarioError(f'scenario "{source}": is no text (UTF-8); expected TOML') from None


def _pairs(settings: Mapping[str, object], within: str = "") -> Iterator[tuple[str, str]]:
    """Dotted keys and their values as text, with tables flattened."""
    for key, value in settings.items():
        if not isinstance(key, str):
            raise ScenarioError(f"setting {within}{key!r}: expected a key as text")
        if isinstance(value, Mapping):
            yield from _pairs(value, f"{within}{key}.")
        else:
            yield f"{within}{key}", _setting_text(f"{within}{key}", value)


def _setting_text(key: str, value: object) -> str:
    """A setting's value in TOML syntax."""
    match value:
        case bool():
            return str(value).lower()
        case timedelta():
            return f"{value / timedelta(microseconds=1):.0f} us"
        case list() | tuple():
            # JSON's strings, numbers and lists are valid TOML.
            return json.dumps(value)
        case str() | int() | float() | os.PathLike():
            return str(value)
    raise ScenarioError(
        f"setting {key} = {value!r}: expected text, a number, true or false, a time, a path, a "
        "list or a table"
    )
