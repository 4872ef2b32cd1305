"""Kernels from a source tree: configured for guests, and built outside the tree."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

from airtcp.kernel.guests import cache
from airtcp.kernel.guests.cache import KernelError
from airtcp.kernel.guests.configuration import GUEST_CONFIGURATION, NEEDED, TYPES

Progress = Callable[[float, str], object]
"""Called with the finished share (estimated) and the current step."""

_TOOLS = {
    "make": "make",
    "gcc": "gcc",
    "ld": "binutils",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "perl": "perl",
}
"""Programs required by every build, with Debian's package of each."""

_OBJECTS = 1700
"""Approximate number of object files of a guest kernel of version 6, for progress."""

_STEP = re.compile(r"^\s+(\[M\]\s+)?[A-Z]{2,}\S*\s+(\S+)")
"""A line of make's output: the action, and the file."""
_ERROR = re.compile(r"\berror\b|\*\*\*", re.IGNORECASE)
_LAST_LINES = 6


def built(
    tree: Path, configuration: Path | None = None, progress: Progress | None = None
) -> Iterator[tuple[str, bytes]]:
    """The image and the configuration of a source tree, built in a temporary folder of the cache.

    Args:
        tree: the tree as in a tarball of kernel.org or a clone, without a build in it.
        configuration: the base configuration; None takes the smallest one. The guests' requirements
            are merged into it and built in; its modules are not built.
        progress: called during the build.

    Raises:
        KernelError: not a source tree, a tool is missing, or the build fails; with its last lines.
        OSError: the cache cannot be written.
    """
    tree = tree.absolute()
    _check_tree(tree)
    _check_tools()
    cache.folder().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".build-", dir=cache.folder()) as name:
        folder = Path(name)
        text = _configure(tree, folder, configuration)
        _make(tree, folder, ["bzImage"], progress)
        yield "boot/vmlinuz", (folder / "arch/x86/boot/bzImage").read_bytes()
        yield "boot/config", text.encode()


def version(tree: Path) -> str:
    """The version of a source tree by its Makefile: "6.12.117".

    Raises:
        KernelError: not a source tree.
    """
    try:
        head = (tree / "Makefile").read_text(errors="replace")[:4096]
    except OSError as error:
        raise KernelError(
            f"--source {tree}: no Makefile in it ({error.strerror}); expected a kernel's source "
            "tree"
        ) from error
    numbers = [
        found.group(1) if (found := re.search(rf"^{word} = (\d+)$", head, re.MULTILINE)) else ""
        for word in ("VERSION", "PATCHLEVEL", "SUBLEVEL")
    ]
    if not all(numbers) or not (tree / "Kconfig").is_file() or not (tree / "net/ipv4").is_dir():
        raise KernelError(f"--source {tree}: not a kernel's source tree")
    return ".".join(numbers)


def _check_tree(tree: Path) -> None:
    version(tree)
    if (tree / ".config").exists() or (tree / "include/config").exists():
        raise KernelError(
            f"--source {tree}: it has been configured or built in place. `make mrproper` cleans "
            "it; or take what was built: `airtcp kernels add --image arch/x86/boot/bzImage "
            "--modules DIR`"
        )


def _check_tools() -> None:
    missing = [package for program, package in _TOOLS.items() if shutil.which(program) is None]
    if not missing and not _has_header("gelf.h"):
        missing.append("libelf-dev")
    if missing:
        raise KernelError(
            f"to build a kernel {' '.join(missing)} {'is' if len(missing) == 1 else 'are'} "
            f"missing: on Debian and Ubuntu `apt-get install {' '.join(missing)}`"
        )


def _has_header(name: str) -> bool:
    done = subprocess.run(
        ["gcc", "-E", "-"],
        input=f"#include <{name}>\n",
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode == 0


def _configure(tree: Path, folder: Path, configuration: Path | None) -> str:
    """Writes the configuration, and returns it as completed by the kernel's tools."""
    wanted = GUEST_CONFIGURATION + (TYPES if shutil.which("pahole") else "")
    if configuration:
        (folder / ".config").write_text(configuration.read_text() + "\n" + wanted)
        _make(tree, folder, ["olddefconfig"], None)
    else:
        (folder / "wanted").write_text(wanted)
        _make(tree, folder, [f"KCONFIG_ALLCONFIG={folder / 'wanted'}", "allnoconfig"], None)
    text = (folder / ".config").read_text()
    lost = [name for name in NEEDED if f"{name}=y" not in text.splitlines()]
    if lost:
        raise KernelError(
            f"--source {tree}: its configuration does not take {', '.join(lost)}, which guests need"
        )
    return text


def _make(tree: Path, folder: Path, goals: list[str], progress: Progress | None) -> None:
    """Runs make in a separate process group, which is killed on an exception, including Ctrl-C."""
    command = ["make", "-C", str(tree), f"O={folder}", "ARCH=x86_64", f"-j{_processors()}", *goals]
    # Reproducible: independent of this machine and the current time.
    fixed = {
        "KBUILD_BUILD_TIMESTAMP": "1970-01-01",
        "KBUILD_BUILD_USER": "airtcp",
        "KBUILD_BUILD_HOST": "airtcp",
        "LC_ALL": "C",
    }
    process = subprocess.Popen(
        command,
        env=os.environ | fixed,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    # Errors in addition to the last lines: in a parallel build the first error is not at the end.
    last: deque[str] = deque(maxlen=_LAST_LINES)
    wrong: list[str] = []
    done = 0
    with process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                last.append(line.strip())
                if _ERROR.search(line) and len(wrong) < _LAST_LINES:
                    wrong.append(line.strip())
                if progress and (step := _STEP.match(line)):
                    done += 1
                    progress(min(0.99, done / _OBJECTS), step.group(2))
            status = process.wait()
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    if status != 0:
        raise KernelError(f"make {goals[-1]} in {tree} failed: {' | '.join(wrong or last)}")


def _processors() -> int:
    return len(os.sched_getaffinity(0))
