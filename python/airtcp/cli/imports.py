"""`airtcp import`: files that people have about a link, as a scenario."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from airtcp._core import ScenarioError
from airtcp.cli.console import AsJson, print_json, print_lines, time_option
from airtcp.cli.errors import clear_errors
from airtcp.core.files import writable_file
from airtcp.pages.columns import columns

if TYPE_CHECKING:
    from airtcp.core.recordings.link import PlayedLink


def import_command(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE",
            help="Files of one link, recognised by content: iperf3, speed tests, ping and its kin, "
            "tc, mahimahi, flent, irtt, cake-autorate, CellReplay, throughputs. Several go "
            "together: both directions of a trace, a ping and a rate.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="LINK",
            help="Writes the scenario, as link.toml, and the files that it names into the same "
            "folder.",
        ),
    ] = None,
    direction: Annotated[
        Literal["up", "down"] | None,
        typer.Option(help="Which way data goes; also that of a file that does not tell."),
    ] = None,
    rate: Annotated[
        str | None, typer.Option(metavar="RATE", help='The link\'s rate, as "20 Mbit/s".')
    ] = None,
    rtt: Annotated[
        str | None, typer.Option(metavar="TIME", help='The round trip without load, as "40ms".')
    ] = None,
    queue: Annotated[
        int | None, typer.Option(metavar="PACKETS", min=1, help="Packets that may wait.")
    ] = None,
    loss: Annotated[
        float | None,
        typer.Option(metavar="SHARE", min=0.0, max=1.0, help="The share of packets that are lost."),
    ] = None,
    interval: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="The time between probes, for a log without times."),
    ] = None,
    step: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="The time between rows, for a list without times."),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(metavar="DEV", help="The device of tc's list whose link is meant."),
    ] = None,
    keep_names: Annotated[
        bool, typer.Option("--keep-names", help="Leaves names and addresses in the scenario.")
    ] = False,
    formats: Annotated[
        bool, typer.Option("--formats", help="List the formats, and what each knows.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make a scenario from files: iperf3, speed tests, ping, tc, mahimahi, flent and more.

    The facts in each file and the assumptions come first; an option overrides each assumption.
    Commands that take a link take such a file itself, too.

    [bold]Examples[/bold]

    airtcp import test.json -o link.toml

    airtcp import cell.up cell.down --rtt 50ms -o link.toml

    airtcp import my.ping --rate "20 Mbit/s" -o link.toml

    airtcp compare my.flent.gz
    """
    from airtcp.core.recordings.choices import Choices
    from airtcp.core.recordings.imported import import_link

    with clear_errors():
        if formats:
            _print_formats()
            return
        chosen = Choices(
            direction,
            rate,
            time_option("--rtt", rtt),
            queue,
            loss,
            time_option("--interval", interval),
            time_option("--step", step),
            keep_names,
            device,
        )
        target = None if output is None else _scenario_file(output)
        found = import_link(files or [], chosen)
        if target is not None:
            found.link.save(target)
        if as_json:
            print_json(
                {"said": found.said, "scenario": found.link.toml, "files": list(found.link.files)}
            )
        else:
            print_lines([*found.said, "", _next_step(found.link, target)])


def _scenario_file(output: Path) -> Path:
    if output.suffix != ".toml":
        raise ScenarioError(f"-o {output}: expected a name ending in .toml")
    return writable_file(output, "-o")


def _print_formats() -> None:
    from airtcp.core.recordings.formats import formats_known

    rows = [(one.name, one.title, ", ".join(one.knows)) for one in formats_known()]
    print(columns(("format", "file", "what it may know"), rows))


def _next_step(link: "PlayedLink", target: Path | None) -> str:
    """The files that were written, and the commands that take the link."""
    if target is None:
        return "-o link.toml writes the scenario; `airtcp compare FILE` tries remedies."
    names = [str(target), *(str(target.parent / name) for name in link.files)]
    return f"wrote {', '.join(names)}; `airtcp compare {target}` tries remedies"
