"""Files: only suitable ones are read or written, and content is replaced atomically."""

import os
import shutil
import stat
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from airtcp._core import ScenarioError

MAX_BYTES = 1 << 20
"""Maximum size of a file of settings, claims or events: 1 MiB."""


class FileError(ValueError):
    """Unsuitable file: gives its name, and the reason."""


def read_text(path: Path) -> str:
    """The text of a file written by a person.

    Raises:
        FileError: it is a folder, a pipe or a device, is larger than 1 MiB, or not UTF-8.
        OSError: it cannot be read.
    """
    kind = path.stat().st_mode
    if stat.S_ISDIR(kind):
        raise FileError(f"{path}: is a folder; expected a file")
    if not stat.S_ISREG(kind):
        raise FileError(f"{path}: is a pipe or a device; expected a file: save it as one first")
    with path.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise FileError(f"{path}: larger than 1 MiB; check that this is the right file")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: is no text (UTF-8) from byte {error.start} on") from error


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file.

    Raises:
        FileError: as in `read_text`, or the text is not TOML.
        OSError: it cannot be read.
    """
    text = read_text(path)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FileError(f"{path}: {error}") from error
    except RecursionError as error:
        raise FileError(f"{path}: brackets are nested too deeply") from error


def writable_file(path: Path, option: str) -> Path:
    """The path of a file to write, checked before a long run rather than after.

    Raises:
        ScenarioError: its folder does not exist, or is not writable.
    """
    folder = path.absolute().parent
    if not folder.is_dir():
        raise ScenarioError(f"{option} {path}: the folder {path.parent} does not exist")
    if path.is_dir():
        raise ScenarioError(f"{option} {path}: is a folder; expected the name of a file")
    try:
        if path.exists():
            with path.open("ab"):
                pass
        else:
            with tempfile.TemporaryFile(dir=folder):
                pass
    except OSError as error:
        raise ScenarioError(f"{option} {path}: cannot be written ({error.strerror})") from error
    return path


def writable_folder(path: Path, option: str = "--out") -> Path:
    """The folder to write into, created if absent, checked before a long run rather than after.

    Raises:
        ScenarioError: it cannot be created or written.
    """
    if path.exists() and not path.is_dir():
        raise ScenarioError(f"{option} {path}: is a file; expected a folder: give another name")
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise ScenarioError(
            f"{option} {path}: cannot be written ({error.strerror}); expected a folder of yours"
        ) from error
    return path


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file atomically: others see the old or the new content, never a part.

    A device or a pipe is written directly; a link is followed to its target.

    Raises:
        OSError: it cannot be written, and is named; no partial file remains.
    """
    path = path.resolve() if path.is_symlink() else path
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(content)
        else:
            _replace(path, content)
    except OSError as error:
        # The error of a full disk names no file.
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


@contextmanager
def whole_folder(folder: Path, last: str) -> Iterator[Path]:
    """A folder for files that appear in `folder` together, or not at all.

    Args:
        folder: created if absent.
        last: the file that appears after all others: while it is absent or old, so are the others.

    Raises:
        OSError: a file cannot be written, and is named; no partial file remains, and the previous
            content of the folder is unchanged.
    """
    folder.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=".", suffix=".partial", dir=folder))
    try:
        yield partial
        for file in sorted(partial.iterdir(), key=lambda file: file.name == last):
            file.replace(folder / file.name)
    except OSError as error:
        name = str(error.filename or folder).replace(str(partial), str(folder))
        raise OSError(error.errno, error.strerror or str(error), name) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _replace(path: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{path.stem}-", suffix=".partial", dir=path.parent)
    partial = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        # mkstemp makes files private to their owner; a result is as readable as any other file.
        partial.chmod(0o666 & ~_umask())
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
