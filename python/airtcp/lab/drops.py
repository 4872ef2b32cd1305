"""Files dropped on the page: recognised by content, kept in a separate folder."""

import hashlib
import re
import shutil
import tempfile
import threading
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airtcp._core import LabSource, ScenarioError
from airtcp.diagnosis.kind import begins_as_capture
from airtcp.lab.filenames import named_files

if TYPE_CHECKING:
    from airtcp.lab.captures import FittedCapture

MAX_BYTES = 64 << 20
"""Limit of one drop."""

MAX_DROPS = 20
"""Maximum number of drops; the oldest is removed first."""

_MAX_SCENARIO_BYTES = 1 << 20
_PING_RATE = "12 Mbit/s"
"""Initial rate of a ping log's link, since pings do not show it; the page sets it."""


@dataclass(frozen=True)
class Drop:
    """Files dropped together, including a scenario."""

    id: str
    name: str
    folder: Path
    scenario: str
    """The scenario's file name in the folder."""
    found: tuple[str, ...] = ()
    """Findings of a diagnosis in a capture."""
    refusal: str = ""
    """Why no remedy can be judged on it; empty if remedies can be judged."""


class Drops:
    """Files dropped while the server runs; removed at its end."""

    def __init__(self) -> None:
        self._root = Path(tempfile.mkdtemp(prefix="airtcp-lab-"))
        self._drops: dict[str, Drop] = {}
        self._adding = threading.Lock()

    def close(self) -> None:
        """Removes every file."""
        shutil.rmtree(self._root, ignore_errors=True)

    def all(self) -> list[Drop]:
        """The drops, the latest first."""
        return list(self._drops.values())[::-1]

    def found(self, drop: str) -> tuple[str, ...]:
        """Findings of the diagnosis of a drop; empty if it is not a capture."""
        kept = self._drops.get(drop)
        return kept.found if kept else ()

    def refusal(self, drop: str) -> str:
        """Why no remedy can be judged on a drop's link; empty if remedies can be judged."""
        kept = self._drops.get(drop)
        return kept.refusal if kept else ""

    def scenario(self, drop: str) -> Path:
        """The scenario file of a drop.

        Raises:
            ScenarioError: the drop no longer exists.
        """
        found = self._drops.get(drop)
        if found is None:
            raise ScenarioError(f'link "{drop[:60]}": no longer here; drop its file once more')
        return found.folder / found.scenario

    def files(self, drop: str) -> list[Path]:
        """All files of a drop."""
        return sorted(self.scenario(drop).parent.iterdir())

    def add(self, files: Mapping[str, bytes]) -> Drop:
        """Stores files that were dropped together and finds the link that they describe.

        Raises:
            ScenarioError: they describe no link, or an invalid one.
        """
        contents = {_plain_name(name): content for name, content in files.items()}
        if len(contents) < len(files) or not contents:
            raise ScenarioError("drop: expected files with different names, at least one")
        digest = hashlib.sha256()
        for name, content in sorted(contents.items()):
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
        identity = f"drop/{digest.hexdigest()[:16]}"
        if identity in self._drops:
            return self._drops[identity]
        folder = self._folder(identity)
        captures = [name for name, content in contents.items() if begins_as_capture(content)]
        if captures and len(contents) > 1:
            raise ScenarioError(f"drop: {captures[0]} is a capture: drop it alone")
        if captures:
            fitted = self._fitted(captures[0], contents[captures[0]])
            drop = Drop(
                identity, captures[0], folder, "link.toml", tuple(fitted.found), fitted.refusal
            )
            contents = fitted.files
        elif len(contents) == 1 and not next(iter(contents)).endswith(".toml"):
            ((name, content),) = contents.items()
            drop, contents = self._pinged(identity, name, content)
        else:
            scenario, name = _scenario_among(contents)
            drop = Drop(identity, name, folder, scenario)
        with self._adding:
            return self._keep(drop, contents)

    def _fitted(self, name: str, content: bytes) -> "FittedCapture":
        """The link of a capture; the capture itself is not stored."""
        with tempfile.TemporaryDirectory(dir=self._root) as folder:
            path = Path(folder) / name
            path.write_bytes(content)
            # Imported late: a page without captures does not need it.
            from airtcp.lab.captures import fit

            return fit(path)

    def _pinged(self, identity: str, name: str, content: bytes) -> tuple[Drop, dict[str, bytes]]:
        """The link of a ping log, and its faults; the log itself is not stored."""
        with tempfile.TemporaryDirectory(dir=self._root) as folder:
            path = Path(folder) / name
            path.write_bytes(content)
            # Imported late: a page without logs does not need it.
            from airtcp.core.recordings.events import find_events
            from airtcp.core.recordings.link import played_link
            from airtcp.core.recordings.log import read_ping
            from airtcp.diagnosis.ping_findings import find, said

            try:
                log = read_ping(path)
            except ScenarioError as error:
                raise ScenarioError(str(error).replace(str(path), name)) from None
        events = find_events(log)
        link = played_link(log, events, _PING_RATE)
        refusal = log.refusal or ""
        found = () if refusal else tuple(said(log, find(log, events)))
        drop = Drop(identity, name, self._folder(identity), "link.toml", found, refusal)
        return drop, link.contents()

    def _folder(self, identity: str) -> Path:
        return self._root / identity.replace("/", "-")

    def _keep(self, drop: Drop, contents: Mapping[str, bytes]) -> Drop:
        """Writes the files of a drop, and removes the oldest if there are too many."""
        if drop.id in self._drops:
            return self._drops[drop.id]
        drop.folder.mkdir()
        try:
            for file, content in contents.items():
                (drop.folder / file).write_bytes(content)
            read_source(drop.folder / drop.scenario).chosen({})
        except BaseException:
            shutil.rmtree(drop.folder, ignore_errors=True)
            raise
        self._drops[drop.id] = drop
        while len(self._drops) > MAX_DROPS:
            oldest = self._drops.pop(next(iter(self._drops)))
            shutil.rmtree(oldest.folder, ignore_errors=True)
        return drop


