"""The registry of formats, for lists and documents."""

from dataclasses import dataclass

from airtcp import _core


@dataclass(frozen=True)
class Known:
    """A format: its name, what a file of it is, what such a file may know, and never knows."""

    name: str
    title: str
    knows: list[str]
    lacks: list[str]


def formats_known() -> list[Known]:
    """All formats, in the order in which they are asked."""
    return [Known(*row) for row in _core.recording_formats()]
