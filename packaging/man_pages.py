"""Writes the man pages and the completion files of `airtcp`, from its help texts.

    python packaging/man_pages.py FOLDER

FOLDER has the layout of /usr/share: man/man1, bash-completion/completions,
zsh/vendor-completions and fish/vendor_completions.d. Pages of commands on real packets have the
text of airtcp-net's help.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.completion import get_completion_script

from airtcp._core import engine_version
from airtcp.cli.commands import COMMANDS, app
from airtcp.cli.lazy import FORMER

PROGRAM = "airtcp"
COMPLETIONS = {
    "bash": "bash-completion/completions/airtcp",
    "zsh": "zsh/vendor-completions/_airtcp",
    "fish": "fish/vendor_completions.d/airtcp.fish",
}
"""By shell, the file that Debian's packages have for it."""
_MARKUP = re.compile(r"\[(/?)bold\]")


def pages() -> Iterator[tuple[str, str]]:
    """Names and contents of all pages; former names of commands have no page."""
    listed = {name: one for name, one in COMMANDS.items() if one.section != FORMER}
    yield f"{PROGRAM}.1", _main_page(listed)
    for name, one in listed.items():
        title = f"{PROGRAM}-{name}"
        parts = [*_head(title, one.line)]
        parts += _of_net(name) if one.passed_on else _of_command(name, one.load(name))
        parts += [".SH SEE ALSO", _plain(f"{PROGRAM}(1)")]
        yield f"{title}.1", "\n".join(parts) + "\n"


def escaped(text: str) -> str:
    """A line for roff (groff_man(7)): no request, no escape, and the dashes of a shell."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    text = re.sub(r"[^\x00-\x7f]", lambda one: f"\\[u{ord(one[0]):04X}]", text)
    return f"\\&{text}" if text.startswith(".") else text


def _plain(text: str) -> str:
    return escaped(" ".join(text.split()))


def _head(title: str, line: str) -> list[str]:
    quoted = f'.TH {title.upper()} 1 "" "airtcp {engine_version}" "airtcp"'
    return [quoted, ".SH NAME", f"{escaped(title)} \\- {_plain(line).removesuffix('.')}"]


def _main_page(listed: dict[str, Any]) -> str:
    parts = _head(PROGRAM, str(app.info.help))
    parts += [".SH SYNOPSIS", f".B {PROGRAM}", "COMMAND [OPTIONS]", ".SH COMMANDS"]
    for section in dict.fromkeys(one.section for one in listed.values()):
        parts.append(f".SS {_plain(section)}")
        for name, one in listed.items():
            if one.section == section:
                parts += [".TP", f".BR {escaped(f'{PROGRAM}-{name}')} (1)", _plain(one.line)]
    parts += [
        ".SH EXIT STATUS",
        "0 success, 1 a failure, 2 invalid input, 4 shown to be worse than a stored result, 130 "
        "interrupted.",
    ]
    return "\n".join(parts) + "\n"


def _of_command(name: str, command: Any) -> Iterator[str]:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
    yield ".SH SYNOPSIS"
    yield f".B {escaped(f'{PROGRAM} {name}')}"
    words = [
        word if one.required else f"[{word}]" for one in arguments for word in (_metavar(one),)
    ]
    yield escaped(" ".join(["[OPTIONS]", *words]))
    yield ".SH DESCRIPTION"
    yield from _paragraphs(command.help or "")
    for title, group in (("ARGUMENTS", arguments), ("OPTIONS", options)):
        if group:
            yield f".SH {title}"
        for one in group:
            yield ".TP"
            yield f".B {escaped(_names(one))}"
            yield _plain(_MARKUP.sub("", one.help or "")) or "\\&"


def _metavar(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def _names(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return _metavar(parameter)
    names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    return names if parameter.is_flag else f"{names} {parameter.metavar or 'VALUE'}"


def _paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of a docstring; its headings become sections, its commands verbatim."""
    for place, paragraph in enumerate(re.split(r"\n\s*\n", text.strip())):
        if _MARKUP.search(paragraph):
            yield f".SH {_plain(_MARKUP.sub('', paragraph)).upper()}"
        elif paragraph.startswith(f"{PROGRAM} "):
            yield from (".PP", ".nf", *map(escaped, paragraph.splitlines()), ".fi")
        else:
            if place:
                yield ".PP"
            yield _plain(paragraph)


def _of_net(name: str) -> Iterator[str]:
    command = [sys.executable, "-m", PROGRAM, name, "--help"]
    told = subprocess.run(command, check=True, capture_output=True, text=True)
    yield from (".SH DESCRIPTION", ".nf", *map(escaped, told.stdout.splitlines()), ".fi")


def write_completion(folder: Path, shell: str) -> None:
    """Writes the file of one shell below `folder`."""
    script = get_completion_script(prog_name=PROGRAM, complete_var="_AIRTCP_COMPLETE", shell=shell)
    file = folder / COMPLETIONS[shell]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{script}\n", encoding="utf-8")


def main() -> None:
    """Writes all files below the folder given."""
    (folder,) = map(Path, sys.argv[1:])
    manual = folder / "man" / "man1"
    manual.mkdir(parents=True, exist_ok=True)
    for name, text in pages():
        (manual / name).write_text(text, encoding="utf-8")
    for shell in COMPLETIONS:
        write_completion(folder, shell)


if __name__ == "__main__":
    main()
