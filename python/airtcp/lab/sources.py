"""Sources of links on the page: ready scenarios, and dropped files."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from airtcp._core import LabSource, Scenario, ScenarioError
from airtcp.lab.drops import Drops, read_source
from airtcp.lab.times import seconds_of


class Source(msgspec.Struct, frozen=True):
    """A link to choose."""

    id: str
    name: str
    description: str
    kind: str
    """`ready` or `dropped`."""


@dataclass(frozen=True)
class CheckedScenario:
    """A link with settings and remedies, validated, and all its effective keys."""

    scenario: Scenario
    document: Mapping[str, Any]

    @property
    def duration_s(self) -> float:
        """Its virtual time in seconds."""
        seconds = seconds_of(self.document["duration"])
        assert seconds is not None
        return seconds


class Sources:
    """Ready scenarios in one folder, and dropped files."""

    def __init__(self, folder: Path, drops: Drops) -> None:
        self.folder = folder
        self.drops = drops

    def all(self) -> list[Source]:
        """All links to choose from, the dropped ones first."""
        dropped = [
            Source(drop.id, drop.name, f"dropped: {drop.name}", "dropped")
            for drop in self.drops.all()
        ]
        return dropped + [_ready(path) for path in self._files()]

    def scenario(
        self, source: str, settings: Mapping[str, str], remedy: str = ""
    ) -> CheckedScenario:
        """A source with settings and a remedy, validated.

        Raises:
            ScenarioError: it is wrong, names a file outside its folder, or is too long to show.
        """
        scenario = self.source(source).chosen(settings, remedy)
        return CheckedScenario(scenario, tomllib.loads(scenario.to_toml()))

    def source(self, source: str) -> LabSource:
        """A source as the core takes it.

        Raises:
            ScenarioError: there is no such source, or it cannot be read.
        """
        return read_source(self.file(source))

    def file(self, source: str) -> Path:
        """The scenario file of a source.

        Raises:
            ScenarioError: there is no such source.
        """
        if source.startswith("drop/"):
            return self.drops.scenario(source)
        found = next((path for path in self._files() if _ready_id(path) == source), None)
        if found is None:
            raise ScenarioError(
                f'link "{source[:60]}": unknown; choose one of the list, or drop its file'
            )
        return found

    def _files(self) -> list[Path]:
        return sorted(path for path in self.folder.glob("*.toml") if path.is_file())


def _ready_id(path: Path) -> str:
    return f"ready/{path.stem}"


def _ready(path: Path) -> Source:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        document = {}
    description = str(document.get("description", ""))
    return Source(_ready_id(path), path.stem, description, "ready")
