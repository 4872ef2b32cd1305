"""The initial file system of a guest: airtcp-net as its first process, and its modules."""

from collections.abc import Sequence
from pathlib import Path

from airtcp.kernel.guests.archive import Entry, archive, character_device, file, folder, link
from airtcp.kernel.guests.cache import Kernel
from airtcp.kernel.guests.libraries import with_libraries

_MODULE_FOLDER = "airtcp/modules"
MODULES = "/airtcp/modules.txt"
"""The list of modules that airtcp-net loads."""
PROGRAM = "/airtcp/airtcp-net"
FOLDERS = ("dev", "etc", "proc", "root", "run", "sys", "tmp")


def initramfs(
    kernel: Kernel, program: Path, modules: Sequence[str], more: Sequence[Entry] = ()
) -> bytes:
    """The archive for a kernel and an airtcp-net; reproducible.

    Args:
        kernel: the kernel that has the modules.
        program: the path of airtcp-net.
        modules: names of modules, in load order.
        more: further entries.
    """
    entries = [
        *(folder(name) for name in FOLDERS),
        character_device("dev/console", 5, 1),
        link("init", PROGRAM),
        *with_libraries(program, PROGRAM.lstrip("/")),
        *more,
    ]
    paths = [f"{_MODULE_FOLDER}/{name}.ko" for name in modules]
    for name, path in zip(modules, paths, strict=True):
        entries.append(file(path, kernel.module(name).read_bytes()))
    entries.append(file(MODULES.lstrip("/"), "".join(f"/{path}\n" for path in paths).encode()))
    return archive(entries)
