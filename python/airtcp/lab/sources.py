"""Sources of links on the page: ready scenarios, and dropped files."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from airtcp._core import Scenario, ScenarioError
from airtcp.lab.drops import Drops, read_scenario
from airtcp.lab.filenames import FILE_KEYS, named_files
from airtcp.lab.values import parse_quantity

MAX_S = 1800.0
"""Maximum virtual time that the page simulates."""

MAX_FLOWS = 500
"""Maximum number of flows that the page simulates."""


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
        quantity = parse_quantity(self.document["duration"])
        assert quantity is not None
        return quantity[1]

    @property
    def flows(self) -> int:
        """The number of its flows."""
        return int(self.document["flows"]["count"])


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
        for key, value in settings.items():
            _refuse_files(f"setting {key}", key, value)
        scenario = read_scenario(self.file(source), settings)
        if remedy.strip():
            scenario = scenario.with_remedies(remedy.strip())
        chosen = CheckedScenario(scenario, tomllib.loads(scenario.to_toml()))
        _check_size(chosen)
        return chosen

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


def _refuse_files(where: str, key: str, text: str) -> None:
    """Refuses settings that name files of this machine: a page drops them instead.

    Raises:
        ScenarioError: the setting names one.
    """
    if key.rpartition(".")[2].strip() in FILE_KEYS:
        names = [text]
    else:
        try:
            value = tomllib.loads(f"value = {text}")
        except tomllib.TOMLDecodeError:
            return  # plain text, as in settings
        names = [name for _, name in named_files(value)]
    if names:
        raise ScenarioError(
            f"{where}: names the file {Path(names[0]).name!r}; drop the file on the page "
            "in place of naming it"
        )


def _check_size(chosen: CheckedScenario) -> None:
    """Bounds the cost of one movement of a slider.

    Raises:
        ScenarioError: it would take too long.
    """
    if chosen.duration_s > MAX_S:
        raise ScenarioError(
            f"duration = {chosen.document['duration']}: the page shows at most "
            f"{MAX_S / 60:g} min; `airtcp run` has no such limit"
        )
    if chosen.flows > MAX_FLOWS:
        raise ScenarioError(
            f"flows.count = {chosen.flows}: the page shows at most {MAX_FLOWS} flows; "
            "`airtcp run` has no such limit"
        )
