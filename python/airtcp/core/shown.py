"""Results are plain data: `airtcp.pages` shows them, by their type.

As pandas finds what plots its frames, the renderers are found by name when they are first used:
nothing that only computes loads a renderer.
"""

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airtcp.core.extras import with_remedy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_REGISTRY = "airtcp.pages.views"


def view(result: object, kind: str, *arguments: object, **options: object) -> Any:
    """A result, shown as `kind` by the renderer that is registered for its type.

    Raises:
        KeyError: this type and kind has no renderer.
        ModuleNotFoundError: a library of an extra is missing.
    """
    try:
        return import_module(_REGISTRY).renderer(type(result), kind)(result, *arguments, **options)
    except ModuleNotFoundError as error:
        raise with_remedy(error) from error


class Reported:
    """A result with a report: a folder of files with a page."""

    def report(self, directory: str | os.PathLike[str], command: str | None = None) -> Path:
        """Writes index.html and the files that belong to it; returns its path.

        Args:
            directory: created if absent.
            command: the command line that made the result, for the provenance.

        Raises:
            CaptureError: a capture that the result is of can no longer be read.
            OSError: the directory cannot be written.
        """
        page: Path = view(self, "report", Path(directory), command)
        return page


class InNotebook:
    """A result that notebooks show as a page's fragment."""

    def _repr_html_(self) -> str:
        fragment: str = view(self, "fragment")
        return fragment


def figure(result: object, *arguments: object) -> "Figure":
    """The figure of a result."""
    drawn: Figure = view(result, "figure", *arguments)
    return drawn
