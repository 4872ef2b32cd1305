"""`airtcp check`: whether files are valid, without running them."""

import contextlib
import re
import subprocess
import tomllib
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from airtcp._core import AirtcpError, ScenarioError
from airtcp.cli.console import print_json
from airtcp.cli.errors import BAD_INPUT, clear_errors, say
from airtcp.core.files import FileError, read_text


class Kind(StrEnum):
    """A kind of file."""

    SCENARIO = "scenario"
    STUDY = "study"
    PAPER = "paper"
    GATEWAY = "gateway"


def check_command(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Scenarios, studies, papers (paper.toml, claims.toml), or configurations of the "
            "gateway; recognised by content. Also names from `airtcp list scenarios`.",
        ),
    ],
    kind: Annotated[
        Kind | None, typer.Option("--as", help="The kind, if not recognised.", show_default=False)
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object on standard output, nothing else.")
    ] = False,
) -> None:
    """Check files without running them: one line per error, with file and line.

    Exit status 2 if a file is invalid.

    Examples: airtcp check my-link.toml;
    airtcp check scenarios/*.toml studies/*.toml
    """
    with clear_errors():
        found = [one for file in files for one in _checked(_named(file), kind)]
    if as_json:
        print_json({"files": found})
    else:
        for one in found:
            if one["error"] is None:
                print(f"{one['file']}: valid {one['kind']}")
            else:
                line = f":{one['line']}" if one["line"] else ""
                say(f"{one['file']}{line}: {one['error']}")
    if any(one["error"] is not None for one in found):
        raise typer.Exit(BAD_INPUT)


def _named(file: Path) -> Path:
    """The file, or the one of a scenario that comes with airtcp."""
    from airtcp.core.shipped import shipped

    return file if file.exists() else shipped("scenarios").get(str(file), file)


def _checked(file: Path, kind: Kind | None) -> list[dict[str, Any]]:
    """The findings on one file, as `--json` prints them: one, or one for each error."""
    from airtcp.core.toml_place import line_of

    text = ""
    try:
        text = read_text(file)
        kind = kind or kind_of(file, tomllib.loads(text))
        _CHECKS[kind](file)
    except tomllib.TOMLDecodeError as error:
        fault = str(error)
    except OSError as error:
        fault = f"cannot be read ({error.strerror}); check that it exists"
    except (AirtcpError, FileError) as error:
        fault = _without_name(str(error), file)
    else:
        return [{"file": str(file), "kind": kind.value, "line": None, "error": None}]
    faults = [(line_of(text, fault), fault)]
    if kind is Kind.SCENARIO:
        faults += _further(file, text, *faults[0])
    kept = None if kind is None else kind.value
    return [
        {"file": str(file), "kind": kept, "line": line, "error": one}
        for line, one in sorted(faults, key=lambda one: one[0] or 0)
    ]


def _further(file: Path, text: str, line: int | None, fault: str) -> list[tuple[int | None, str]]:
    """Errors of a scenario besides its first, on `line`: lines with an error are left out in turn.

    It ends where that leaves no TOML, an error on the same line, or one that names a key left out,
    and so may be a consequence.
    """
    from airtcp.core.loading import load_scenario
    from airtcp.core.toml_place import line_of

    lines, left_out = text.splitlines(), set[str]()
    faults: list[tuple[int | None, str]] = []
    with contextlib.chdir(file.resolve().parent):
        while line is not None and "=" in lines[line - 1]:
            left_out.add(re.split(r"[ :=]", fault)[0])
            lines[line - 1] = ""
            shorter = "\n".join([*lines, ""])
            try:
                tomllib.loads(shorter)
                load_scenario(shorter)
            except tomllib.TOMLDecodeError:
                break
            except AirtcpError as error:
                fault = str(error).partition(": ")[2]
                line = line_of(shorter, fault)
                if line is None or any(key in fault for key in left_out):
                    break
                faults.append((line, fault))
            else:
                break
    return faults


def kind_of(file: Path, document: Mapping[str, object]) -> Kind:
    """The kind of a file, by its keys; a scenario if nothing shows another."""
    if file.name in {"paper.toml", "claims.toml"}:
        return Kind.PAPER
    if isinstance(document.get("link"), list) or "stack" in document:
        return Kind.STUDY
    if document.keys() & {"agents", "mobile", "hold", "watchdog", "metrics"}:
        return Kind.GATEWAY
    return Kind.SCENARIO


def _without_name(message: str, file: Path) -> str:
    """An error without the file's name in front: the line begins with it."""
    for name in (f'scenario "{file}": ', f"{file}: "):
        message = message.removeprefix(name)
    return message


def _check_scenario(file: Path) -> None:
    from airtcp.core.loading import load_scenario

    load_scenario(file)


def _check_study(file: Path) -> None:
    from airtcp.comparison.grid import check_grid, load_grid

    check_grid(load_grid(file))


def _check_paper(file: Path) -> None:
    from airtcp.papers import load_papers

    folder = file.resolve().parent
    load_papers(folder.parent, [folder.name])


def _check_gateway(file: Path) -> None:
    from airtcp.core.net import find_program

    command = [find_program(), "gateway", "--check", "--config", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ScenarioError(" ".join(done.stderr.split()).removeprefix("airtcp-net: "))


_CHECKS: Mapping[Kind, Callable[[Path], None]] = {
    Kind.SCENARIO: _check_scenario,
    Kind.STUDY: _check_study,
    Kind.PAPER: _check_paper,
    Kind.GATEWAY: _check_gateway,
}
