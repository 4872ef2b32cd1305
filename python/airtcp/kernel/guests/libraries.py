"""Programs of this machine for a guest, each with its shared libraries."""

import re
import subprocess
from pathlib import Path

from airtcp.kernel.guests.archive import Entry, file
from airtcp.kernel.guests.cache import KernelError

_LIBRARY = re.compile(r"(?:=>\s*|^\s*)(/\S+)", re.MULTILINE)


def with_libraries(program: Path, at: str) -> list[Entry]:
    """The entries of a program at a path of the guest, and of its libraries.

    Raises:
        KernelError: the program cannot be read, or one of its libraries is missing.
    """
    # Libraries by the path at which the program's loader looks for them.
    paths = {at: program} | {str(path).lstrip("/"): path for path in libraries(program)}
    return [file(path, _content(here), executable=True) for path, here in paths.items()]


def libraries(program: Path) -> list[Path]:
    """The shared libraries of a program, with its loader, by ldd(1); empty for a static one.

    Raises:
        KernelError: one is not there.
    """
    try:
        done = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise KernelError("ldd is not installed: it belongs to the C library (libc-bin)") from error
    if "not found" in done.stdout:
        missing = next(line for line in done.stdout.splitlines() if "not found" in line)
        raise KernelError(f"{program}: {missing.strip()}")
    return [Path(path) for path in dict.fromkeys(_LIBRARY.findall(done.stdout))]


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise KernelError(f"{path}: cannot be read ({error.strerror})") from error
