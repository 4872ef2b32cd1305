"""A part of a release: made, looked at, and tried in a clean root."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from clean_root import Entered, Root, entered

PACKAGES = "packages"
"""The folder of a root in which the files lie."""


@dataclass(frozen=True)
class Workshop:
    """The folders of a release."""

    dist: Path
    """Its files."""
    roots: Path
    """Clean roots, kept."""
    wheels: Path
    """Wheels of libraries, kept."""


class Artefact(ABC):
    """A part of a release; each kind is a subclass."""

    untried: ClassVar[dict[str, str]] = {}
    """Reasons by things that are not tried anywhere."""
    root: Root
    """The system in which it is tried."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Its name in tables."""

    @property
    def needs(self) -> tuple["Artefact", ...]:
        """Artefacts from which it is made."""
        return ()

    def shortfall(self) -> str | None:
        """Its shortcoming if it is made here, with the remedy; None without one."""
        return None

    def obstacle(self) -> str | None:
        """Why it cannot be tried here; None if it can."""
        return self.root.obstacle()

    @abstractmethod
    def files(self) -> tuple[str, ...]:
        """Names of its files in `Workshop.dist`."""

    @abstractmethod
    def make(self, place: Workshop) -> None:
        """Makes the files."""

    def problems(self, place: Workshop) -> list[str]:
        """Errors in the files, a sentence each."""
        return []

    @contextmanager
    def enter(self, place: Workshop) -> Iterator[Entered]:
        """Opens the root with the files in it."""
        with entered(self.root.folder(place.roots)) as inside:
            for name in self.files():
                inside.put(place.dist / name, f"{PACKAGES}/{name}")
            yield inside

    @abstractmethod
    def installing(self) -> tuple[str, ...]:
        """Lines of a shell that install it in the root."""

    @abstractmethod
    def using(self) -> tuple[str, ...]:
        """Lines of a shell that use it."""
