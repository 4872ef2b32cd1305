"""Programs and files of this machine for a command in a guest."""

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from airtcp.kernel.guests.archive import Entry, file
from airtcp.kernel.guests.cache import KernelError
from airtcp.kernel.guests.libraries import with_libraries

_ELF = b"\x7fELF"
_WORD = re.compile(r"[\w./+-]+")
SHELL = "/bin/sh"


def programs_in(texts: Iterable[str]) -> list[str]:
    """Words of commands that are programs here; words of the shell itself do no harm."""
    words = [word for text in texts for word in _WORD.findall(text)]
    return [word for word in dict.fromkeys(words) if shutil.which(word)]


def brought(names: Iterable[str]) -> tuple[Entry, ...]:
    """A guest's entries for programs, by name or path, and files, and the shell.

    An executable comes with its libraries and is also put into /bin, so that it is found by name;
    any other file is copied to its path as it is.

    Raises:
        KernelError: there is no such program or file.
    """
    entries: dict[str, Entry] = {}
    for name in (SHELL, *names):
        found = shutil.which(name)
        path = Path(found or name).absolute()
        if not path.is_file():
            raise KernelError(f"--bring {name}: no program and no file of this machine")
        for entry in _entries(path):
            entries.setdefault(entry.path, entry)
        if found:
            for entry in _entries(path, f"bin/{path.name}"):
                entries.setdefault(entry.path, entry)
    return tuple(entries.values())


def _entries(path: Path, at: str | None = None) -> list[Entry]:
    at = at or str(path).lstrip("/")
    try:
        with path.open("rb") as opened:
            is_program = opened.read(4) == _ELF
        if is_program:
            return with_libraries(path, at)
        return [file(at, path.read_bytes(), executable=bool(path.stat().st_mode & 0o100))]
    except OSError as error:
        raise KernelError(f"{path}: cannot be read ({error.strerror})") from error
