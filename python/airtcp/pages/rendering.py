"""Pages from templates, written atomically."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined

from airtcp._core import engine_version
from airtcp.core.bpf import with_program_names
from airtcp.core.files import whole_folder, write_whole
from airtcp.pages.plot.svg import colour_rules


def rendered(template: str, **values: object) -> str:
    """Renders a template of `pages/templates`."""
    page = _environment().get_template(template).render(colour_rules=colour_rules(), **values)
    return with_program_names(page)


def write_page(
    folder: Path,
    template: str,
    command: str | None = None,
    *,
    name: str = "index",
    **values: object,
) -> Path:
    """Writes a page from a template that extends `page.html.j2`; returns its path.

    Raises:
        OSError: it cannot be written.
    """
    page = rendered(template, command=command, engine_version=engine_version, **values)
    return write_text(folder / f"{name}.html", page)


def write_text(path: Path, text: str) -> Path:
    """Writes a text file atomically; returns its path.

    Raises:
        OSError: it cannot be written.
    """
    write_whole(path, text.encode())
    return path


_Result = TypeVar("_Result")
_Rest = ParamSpec("_Rest")


def whole(
    write: Callable[Concatenate[_Result, Path, _Rest], Path],
) -> Callable[Concatenate[_Result, Path, _Rest], Path]:
    """Makes a report's files appear in its folder all at once, or not at all."""

    @wraps(write)
    def write_all(
        result: _Result, folder: Path, /, *rest: _Rest.args, **named: _Rest.kwargs
    ) -> Path:
        with whole_folder(folder, last="index.html") as partial:
            page = write(result, partial, *rest, **named)
        return folder / page.name

    return write_all


def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("airtcp.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
