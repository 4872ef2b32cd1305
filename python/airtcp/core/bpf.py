"""A congestion control in BPF as a remedy: an object file, or a source that clang compiles."""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from shlex import quote

from airtcp import _core
from airtcp._core import ScenarioError
from airtcp.core.compiled import object_file
from airtcp.core.registered import is_python

PREFIX = "bpf:"
"""The word before the object's file name in a remedy: `bpf:my.bpf.o:beta=3`."""

_KEPT = re.compile(rf"{PREFIX}/[^:+,\n]*/airtcp/bpf/([^/:+,\n]+)-[0-9a-f]{{24}}\.bpf\.o")
"""A remedy of a source, which names the object that was compiled from it."""

Own = str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None
"""Congestion controls as a user names them; None without any."""

_GIVEN: dict[str, str] = {}
"""The file that the user named, by the object that is kept of it."""


def remedy(file: str | os.PathLike[str]) -> str:
    """The remedy of an object file or source; values of its constants may follow after a colon.

    >>> import airtcp.core.bpf
    >>> airtcp.core.bpf.remedy("my.bpf.o:beta=3").endswith("my.bpf.o:beta=3")  # doctest: +SKIP
    True

    Raises:
        ScenarioError: the file cannot be read, compiled or simulated; with place and reason.
    """
    name, colon, values = os.fspath(file).partition(":")
    compiled = object_file(name)
    _GIVEN[str(compiled)] = name
    text = f"{PREFIX}{compiled}{colon}{values}"
    try:
        _core.deployments(text)
    except ScenarioError as error:
        # The reader knows the source, not the object that is kept of it.
        words = str(error).replace(str(compiled), name)
        if "unknown parameter" in words:
            words += "; a parameter is a global integer that is `const volatile`"
        raise ScenarioError(words) from None
    return text


def with_own(remedies: Iterable[str], bpf: Own) -> tuple[str, ...]:
    """The remedies, with object files and sources added, if any are given.

    Raises:
        ScenarioError: as `remedy`.
    """
    if bpf is None:
        return tuple(remedies)
    files = [bpf] if isinstance(bpf, str | os.PathLike) else bpf
    return (*remedies, *(remedy(file) for file in files))


def as_words(text: str) -> str:
    """A combination of remedies as words of a command line: `--bpf FILE` for a user-written one."""
    others, files = [], []
    for part in text.split("+"):
        name, values = named(part)
        given = _GIVEN.get(name.removeprefix(PREFIX)) if is_bpf(part) else None
        if given is None:
            others.append(part)
        else:
            files.append(f"--bpf {quote(f'{given}:{values}' if values else given)}")
    return " ".join([*([quote("+".join(others))] if others else []), *files])


def with_objects(words: Sequence[str], option: Sequence[str]) -> list[str]:
    """A command line for airtcp-net: `--bpf FILE` as the remedy of its object.

    Args:
        words: the command line.
        option: words before the remedy; without any, it is joined with the command's remedy.

    >>> with_objects(["deploy", "sack", "--all"], [])
    ['deploy', 'sack', '--all']

    Raises:
        ScenarioError: `--bpf` without a file, or as `remedy`.
    """
    found: list[str] = []
    rest = list(words)
    own: list[str] = []
    while rest and rest[0] != "--":
        word = rest.pop(0)
        name, equals, file = word.partition("=")
        if name != "--bpf":
            found.append(word)
            continue
        if not equals:
            if not rest:
                raise ScenarioError("--bpf: expected a file, such as my.bpf.c or my.bpf.o:beta=3")
            file = rest.pop(0)
        own.append(remedy(file))
        found += [*option, own[-1]]
    if own and not option:
        named_remedies = [word for word in found if word in own or _is_remedy(word)]
        place = found.index(named_remedies[0])
        found = [word for word in found if word not in named_remedies]
        found.insert(place, "+".join(named_remedies))
    return [*found, *rest]


def _is_remedy(word: str) -> bool:
    """Whether a word of a command line is a remedy, rather than an option or its value."""
    try:
        return not word.startswith("-") and bool(_core.deployments(word))
    except ScenarioError:
        return False


def with_program_names(text: str) -> str:
    """A text for readers: a user's control by its file's name, not the object's path.

    >>> with_program_names(f"bpf:/me/.cache/airtcp/bpf/gentle-{24 * '0'}.bpf.o:a=1")
    'bpf:gentle:a=1'
    """
    for kept, given in _GIVEN.items():
        name = Path(given).name.removesuffix(".c").removesuffix(".o").removesuffix(".bpf")
        text = text.replace(f"{PREFIX}{kept}", f"{PREFIX}{name}")
    return _KEPT.sub(rf"{PREFIX}\1", text)


def named(part: str) -> tuple[str, str]:
    """Name and values of a part of a combination of remedies, also of a user-written control.

    >>> named("cake:rate=9500"), named("bpf:my.bpf.o:beta=3"), named("python:My(beta=3)")
    (('cake', 'rate=9500'), ('bpf:my.bpf.o', 'beta=3'), ('python:My', 'beta=3'))
    """
    text = part.strip()
    if is_python(text):
        name, _, values = text.partition("(")
        return name, values.removesuffix(")")
    start = len(PREFIX) if is_bpf(text) else 0
    name, _, values = text[start:].partition(":")
    return (text[:start] + name).strip(), values


def file_of(part: str) -> str | None:
    """The object file that a part of a combination names, if any."""
    return named(part)[0].removeprefix(PREFIX) if is_bpf(part) else None


def is_bpf(part: str) -> bool:
    """Whether a part of a combination of remedies is a BPF object."""
    return part.strip().startswith(PREFIX)
