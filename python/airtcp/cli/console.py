"""Parts shared by every command: output and common options."""

import json
import os
import shlex
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from airtcp._core import Scenario, ScenarioError
from airtcp.cli.errors import say
from airtcp.comparison.metrics import METRICS
from airtcp.comparison.ranking.aims import ALL_COMPANIONS, COMPANIONS, Aim
from airtcp.core.extras import required
from airtcp.core.files import writable_folder
from airtcp.core.loading import parse_setting
from airtcp.core.quantities import parse_bit_rate, parse_seconds
from airtcp.pages.columns import printable

if TYPE_CHECKING:
    from rich.console import Console

    out: Console
    """Results only, on standard output. A file or pipe has no width to fit into."""
    err: Console
    """Messages and progress."""
else:

    def __getattr__(name: str) -> object:
        # Consoles are created on demand: importing rich takes longer than most commands that do not
        # print with it.
        if name in {"out", "err"}:
            return _console(name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@cache
def _console(name: str) -> "Console":
    from rich.console import Console

    # Without colours there is no bold either: https://no-color.org is about ANSI colour, and users
    # who set it have a terminal or a log that shows the codes literally.
    colours: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
    if name == "err":
        return Console(stderr=True, soft_wrap=True, color_system=colours)
    is_terminal = sys.stdout.isatty()
    return Console(soft_wrap=True, color_system=colours, width=None if is_terminal else 120)


LARGEST_SEED = 2**64 - 1


def complete_scenario(incomplete: str) -> list[str]:
    """Shipped scenarios with this prefix, for the shell."""
    from airtcp.core.shipped import shipped

    return [name for name in shipped("scenarios") if name.startswith(incomplete)]


ScenarioFile = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="The scenario: a TOML file, or a name from `airtcp list scenarios`; - reads standard "
        "input.",
        autocompletion=complete_scenario,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Overrides a key of the scenario, for example link.loss.rate=0.01. Repeatable.",
    ),
]
Bpf = Annotated[
    list[str] | None,
    typer.Option(
        "--bpf",
        metavar="FILE[:CONSTANT=VALUE]",
        help="A congestion control of your own for the kernel's BPF: an object file (my.bpf.o), or "
        "a source (my.bpf.c), which clang compiles. Repeatable.",
    ),
]

AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object on standard output, nothing else.")
]

WithPng = Annotated[
    bool, typer.Option("--png", help="Writes every figure of --out as PNG too, not only as SVG.")
]

FigureWidth = Annotated[
    str | None,
    typer.Option(
        metavar="WIDTH",
        help="Writes every figure of --out as PDF and LaTeX too, column (3.5 in), page (7.16 in) "
        "or a length such as 85mm wide, and its table as LaTeX.",
    ),
]

Jobs = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, max=1024, help="Runs at the same time; default all processors."
    ),
]

MetricName = Annotated[
    str | None,
    typer.Option(
        "--metric",
        metavar="NAME",
        help=f"The metric, in place of the file's: {', '.join(METRICS)}, or a function of "
        "your own as MODULE:FUNCTION.",
        autocompletion=lambda: list(METRICS),
    ),
]

UnderLoad = Annotated[
    str | None,
    typer.Option(
        "--under-load",
        metavar="NAMES",
        help="Probes under load, with commas: ping, exchange, call, short-flow, page, or all (key "
        "flows.under_load). They add up to 1 Mbit/s.",
    ),
]


def settings_of(
    texts: Sequence[str] | None, under_load: str | None = None, aim: Aim | None = None
) -> dict[str, object]:
    """The settings of `--set`, with `flows.under_load` from `--under-load` or else for the aim.

    Raises:
        ScenarioError: a setting has no value, a name is unknown, or `--set flows.under_load` is
            given too.
    """
    settings: dict[str, object] = dict(parse_setting(text) for text in texts or [])
    if under_load is None and aim not in {None, Aim.BULK}:
        under_load = ",".join(COMPANIONS)
    if under_load is None:
        return settings
    names = ALL_COMPANIONS if under_load == "all" else tuple(under_load.split(","))
    for name in names:
        if name not in ALL_COMPANIONS:
            raise ScenarioError(
                f"--under-load {name}: expected {', '.join(ALL_COMPANIONS)} or all, several with "
                "commas"
            )
    if "flows.under_load" in settings:
        raise ScenarioError(
            "--under-load and --set flows.under_load say the same; give one of them"
        )
    return settings | {"flows.under_load": list(dict.fromkeys(names))}


