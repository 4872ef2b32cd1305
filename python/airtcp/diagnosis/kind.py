"""Distinguishes captures from logs by their first bytes."""

import gzip
import zlib
from pathlib import Path

from airtcp._core import ScenarioError

_MAGICS = (
    b"\xa1\xb2\xc3\xd4",
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x4d\x3c\xb2\xa1",
    b"\x0a\x0d\x0d\x0a",
)
"""pcap in microseconds and nanoseconds and either byte order, and pcapng."""
_GZIP = b"\x1f\x8b"

_FIRST_BYTES = 256
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""Byte-order marks at the start of redirected output of a Windows console."""


def begins_as_capture(content: bytes) -> bool:
    """Whether the first bytes belong to a capture."""
    return content.startswith((*_MAGICS, _GZIP))


def is_capture(path: Path) -> bool:
    """Whether a file is to be read as a capture; otherwise as a log.

    Binary files count as captures: the capture reader knows the unsupported formats and refuses
    them. A pipe counts as a capture, since its first bytes cannot be read twice.

    Raises:
        ScenarioError: it cannot be read, is empty, or a folder.
    """
    expected = "expected a capture (pcap, pcapng, also gzipped) or the log of a ping"
    if path.parts[:1] in {("http:",), ("https:",)}:
        address = path.as_posix().replace(":/", "://", 1)
        raise ScenarioError(
            f"{address}: is a web address; download it, and give the file: curl -LO {address}"
        )
    try:
        if path.is_dir():
            raise ScenarioError(f"{path}: is a folder; {expected}")
        if path.exists() and not path.is_file():
            return True
        with path.open("rb") as file:
            first = file.read(_FIRST_BYTES)
        if first.startswith(_GZIP):
            first = _unpacked(path) or first
    except FileNotFoundError as error:
        raise ScenarioError(
            f"{path}: cannot be read ({error.strerror}): {_instead(path)}"
        ) from None
    except OSError as error:
        raise ScenarioError(
            f"{path}: cannot be read ({error.strerror}): check that the file exists and may be read"
        ) from None
    if not first:
        raise ScenarioError(f"{path}: is empty; {expected}")
    return begins_as_capture(first) or not _is_text(first)


def _instead(path: Path) -> str:
    """The remedy for a file that does not exist: a scenario's name is for other commands."""
    from airtcp.core.shipped import shipped

    if path.name == str(path) and path.stem in shipped("scenarios"):
        return (
            f"{path.stem} is a scenario that comes with airtcp, and a diagnosis needs a recording: "
            f"`airtcp compare {path.stem}` tries remedies on it"
        )
    return "check that the file exists and may be read"


def _unpacked(path: Path) -> bytes:
    """The first bytes of compressed content; empty if it is damaged."""
    try:
        with gzip.open(path) as file:
            return file.read(_FIRST_BYTES)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        return b""


def _is_text(content: bytes) -> bool:
    """Whether it can be a program's output, in any code page; a flood of pings has backspaces."""
    if content.startswith(_UTF_16):
        return True
    return not any(byte < 0x20 and byte not in b"\t\n\r\f\b\x1b" for byte in content)
