"""Archives that are the same for the same content: root's files, in order, of one instant."""

import gzip
import hashlib
import io
import os
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

INSTANT = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
"""Time of all files, in Unix seconds (reproducible-builds.org)."""


@dataclass(frozen=True)
class File:
    """A file of an archive."""

    content: bytes
    mode: int = 0o644


def tarred(
    files: Mapping[str, File], prefix: str = "", *, ended: bool = True, summed: str = ""
) -> bytes:
    """A tar archive of files by name, with their folders before them.

    Args:
        files: by name, without a slash at the beginning.
        prefix: before each name, such as "./".
        ended: with the two empty blocks that end an archive.
        summed: a key under which each file has its SHA-1, in an extended header, or empty.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        folders = {
            parent.as_posix() for name in files for parent in Path(name).parents if parent.name
        }
        for name in sorted({*folders, *files}):
            entry = tarfile.TarInfo(f"{prefix}{name}")
            entry.mtime = INSTANT
            if name in folders:
                entry.type, entry.mode = tarfile.DIRTYPE, 0o755
                archive.addfile(entry)
                continue
            entry.size, entry.mode = len(files[name].content), files[name].mode
            if summed:
                entry.pax_headers = {summed: hashlib.sha1(files[name].content).hexdigest()}
            archive.addfile(entry, io.BytesIO(files[name].content))
        size = archive.offset
    return buffer.getvalue() if ended else buffer.getvalue()[:size]


def gzipped(content: bytes) -> bytes:
    """The content compressed, without a name or a time."""
    return gzip.compress(content, 9, mtime=0)


def below(folder: Path) -> dict[str, File]:
    """All files of a folder, by their paths in it."""
    return {
        path.relative_to(folder).as_posix(): File(path.read_bytes(), path.stat().st_mode & 0o777)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
