"""An initial RAM file system in cpio's "newc" format, written without a library.

The format is that of Linux' Documentation/driver-api/early-userspace/buffer-format.rst: a header of
110 characters, the name, the content, each padded to four bytes, and a last entry "TRAILER!!!".
Archives of the same entries are identical byte for byte: owner, time and inode numbers are set only
by this module.
"""

import stat
from collections.abc import Iterable
from dataclasses import dataclass

_MAGIC = b"070701"
_END = "TRAILER!!!"


@dataclass(frozen=True)
class Entry:
    """One entry of an archive."""

    path: str
    """Relative to the root, without a leading slash."""
    mode: int
    """File type and permissions, as in `stat`."""
    content: bytes = b""
    device: tuple[int, int] = (0, 0)
    """Major and minor number of a device node."""


def folder(path: str) -> Entry:
    """A folder."""
    return Entry(path, stat.S_IFDIR | 0o755)


def file(path: str, content: bytes, *, executable: bool = False) -> Entry:
    """A regular file."""
    return Entry(path, stat.S_IFREG | (0o755 if executable else 0o644), content)


def link(path: str, target: str) -> Entry:
    """A symbolic link to `target`."""
    return Entry(path, stat.S_IFLNK | 0o777, target.encode())


def character_device(path: str, major: int, minor: int) -> Entry:
    """The node of a character device."""
    return Entry(path, stat.S_IFCHR | 0o600, device=(major, minor))


def archive(entries: Iterable[Entry]) -> bytes:
    """The archive of `entries`, with every missing folder before its content."""
    known: dict[str, Entry] = {}
    for entry in entries:
        parts = entry.path.split("/")
        if not all(parts) or ".." in parts or "." in parts:
            raise ValueError(f"{entry.path!r}: expected a relative path without dots")
        for depth in range(1, len(parts)):
            above = "/".join(parts[:depth])
            known.setdefault(above, folder(above))
        known[entry.path] = entry
    written = bytearray()
    for number, path in enumerate(sorted(known), start=1):
        _write(written, number, known[path])
    _write(written, 0, Entry(_END, 0))
    return bytes(written)


def _write(written: bytearray, number: int, entry: Entry) -> None:
    name = entry.path.encode() + b"\0"
    links = 2 if stat.S_ISDIR(entry.mode) else 1
    major, minor = entry.device
    fields = (
        number,
        entry.mode,
        0,  # owner
        0,  # group
        links,
        0,  # time of modification
        len(entry.content),
        0,
        0,  # its device
        major,
        minor,
        len(name),
        0,  # no checksum in this format
    )
    written += _MAGIC + b"".join(b"%08X" % field for field in fields) + name
    _pad(written)
    written += entry.content
    _pad(written)


def _pad(written: bytearray) -> None:
    written += bytes(-len(written) % 4)