def out_option(text: str) -> Any:
    """The option `--out` of a folder."""
    return typer.Option("--out", parser=folder_name, metavar="DIR", help=text)


def complete_remedy(incomplete: str) -> list[str]:
    """Remedies with this prefix, for the shell; in a combination, for its last part."""
    from airtcp.core.catalogue import remedies

    before, plus, last = incomplete.rpartition("+")
    return [
        f"{before}{plus}{entry['name']}" for entry in remedies() if entry["name"].startswith(last)
    ]


def complete_kernel(incomplete: str) -> list[str]:
    """Kernels with this prefix, for the shell; in a list, for its last part."""
    from airtcp.kernel.guests import cache
    from airtcp.kernel.guests.catalogue import MACHINE

    before, comma, last = incomplete.rpartition(",")
    names = [MACHINE, *cache.names()]
    return [f"{before}{comma}{name}" for name in names if name.startswith(last)]


DaskAddress = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Runs on the workers of this Dask scheduler, as tcp://10.0.0.1:8786.",
    ),
]


def command_line() -> str:
    """The command as it was typed, for a report."""
    return shlex.join(["airtcp", *sys.argv[1:]])


def print_json(value: object) -> None:
    """Prints one JSON object, with Python's number format, without wrapping."""
    sys.stdout.write(json.dumps(value, allow_nan=False, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def print_lines(lines: list[str]) -> None:
    """Prints sentences, one per line."""
    for line in lines:
        print(printable(line))


def warn(scenario: Scenario) -> None:
    """Prints warnings on probable mistakes in a scenario."""
    for warning in scenario.warnings:
        say(f"airtcp: warning: {warning}")


def report_folder(path: Path, libraries: Sequence[str] = ("matplotlib", "polars")) -> Path:
    """The folder of a report, checked before a long run rather than after.

    Args:
        path: the folder.
        libraries: those of its figures and tables.

    Raises:
        ModuleNotFoundError: one of the libraries is not installed.
        ScenarioError: it cannot be created or written.
    """
    required(*libraries)
    return writable_folder(path)


def rate_option(text: str | None) -> float | None:
    """The rate of `--rate`, in bit/s; None without the option.

    Raises:
        ScenarioError: it is no rate in bits, or has no unit.
    """
    if text is None:
        return None
    bps = parse_bit_rate(text)
    if bps is None:
        raise ScenarioError(
            f"--rate {text or chr(34) * 2}: expected a rate in bits with its unit, such as "
            '"20 Mbit/s"'
        )
    return bps


def time_option(option: str, text: str | None) -> float | None:
    """A time given to an option, in seconds; None without the option.

    Raises:
        ScenarioError: it is no time.
    """
    if text is None:
        return None
    seconds = parse_seconds(text)
    if seconds is None:
        raise ScenarioError(f'{option} {text}: expected a time such as "40ms"')
    return seconds


def figure_inches(text: str | None) -> float | None:
    """The width of printed figures in inches.

    Raises:
        ScenarioError: it is no width.
    """
    if text is None:
        return None
    from airtcp.pages.plot.print_width import inches

    try:
        return inches(text)
    except ValueError as reason:
        raise ScenarioError(f"--figure-width {text}: {reason}") from None


def folder_name(text: str) -> Path:
    """The name of a folder as typed: an empty one is not the current folder.

    Raises:
        typer.BadParameter: it is empty.
    """
    if not text:
        raise typer.BadParameter("is empty; expected the name of a folder, . for this one")
    return Path(text)
