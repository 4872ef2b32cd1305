"""Files dropped on the page: recognised by their content, kept in a folder of their own."""

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

from airtcp._core import Scenario, ScenarioError
from airtcp.diagnosis.kind import begins_as_capture
from airtcp.lab.filenames import named_files

if TYPE_CHECKING:
    from airtcp.lab.captures import FittedCapture

MAX_BYTES = 64 << 20
"""Limit of one drop."""

MAX_DROPS = 20
"""Drops that are kept; the oldest goes first."""

_MAX_SCENARIO_BYTES = 1 << 20
_PING_RATE = "12 Mbit/s"
"""A ping shows no rate: that of its link is the page's to set."""


@dataclass(frozen=True)
class Drop:
    """Files that were dropped together, one of which is a scenario."""

    id: str
    name: str
    folder: Path
    scenario: str
    """The scenario's file name in the folder."""
    found: tuple[str, ...] = ()
    """Findings of a diagnosis in a capture."""
    refusal: str = ""
    """Why no remedy is to be judged on it; empty where it may be."""


class Drops:
    """Files dropped while the server runs; gone when it ends."""

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
        """Sentences of the diagnosis that a drop comes from; none where it is no capture."""
        kept = self._drops.get(drop)
        return kept.found if kept else ()

    def refusal(self, drop: str) -> str:
        """Why no remedy is to be judged on a drop's link; empty where it may be."""
        kept = self._drops.get(drop)
        return kept.refusal if kept else ""

    def scenario(self, drop: str) -> Path:
        """The scenario file of a drop.

        Raises:
            ScenarioError: there is no such drop any more.
        """
        found = self._drops.get(drop)
        if found is None:
            raise ScenarioError(f'link "{drop[:60]}": no longer here; drop its file once more')
        return found.folder / found.scenario

    def files(self, drop: str) -> list[Path]:
        """All files of a drop."""
        return sorted(self.scenario(drop).parent.iterdir())

    def add(self, files: Mapping[str, bytes]) -> Drop:
        """Keeps files that were dropped together and finds the link that they describe.

        Raises:
            ScenarioError: they describe none, or one that is wrong.
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
        """The link of a capture; the capture itself is not kept."""
        with tempfile.TemporaryDirectory(dir=self._root) as folder:
            path = Path(folder) / name
            path.write_bytes(content)
            # A page without captures need not wait for this.
            from airtcp.lab.captures import fit

            return fit(path)

    def _pinged(self, identity: str, name: str, content: bytes) -> tuple[Drop, dict[str, bytes]]:
        """The link of a ping log, and what is wrong on it; the log itself is not kept."""
        with tempfile.TemporaryDirectory(dir=self._root) as folder:
            path = Path(folder) / name
            path.write_bytes(content)
            # A page without logs need not wait for this.
            from airtcp.diagnosis.ping_findings import said
            from airtcp.recorded.events import find_events
            from airtcp.recorded.link import played_link
            from airtcp.recorded.log import read_ping

            try:
                log = read_ping(path)
            except ScenarioError as error:
                raise ScenarioError(str(error).replace(str(path), name)) from None
        events = find_events(log)
        link = played_link(log, events, _PING_RATE)
        files = {"link.toml": link.toml, **link.files}
        refusal = log.refusal or ""
        found = () if refusal else tuple(said(log, events))
        drop = Drop(identity, name, self._folder(identity), "link.toml", found, refusal)
        return drop, {file: text.encode() for file, text in files.items()}

    def _folder(self, identity: str) -> Path:
        return self._root / identity.replace("/", "-")

    def _keep(self, drop: Drop, contents: Mapping[str, bytes]) -> Drop:
        """Writes the files of a drop, and forgets the oldest where there are too many."""
        if drop.id in self._drops:
            return self._drops[drop.id]
        drop.folder.mkdir()
        try:
            for file, content in contents.items():
                (drop.folder / file).write_bytes(content)
            read_scenario(drop.folder / drop.scenario, {})
        except BaseException:
            shutil.rmtree(drop.folder, ignore_errors=True)
            raise
        self._drops[drop.id] = drop
        while len(self._drops) > MAX_DROPS:
            oldest = self._drops.pop(next(iter(self._drops)))
            shutil.rmtree(oldest.folder, ignore_errors=True)
        return drop


def read_scenario(path: Path, settings: Mapping[str, str]) -> Scenario:
    """The scenario of a file; errors call it by its name, without the folder.

    Raises:
        ScenarioError: it cannot be read, or is wrong.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ScenarioError(f"{path.name}: is no text (UTF-8); expected TOML") from None
    except OSError as error:
        raise ScenarioError(f"{path.name}: {error.strerror}") from None
    return Scenario.parse(text, path.name, path.parent, sorted(settings.items()))


def _plain_name(name: str) -> str:
    """The last part of a file's name, of harmless characters."""
    last = re.split(r"[/\\]", name)[-1]
    return re.sub(r"[^A-Za-z0-9._-]", "-", last).lstrip(".-")[:80] or "file"


def _scenario_among(contents: dict[str, bytes]) -> tuple[str, str]:
    """The name of the scenario file, and that of the drop.

    Raises:
        ScenarioError: no scenario or several, or missing files that it names.
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