def read_source(path: Path) -> LabSource:
    """The scenario of a file; errors give its name without the folder.

    Raises:
        ScenarioError: it cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ScenarioError(f"{path.name}: is no text (UTF-8); expected TOML") from None
    except OSError as error:
        raise ScenarioError(f"{path.name}: {error.strerror}") from None
    return LabSource(text, path.name, path.parent)


def _plain_name(name: str) -> str:
    """The last part of a file's name, reduced to harmless characters."""
    last = re.split(r"[/\\]", name)[-1]
    return re.sub(r"[^A-Za-z0-9._-]", "-", last).lstrip(".-")[:80] or "file"


def _scenario_among(contents: dict[str, bytes]) -> tuple[str, str]:
    """The name of the scenario file, and that of the drop.

    Raises:
        ScenarioError: no scenario or several, or files that it names are missing.
    """
    scenarios = [name for name in contents if name.endswith(".toml")]
    if len(scenarios) > 1:
        raise ScenarioError(f"drop: {' and '.join(scenarios)}: drop one scenario at a time")
    if not scenarios:
        raise ScenarioError(
            "drop: several files and no scenario among them: drop a scenario (.toml) with the "
            "files that it names, or one ping log"
        )
    (scenario,) = scenarios
    for key, file in _files_of(scenario, contents[scenario]):
        if file not in contents:
            raise ScenarioError(
                f"{scenario}: {key} = {file!r}: a dropped scenario may name only files dropped "
                "with it, without folders; drop both together"
            )
    return scenario, scenario


def _files_of(name: str, content: bytes) -> list[tuple[str, str]]:
    if len(content) > _MAX_SCENARIO_BYTES:
        raise ScenarioError(f"{name}: {len(content)} bytes: expected a scenario of 1 MiB at most")
    try:
        document: dict[str, Any] = tomllib.loads(content.decode("utf-8"))
    except UnicodeDecodeError:
        raise ScenarioError(f"{name}: is no text (UTF-8); expected TOML") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ScenarioError(f"{name}: {error}") from None
    return list(named_files(document))
