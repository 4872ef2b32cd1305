"""`airtcp measure` a real link, and `airtcp serve --measure`, its other end."""

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from airtcp._core import ScenarioError
from airtcp.cli.asker import Can, asked_for
from airtcp.cli.console import AsJson, print_json
from airtcp.cli.errors import clear_errors, say
from airtcp.cli.measure_output import MeasuredLink, print_helps
from airtcp.cli.progress import progress_bar
from airtcp.cli.unwritten import AnswerFirst
from airtcp.core.files import writable_file
from airtcp.measure.link import measured_scenario
from airtcp.measure.load import Way
from airtcp.measure.other_end import Bounds, measure_to
from airtcp.measure.probe_log import csv_of
from airtcp.measure.wire import PORT

_MIN_S = 3.0
_MAX_S = 300.0
_UNITS = {"kB": 1e3, "MB": 1e6, "GB": 1e9}


class Ways(StrEnum):
    """Directions to load."""

    DOWN = "down"
    UP = "up"
    BOTH = "both"


_WAYS = {Ways.DOWN: (Way.DOWN,), Ways.UP: (Way.UP,), Ways.BOTH: (Way.DOWN, Way.UP)}


def measure_command(
    host: Annotated[
        str,
        typer.Argument(
            metavar="HOST",
            help="The other end: a host, or the URL of a server of draft-ietf-ippm-responsiveness.",
        ),
    ],
    port: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=65535, help="Its port.", show_default="5252"),
    ] = None,
    duration: Annotated[
        str, typer.Option("--for", metavar="TIME", help="The longest that it takes.")
    ] = "20 s",
    at_most: Annotated[
        str, typer.Option(metavar="BYTES", help="The most that it sends and receives.")
    ] = "500 MB",
    direction: Annotated[
        Ways, typer.Option(help="Which way is loaded; both: one after the other.")
    ] = Ways.BOTH,
    with_iperf3: Annotated[
        bool,
        typer.Option("--iperf3", help="HOST runs an iperf3 server; needs the program iperf3 here."),
    ] = False,
    can: Can = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Writes the link as a scenario (TOML).")
    ] = None,
    probes: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Writes the idle link's pings as CSV, a log that `airtcp diagnose` plays by time.",
        ),
    ] = None,
    compared: Annotated[
        bool, typer.Option("--compare/--no-compare", help="What would help on this link.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Measure a real link: round trips idle and loaded, goodput, responsiveness; what helps.

    At the other end runs `airtcp serve --measure`, with --iperf3 an iperf3 server, and at a URL a
    server of draft-ietf-ippm-responsiveness.

    [bold]Examples[/bold]

    airtcp measure 192.168.1.10 --for 20s --at-most 200MB --out link.toml

    airtcp measure iperf.example.org --iperf3

    airtcp measure https://nq.example.org
    """
    with clear_errors():
        seconds, most = _seconds(duration), _bytes(at_most)
        for option, file in (("--out", out), ("--probes", probes)):
            if file:
                writable_file(file, option)
        asked = asked_for(can, is_interactive=not as_json)
        with progress_bar(f"measuring {host}") as report:
            bounds = Bounds(seconds, most, _WAYS[direction], report)
            found = measure_to(host, port, with_iperf3, bounds)
        link = measured_scenario(found, host)
        written = AnswerFirst()
        if out and link:
            written.attempt(partial(out.write_text, link))
        if probes:
            written.attempt(partial(probes.write_text, csv_of(found.idle)))
        from airtcp.diagnosis import measured

        answer = MeasuredLink(found, link, measured.what_is_wrong(found.idle))
        if not as_json:
            answer.print(None if written.failed else out)
        helps = []
        if link and compared and measured.is_slow_enough(found):
            with progress_bar("comparing remedies on the measured link") as report:
                helps = measured.what_helps(link, asked.can, report)
        if as_json:
            print_json(answer.as_json(helps))
        elif link and compared:
            print_helps(helps, asked.note)
        written.finish()


def serve_measurements(arguments: list[str]) -> None:
    """Runs the other end of a measurement until it is interrupted."""
    command = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    command.command("serve --measure")(_serve)
    command(arguments, prog_name="airtcp serve --measure", standalone_mode=True)


def _serve(
    listen: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; :: is IPv6 and IPv4.")
    ] = "0.0.0.0",
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535)] = PORT,
) -> None:
    """Answer `airtcp measure`: echo, send and take, within bounds.

    Anybody who reaches the port may have it send: at most 2 minutes and 20 GB a connection.
    """
    from airtcp.measure.peer import Peer, serve_until_stopped

    with clear_errors():
        try:
            peer = Peer(listen, port)
        except OSError as error:
            raise ScenarioError(
                f"--port {port}: cannot listen on {listen} ({error.strerror}); choose another"
            ) from error
        words = f"answers `airtcp measure` on {listen} port {peer.port}; Ctrl-C ends it"
        serve_until_stopped(peer, partial(say, words))


def _seconds(text: str) -> float:
    """A duration in seconds.

    Raises:
        ScenarioError: not a number, or out of bounds.
    """
    number, unit = _split(text, "--for", "a time such as 20s or 1min")
    factor = {"": 1.0, "s": 1.0, "ms": 1e-3, "min": 60.0}.get(unit)
    if factor is None or not _MIN_S <= number * factor <= _MAX_S:
        raise ScenarioError(f"--for {text}: expected {_MIN_S:g} s to {_MAX_S:g} s, such as 20s")
    return number * factor


def _bytes(text: str) -> int:
    """A number of bytes.

    Raises:
        ScenarioError: not a number, or too small.
    """
    number, unit = _split(text, "--at-most", "bytes such as 200MB")
    factor = _UNITS.get(unit)
    if factor is None or number * factor < 100_000:
        raise ScenarioError(f"--at-most {text}: expected 100 kB at least, such as 200MB or 2GB")
    return int(number * factor)


def _split(text: str, option: str, expected: str) -> tuple[float, str]:
    digits = text.strip().rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
    try:
        return float(digits), text.strip()[len(digits) :].strip()
    except ValueError:
        raise ScenarioError(f"{option} {text}: expected {expected}") from None
