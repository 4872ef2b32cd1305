"""Kernels given by their path, with a name derived from the content."""

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from airtcp.kernel.guests.cache import KernelError
from airtcp.kernel.guests.configuration import GUEST_CONFIGURATION, TYPES
from airtcp.kernel.guests.image import release
from airtcp.kernel.guests.source import version

_DIGITS = 12
_BY_PATH = re.compile(rf"[\w.+]+-[0-9a-f]{{{_DIGITS}}}")
_BUILT_IMAGE = ("arch", "boot")
"""Folders of an image that was built but not installed: arch/x86/boot."""


def is_path(word: str) -> bool:
    """Whether a word is a path rather than a name."""
    return "/" in word or Path(word).exists()


def name_of(path: Path) -> str:
    """The name of the kernel at a path: its version, and a hash of the content.

    A source tree is identified by the names, sizes and times of its files, as by make, and by the
    guests' configuration; a file by its content, and an image by its modules as well.

    Raises:
        KernelError: there is nothing, or no kernel.
    """
    if path.is_dir():
        known_by = hashlib.sha256((GUEST_CONFIGURATION + TYPES).encode())
        short = _short(version(path))
        for line in _listing(path):
            known_by.update(line)
    elif path.is_file():
        content = path.read_bytes()
        known_by = hashlib.sha256(content)
        if is_package(path):
            short = "package"
        else:
            short = _short(_release(path, content))
            if modules := modules_of(path):
                for line in _listing(modules):
                    known_by.update(line)
    else:
        raise KernelError(f"kernel {str(path)!r}: no such file or folder")
    return f"{short}-{known_by.hexdigest()[:_DIGITS]}"


def is_by_path(name: str) -> bool:
    """Whether a name has the form of `name_of`."""
    return _BY_PATH.fullmatch(name) is not None


def is_package(path: Path) -> bool:
    """Whether a file is a distribution's package, by its name."""
    return path.suffix == ".deb"


def modules_of(image: Path) -> Path | None:
    """The modules of an image that is installed as /boot/vmlinuz-RELEASE."""
    at = image.absolute().parent.parent / "lib" / "modules" / _release(image, image.read_bytes())
    return at if at.is_dir() else None


def configuration_of(image: Path) -> Path | None:
    """The configuration of an image that was built but not installed."""
    folder = image.absolute().parent
    if (folder.parent.parent.name, folder.name) != _BUILT_IMAGE:
        return None
    at = folder.parents[2] / ".config"
    return at if at.is_file() else None


def _release(image: Path, content: bytes) -> str:
    found = release(content)
    if found is None:
        raise KernelError(
            f"kernel {str(image)!r}: no kernel for x86-64; expected an image (bzImage), a package "
            "(.deb), or the folder of a source tree"
        )
    return found


def _short(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _listing(folder: Path) -> Iterator[bytes]:
    """One line for each file in a folder, in a fixed order, without a repository's files."""
    for at, folders, files in os.walk(folder):
        folders[:] = sorted(one for one in folders if one != ".git")
        for name in sorted(files):
            told = os.lstat(path := f"{at}/{name}")
            line = f"{os.path.relpath(path, folder)}\0{told.st_size}\0{told.st_mtime_ns}\n"
            yield line.encode(errors="surrogateescape")
