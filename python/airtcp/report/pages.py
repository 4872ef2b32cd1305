"""Pages: templates filled in, and written whole."""

from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from airtcp.files import write_whole
from airtcp.plot.svg import colour_rules


def rendered(template: str, **values: object) -> str:
    """A template of `report/templates`, filled in."""
    return _environment().get_template(template).render(colour_rules=colour_rules(), **values)


def write_text(path: Path, text: str) -> Path:
    """Writes a text file whole; returns its path.

    Raises:
        OSError: it cannot be written.
    """
    write_whole(path, text.encode())
    return path


def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("airtcp.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
