"""The cache: a folder for each kernel, with its image, its modules and a description."""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from airtcp._core import AirtcpError
from airtcp.kernel.guests.capabilities import Capabilities

_FORMAT = 1
_DESCRIPTION = "kernel.json"
_IMAGE = "image"
_MODULES = "modules"


class KernelError(AirtcpError):
    """A kernel, or a program needed to run one, is missing or does not work."""


@dataclass(frozen=True)
class Kernel:
    """A kernel of the cache."""

    name: str
    release: str
    source: str
    """Its origin, in a user's words."""
    digest: str
    """SHA-256 of its image and its modules."""
    can: Capabilities
    needs: Mapping[str, tuple[str, ...]]
    """Its modules, with the dependencies of each."""
    folder: Path

    @property
    def image(self) -> Path:
        """The image."""
        return self.folder / _IMAGE

    def module(self, name: str) -> Path:
        """The file of a module."""
        return self.folder / _MODULES / f"{name}.ko"


@dataclass(frozen=True)
class Contents:
    """A kernel to add to the cache."""

    release: str
    source: str
    image: bytes
    modules: Mapping[str, bytes]
    """Uncompressed content by name."""
    needs: Mapping[str, tuple[str, ...]]
    can: Capabilities


def folder() -> Path:
    """The folder of all kernels (XDG base directory specification)."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The specification requires relative paths to be ignored.
    root = Path(base) if base.startswith("/") else Path.home() / ".cache"
    return root / "airtcp" / "kernels"


def store(name: str, contents: Contents) -> Kernel:
    """Adds a kernel to the cache, replacing one with the same name.

    Raises:
        OSError: the cache cannot be written.
    """
    root = folder()
    root.mkdir(parents=True, exist_ok=True)
    # Created under another name and then renamed: no other process finds half a kernel.
    made = Path(tempfile.mkdtemp(prefix=".new-", dir=root))
    try:
        (made / _MODULES).mkdir()
        (made / _IMAGE).write_bytes(contents.image)
        for module, content in contents.modules.items():
            (made / _MODULES / f"{module}.ko").write_bytes(content)
        description = {
            "format": _FORMAT,
            "release": contents.release,
            "source": contents.source,
            "digest": _digest(contents.image, contents.modules),
            "can": asdict(contents.can),
            "needs": contents.needs,
        }
        (made / _DESCRIPTION).write_text(json.dumps(description, indent=1) + "\n")
        discard(name)
        made.rename(root / name)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    return load(name)


def load(name: str) -> Kernel:
    """A kernel of the cache.

    Raises:
        KernelError: it is damaged, or of another version of airtcp.
        FileNotFoundError: no kernel has that name.
    """
    at = folder() / name
    text = (at / _DESCRIPTION).read_text()
    try:
        told = json.loads(text)
        if told["format"] != _FORMAT:
            raise ValueError(f"format {told['format']}")
        can = told["can"]
        return Kernel(
            name,
            str(told["release"]),
            str(told["source"]),
            str(told["digest"]),
            Capabilities(
                tuple(can["congestion_controls"]),
                tuple(can["disciplines"]),
                bool(can["bpf"]),
                bool(can["mptcp"]),
            ),
            {str(module): tuple(needs) for module, needs in told["needs"].items()},
            at,
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise KernelError(
            f"kernel {name}: {at / _DESCRIPTION} cannot be used ({error}); "
            f"`airtcp kernels remove {name}`, and add it again"
        ) from error


def names() -> Iterator[str]:
    """The names of all cached kernels, in order of their versions."""
    root = folder()
    if root.is_dir():
        found = [at.name for at in root.iterdir() if (at / _DESCRIPTION).is_file()]
        yield from sorted(found, key=version_key)


def discard(name: str) -> None:
    """Removes a kernel from the cache, if it is there."""
    at = folder() / name
    if at.is_dir():
        gone = Path(tempfile.mkdtemp(prefix=".old-", dir=folder()))
        at.rename(gone / name)
        shutil.rmtree(gone, ignore_errors=True)


def version_key(name: str) -> tuple[tuple[int, str], ...]:
    """Sorts versions by their numbers: 6.2 before 6.12."""
    digits = "".join(letter if letter.isdigit() else f" {letter} " for letter in name)
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in digits.split())


def _digest(image: bytes, modules: Mapping[str, bytes]) -> str:
    total = hashlib.sha256(hashlib.sha256(image).digest())
    for name in sorted(modules):
        total.update(name.encode() + b"\0" + hashlib.sha256(modules[name]).digest())
    return total.hexdigest()
