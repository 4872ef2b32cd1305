"""A congestion control in BPF as a remedy: an object file, or a source that clang compiles."""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from shlex import quote

from airtcp import _core
from airtcp._core import ScenarioError
from airtcp.core import linux_module, shipped

PREFIX = "bpf:"
"""The word before the object's file name in a remedy: `bpf:my.bpf.o:beta=3`."""

_KEPT = re.compile(rf"{PREFIX}/[^:+,\n]*/airtcp/bpf/([^/:+,\n]+)-[0-9a-f]{{24}}\.bpf\.o")
"""A remedy of a source, which names the object that was compiled from it."""

Own = str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None
"""Congestion controls as a user names them; None without any."""

_GIVEN: dict[str, str] = {}
"""The file that the user named, by the object that is kept of it."""

_COMPILER = ("-O2", "-g", "-Wall", "-target", "bpf", "-D__TARGET_ARCH_x86")


def remedy(file: str | os.PathLike[str]) -> str:
    """The remedy of an object file or source; values of its constants may follow after a colon.

    >>> import airtcp.core.bpf
    >>> airtcp.core.bpf.remedy("my.bpf.o:beta=3").endswith("my.bpf.o:beta=3")  # doctest: +SKIP
    True

    Raises:
        ScenarioError: the file cannot be read, compiled or simulated; says where and why.
    """
    name, colon, values = os.fspath(file).partition(":")
    compiled = object_file(name)
    _GIVEN[str(compiled)] = name
    text = f"{PREFIX}{compiled}{colon}{values}"
    try:
        _core.deployments(text)
    except ScenarioError as error:
        # The reader knows the source, not the object that is kept of it.
        raise ScenarioError(str(error).replace(str(compiled), name)) from None
    return text


def with_own(remedies: Iterable[str], bpf: Own) -> tuple[str, ...]:
    """The remedies, with those of object files and sources added, if any are given.

    Raises:
        ScenarioError: as `remedy`.
    """
    if bpf is None:
        return tuple(remedies)
    files = [bpf] if isinstance(bpf, str | os.PathLike) else bpf
    return (*remedies, *(remedy(file) for file in files))


def as_words(text: str) -> str:
    """A remedy as words of a command line: `--bpf FILE` for a control of the user's own."""
    name, values = named(text)
    given = _GIVEN.get(name.removeprefix(PREFIX)) if is_bpf(text) else None
    if given is None:
        return quote(text)
    return f"--bpf {quote(f'{given}:{values}' if values else given)}"


def with_objects(words: Sequence[str], option: Sequence[str]) -> list[str]:
    """A command line for airtcp-net: `--bpf FILE` as the remedy of its object, after `option`.

    >>> with_objects(["deploy", "sack", "--all"], [])
    ['deploy', 'sack', '--all']

    Raises:
        ScenarioError: `--bpf` without a file, or as `remedy`.
    """
    found: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, equals, file = word.partition("=")
        if word == "--":
            return [*found, word, *rest]
        if name != "--bpf":
            found.append(word)
            continue
        if not equals:
            if not rest:
                raise ScenarioError("--bpf: expected a file, such as my.bpf.c or my.bpf.o:beta=3")
            file = rest.pop(0)
        found += [*option, remedy(file)]
    return found


def with_program_names(text: str) -> str:
    """A text for readers: a remedy of a source by its program's name, not by the kept object.

    >>> with_program_names(f"bpf:/me/.cache/airtcp/bpf/gentle-{24 * '0'}.bpf.o:a=1")
    'bpf:gentle:a=1'
    """
    return _KEPT.sub(rf"{PREFIX}\1", text)


def named(part: str) -> tuple[str, str]:
    """Name and values of a part of a combination of remedies, also of a BPF object.

    >>> named("cake:rate=9500"), named("bpf:my.bpf.o:beta=3")
    (('cake', 'rate=9500'), ('bpf:my.bpf.o', 'beta=3'))
    """
    text = part.strip()
    start = len(PREFIX) if is_bpf(text) else 0
    name, _, values = text[start:].partition(":")
    return (text[:start] + name).strip(), values


def file_of(part: str) -> str | None:
    """The object file that a part of a combination names, if any."""
    return named(part)[0].removeprefix(PREFIX) if is_bpf(part) else None


def is_bpf(part: str) -> bool:
    """Whether a part of a combination of remedies is a BPF object."""
    return part.strip().startswith(PREFIX)


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
    includes = [f"-I{headers / 'include'}", f"-I{headers}"]
    options, given = list(_COMPILER), [str(path)]
    text = None
    if linux_module.is_module(path):
        # The kernel's warnings do not concern the reader; signed division came with ISA v4.
        options += ["-w", *(["-mcpu=v4"] if _has_v4(clang) else [])]
        includes = [f"-I{headers / 'linux' / 'include'}", *includes]
        text, given = linux_module.source(path).encode(), ["-x", "c", "-"]
    options += includes
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


def _has_v4(clang: str) -> bool:
    """Whether the compiler knows the fourth version of BPF's instructions (clang 18)."""
    command = [clang, "-target", "bpf", "--print-supported-cpus"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "v4" in (done.stdout + done.stderr).split()


def _run(command: list[str], source: Path, text: bytes | None) -> bytes:
    done = subprocess.run(command, input=text, capture_output=True, check=False)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        hint = ""
        if "signed division" in said:
            hint = "\nset CLANG to clang 18 or newer, which has BPF's signed division"
        raise ScenarioError(f"{source}: {command[0]} refuses it:\n{said}{hint}")
    return done.stdout
