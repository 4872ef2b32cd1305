"""The registry of formats, for lists and documents."""

from dataclasses import dataclass

from airtcp import _core


@dataclass(frozen=True)
class Known:
    """A format: its name, a description of its files, possible facts, and facts never present."""

    name: str
    title: str
    knows: list[str]
    lacks: list[str]


def formats_known() -> list[Known]:
    """All formats, in the order in which they are asked."""
    return [Known(*row) for row in _core.recording_formats()]
