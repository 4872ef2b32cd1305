"""Scripts in packetdrill's language, run over the simulated endpoint."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from airtcp import _core
from airtcp.core.files import FileError, read_text

Outcome = Literal["passed", "failed", "unsupported", "unreadable"]

DEFAULT_PROFILE = "linux"
# `// profile: sack` in a script names its profile; others ignore the comment.
_PROFILE = re.compile(r"^//\s*profile:\s*(\S+)", re.MULTILINE)


@dataclass(frozen=True)
class ScriptResult:
    """Result of one script.

    `report` of a failure shows the expected and the sent packet; of an unsupported or unreadable
    script, the unknown part. `line` is 0 if everything passed.
    """

    path: Path
    profile: str
    outcome: Outcome
    line: int
    report: str


def profiles() -> dict[str, str]:
    """The named stacks, with a one-line description each."""
    return dict(_core.profiles())


def find_scripts(paths: Iterable[Path]) -> Iterator[Path]:
    """The files named, and every `*.pkt` in the folders named, in order.

    Raises:
        FileNotFoundError: a path does not exist, or a folder has no scripts.
    """
    for path in paths:
        if not path.is_dir():
            if not path.exists():
                raise FileNotFoundError(f"{path}: no such file or folder")
            yield path
            continue
        found = sorted(path.rglob("*.pkt"))
        if not found:
            raise FileNotFoundError(f"{path}: no *.pkt in this folder")
        yield from found


def run_script(path: Path, profile: str | None = None) -> ScriptResult:
    """Runs one script on `profile`, or on its named profile, or on `linux`.

    A file that is not a script (not text, too large, of an unknown profile) is unreadable.

    Raises:
        OSError: the file cannot be read.
        ValueError: `profile` is unknown.
    """
    try:
        text = read_text(path)
    except FileError as error:
        return ScriptResult(path, profile or DEFAULT_PROFILE, "unreadable", 0, str(error))
    named = _PROFILE.search(text)
    chosen = profile or (named.group(1) if named else DEFAULT_PROFILE)
    if named and profile is None and chosen not in profiles():
        line = text.count("\n", 0, named.start()) + 1
        known = ", ".join(profiles())
        report = f"no profile {chosen!r}; expected one of {known}"
        return ScriptResult(path, chosen, "unreadable", line, report)
    outcome, line, report = _core.script(str(path), text, chosen)
    return ScriptResult(path, chosen, outcome, line, report)  # type: ignore[arg-type]
