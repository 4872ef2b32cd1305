"""Captures told from logs by their first bytes."""

from pathlib import Path

from airtcp._core import ScenarioError

_MAGICS = (
    b"\xa1\xb2\xc3\xd4",
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x4d\x3c\xb2\xa1",
    b"\x0a\x0d\x0d\x0a",
    b"\x1f\x8b",
)
"""pcap in microseconds and nanoseconds and either order, pcapng, and gzip."""


def begins_as_capture(content: bytes) -> bool:
    """The first bytes are a capture's."""
    return content.startswith(_MAGICS)


def is_capture(path: Path) -> bool:
    """A file begins as a capture does.

    Raises:
        ScenarioError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return begins_as_capture(file.read(4))
    except OSError as error:
        raise ScenarioError(
            f"{path}: cannot be read ({error.strerror}): check that the file exists and may be read"
        ) from None
