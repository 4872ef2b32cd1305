"""The question "what may you change?": asked once at a terminal, remembered, and printed."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from airtcp._core import ScenarioError
from airtcp.cli.errors import say
from airtcp.comparison.ranking.askers import Asker, parse_askers
from airtcp.core.files import write_whole

Can = Annotated[
    str | None,
    typer.Option(
        "--can",
        metavar="PLACES",
        help="What you may change, with commas: my-machine, server, access-point, sender, "
        "receiver or all. The answer is the best that you can deploy. Left out, the kept answer "
        "holds; at a terminal it is asked for once.",
    ),
]

_CHOICES = (
    (Asker.MY_MACHINE, "the machine at the wireless end"),
    (Asker.SERVER, "the machine at the other end"),
    (Asker.ACCESS_POINT, "the access point, or a router next to it"),
    (Asker.ALL, "all of these, or just looking"),
)


@dataclass(frozen=True)
class MayChange:
    """The places that may be changed, and the source of that answer."""

    can: str
    note: str
    """A sentence with the source, unless the command line gave it; otherwise empty."""


def asked_for(can: str | None, *, is_interactive: bool = True) -> MayChange:
    """The places that may be changed: as given, else as stored, else as answered now, else all.

    Raises:
        ScenarioError: a place is unknown, in the option or in the stored answer.
    """
    if can is not None:
        parse_askers(can)
        return MayChange(can, "")
    kept = _kept()
    if kept is not None:
        return MayChange(
            kept, f"what you may change: {kept} (kept in {kept_file()}; --can overrides)"
        )
    if is_interactive and sys.stdin.isatty() and sys.stderr.isatty():
        answer = _ask()
        return MayChange(answer, "")
    return MayChange(
        Asker.ALL.value,
        "every place was assumed to be yours; --can my-machine, server or access-point narrows it",
    )


def kept_file() -> Path:
    """The file with the stored answer, in the user's configuration (XDG Base Directory)."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    # The specification requires a relative path to be ignored.
    folder = Path(base) if Path(base).is_absolute() else Path.home() / ".config"
    return folder / "airtcp" / "can"


def _kept() -> str | None:
    file = kept_file()
    try:
        text = file.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return None
    try:
        parse_askers(text)
    except ScenarioError as error:
        raise ScenarioError(f"{file}: {error}: mend or remove the file") from None
    return text


def _ask() -> str:
    lines = ["What may you change? (asked once; --can overrides)"]
    lines += [
        f"  {number} {asker.value}: {words}" for number, (asker, words) in enumerate(_CHOICES, 1)
    ]
    print("\n".join(lines), file=sys.stderr)
    while True:
        answer = typer.prompt("1 to 4, or several with commas", default="4", err=True)
        parts = [part.strip() for part in answer.split(",")]
        named = [
            _CHOICES[int(part) - 1][0].value if part in {"1", "2", "3", "4"} else part
            for part in parts
        ]
        try:
            chosen = ",".join(parse_askers(",".join(named)))
        except ScenarioError as error:
            say(str(error))
            continue
        _keep(chosen)
        return chosen


def _keep(chosen: str) -> None:
    file = kept_file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, f"{chosen}\n".encode())
    except OSError as error:
        say(f"not kept for the next time: {file}: {error.strerror}")
    else:
        say(f"kept in {file}")
