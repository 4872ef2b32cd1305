"""Objects of congestion controls in BPF: sources are compiled by clang, once, and kept."""

import functools
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from airtcp._core import ScenarioError
from airtcp.core import linux_module, shipped

_COMPILER = (
    "-O2",
    "-g",
    "-Wall",
    "-target",
    "bpf",
    "-D__TARGET_ARCH_x86",
    "-fno-caret-diagnostics",
)
_MULTIARCH = ("x86_64-linux-gnu", "aarch64-linux-gnu")
"""Folders of `/usr/include` with the headers of one architecture, on Debian and its like."""
_ERRORS = re.compile(r"^(?:.*/)?([^/\n]+): (?:fatal )?error: (.*)$", re.MULTILINE)
_MAX_ERRORS = 3
"""How many of the compiler's errors are shown; the first usually is the cause of the others."""
_HINTS = {
    "signed division": "set CLANG to clang 18 or newer, which has BPF's signed division",
    "__(?:float|fix|add|sub|mul|div|lt|gt|le|ge|eq|ne|un|ext|trunc).*[sdt]f": "BPF has no floating "
    "point; count in whole numbers, such as per mille",
    "'(?:asm|linux|net|sys)/.*' file not found": "a program in BPF has no headers of the "
    "kernel; include vmlinux.h or kernel.h, which come with airtcp",
    "no member named |incomplete definition of type |unknown type name ": "the vmlinux.h that "
    "comes with airtcp has the usual types and members; for all, put your kernel's in the "
    "program's folder: bpftool btf dump file /sys/kernel/btf/vmlinux format c > vmlinux.h",
}
"""Remedies for frequent errors, by an expression that their text has."""


def object_file(file: str | os.PathLike[str]) -> Path:
    """The object file itself, or that of a source, which is compiled once and kept.

    Raises:
        ScenarioError: the source cannot be read or compiled; has the compiler's words.
    """
    path = Path(file).absolute()
    if path.suffix != ".c":
        return path
    if not path.is_file():
        raise ScenarioError(f"{file} cannot be read; check that it exists and is a file")
    clang = os.environ.get("CLANG") or "clang"
    if shutil.which(clang) is None:
        raise ScenarioError(
            f"{file}: {clang} is not installed, which compiles it: apt install clang, or give an "
            "object file"
        )
    headers = shipped.folder("bpf")
    # A vmlinux.h in the program's folder is found before ours, however it is included.
    includes = [f"-I{path.parent}", f"-I{headers / 'include'}", f"-I{headers}"]
    options, given = list(_COMPILER), [str(path)]
    text = None
    if linux_module.is_module(path):
        # The kernel's warnings do not concern the reader; signed division came with ISA v4.
        options += ["-w", *(["-mcpu=v4"] if _has_v4(clang) else [])]
        includes = [f"-I{headers / 'linux' / 'include'}", *includes]
        text, given = linux_module.source(path).encode(), ["-x", "c", "-"]
    options += [*includes, *_system_headers(clang)]
    # What is compiled is known once it is preprocessed: its headers count, too.
    preprocessed = _run([clang, *options, "-E", "-P", *given], path, text)
    identity = repr((clang, _COMPILER)).encode()
    digest = hashlib.sha256(preprocessed + identity).hexdigest()[:24]
    kept = _folder() / f"{path.name.removesuffix('.c').removesuffix('.bpf')}-{digest}.bpf.o"
    if kept.is_file():
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        made = Path(folder) / "object"
        _run([clang, *options, "-c", *given, "-o", str(made)], path, text)
        made.rename(kept)
    return kept


def _folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(base) if base.startswith("/") else Path.home() / ".cache"
    return root / "airtcp" / "bpf"


@functools.cache
def _system_headers(clang: str) -> tuple[str, ...]:
    """Options for the system's headers, which the compiler lacks when it compiles for BPF.

    `linux/types.h` includes `asm/types.h`, which is that of one architecture: `/usr/include` has it
    in a folder that the compiler searches for programs of this machine alone. The folders come
    last, so that a program's headers and the shipped ones are found before them.
    """
    command = [clang, "-E", "-v", "-x", "c", os.devnull]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    _, _, after = done.stderr.partition("#include <...> search starts here:")
    listed, _, _ = after.partition("End of search list.")
    folders = [line.strip() for line in listed.splitlines() if line.strip()]
    folders = folders or [f"/usr/include/{folder}" for folder in _MULTIARCH]
    found = [folder for folder in folders if Path(folder, "asm", "types.h").is_file()]
    return tuple(word for folder in found for word in ("-idirafter", folder))


def _has_v4(clang: str) -> bool:
    """Whether the compiler knows the fourth version of BPF's instructions (clang 18)."""
    command = [clang, "-target", "bpf", "--print-supported-cpus"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "v4" in (done.stdout + done.stderr).split()


def _run(command: list[str], source: Path, text: bytes | None) -> bytes:
    done = subprocess.run(command, input=text, capture_output=True, check=False)
    if done.returncode:
        raise ScenarioError(f"{source}: {command[0]} refuses it:{_in_words(done.stderr)}")
    return done.stdout


def _in_words(output: bytes) -> str:
    """The compiler's first errors, each with its line, and how to mend them where that is known."""
    text = output.decode(errors="replace").strip()
    errors = [f"{place}: {error}" for place, error in dict.fromkeys(_ERRORS.findall(text))]
    if not errors:
        return f" {text}"
    more = [f"and {len(errors) - _MAX_ERRORS} more"] if len(errors) > _MAX_ERRORS else []
    hints = [hint for pattern, hint in _HINTS.items() if re.search(pattern, text)]
    return "".join(f"\n  {line}" for line in [*errors[:_MAX_ERRORS], *more, *hints[:1]])
