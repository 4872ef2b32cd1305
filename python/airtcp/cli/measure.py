"""`airtcp measure` a real link, and `airtcp serve --measure`, its other end."""

import signal
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from airtcp._core import RunError, ScenarioError
from airtcp.cli.asker import Can, asked_for
from airtcp.cli.console import AsJson, print_json, print_lines, progress_bar, writable_file
from airtcp.cli.errors import clear_errors, say
from airtcp.cli.unwritten import AnswerFirst
from airtcp.core.quantities import format_bit_rate, format_bytes, format_percent
from airtcp.measure import iperf3
from airtcp.measure.https import Server
from airtcp.measure.link import scenario_toml
from airtcp.measure.load import Way
from airtcp.measure.measurement import Measurement, measure, measure_by
from airtcp.measure.phase import Phase, Times
from airtcp.measure.probe_log import csv_of
from airtcp.measure.wire import PORT, WireError
from airtcp.pages.columns import numbers

_MIN_S = 3.0
_MAX_S = 300.0
_COMPARE_SEEDS = 3
_FASTEST_COMPARED_BPS = 150e6
"""Maximum rate of a link for a comparison by default: every remedy's runs would take minutes."""
_UNITS = {"kB": 1e3, "MB": 1e6, "GB": 1e9}


class Ways(StrEnum):
    """Directions to load."""

    DOWN = "down"
    UP = "up"
    BOTH = "both"


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
        ways = {Ways.DOWN: (Way.DOWN,), Ways.UP: (Way.UP,), Ways.BOTH: (Way.DOWN, Way.UP)}
        if out:
            writable_file(out, "--out")
        if probes:
            writable_file(probes, "--probes")
        asked = asked_for(can, is_interactive=not as_json)
        with progress_bar(f"measuring {host}") as report:
            bounds = Bounds(seconds, most, ways[direction], report)
            if "://" in host:
                found = _of_url(host, port, with_iperf3, bounds)
            else:
                found = _of_host(host, port, with_iperf3, bounds)
        link = _link(found, host)
        written = AnswerFirst()
        if out and link:
            to, text = out, link
            written.attempt(lambda: to.write_text(text))
        if probes:
            log, lines = probes, csv_of(found.idle)
            written.attempt(lambda: log.write_text(lines))
        from airtcp.diagnosis.measured import what_is_wrong

        wrong = what_is_wrong(found.idle)
        rates = [phase.goodput_bps or 0.0 for phase in found.loaded]
        is_slow_enough = max(rates, default=0.0) <= _FASTEST_COMPARED_BPS
        sentences = _sentences(link, asked.can) if compared and link and is_slow_enough else []
        if as_json:
            print_json(_json_object(found, link, sentences) | {"what_is_wrong": wrong})
            written.finish()
            return
        _print(found)
        if wrong:
            print_lines(["The idle link, by its pings:", *wrong])
        if link is None:
            say("nothing was loaded, so that there is no link to write down")
        elif out and not written.failed:
            say(f"wrote {out}")
        else:
            print(f"\n{link}")
        if compared and link and not is_slow_enough:
            say("every remedy on so fast a link takes minutes: ask `airtcp compare` of --out")
        if sentences:
            print_lines(["What helps on such a link, simulated:", *sentences])
            if asked.note:
                say(asked.note)
        written.finish()


@dataclass(frozen=True)
class Bounds:
    """Bounds of a measurement, and its progress callback."""

    seconds: float
    most_bytes: int
    ways: tuple[Way, ...]
    progress: Callable[[float, str], object]


def _of_host(host: str, port: int | None, with_iperf3: bool, bounds: Bounds) -> Measurement:
    work = iperf3.measure_with_iperf3 if with_iperf3 else measure
    chosen = port or (iperf3.PORT if with_iperf3 else PORT)
    try:
        return work(host, chosen, **vars(bounds))
    except WireError as error:
        raise RunError(f"{host} port {chosen}: {error}") from error
    except OSError as error:
        raise RunError(_unreachable(host, chosen, error, with_iperf3)) from error


def _of_url(url: str, port: int | None, with_iperf3: bool, bounds: Bounds) -> Measurement:
    if with_iperf3 or port is not None:
        option = "--iperf3" if with_iperf3 else "--port"
        raise ScenarioError(f"{option} is for a host; a URL says all of it: {url}")
    try:
        return measure_by(Server(url), **vars(bounds))
    except WireError as error:
        raise RunError(str(error)) from error
    except ssl.SSLCertVerificationError as error:
        raise RunError(
            f"{url}: its certificate is not trusted ({error.verify_message}); name the file of its "
            "authority in SSL_CERT_FILE"
        ) from error
    except OSError as error:
        why = error.strerror or str(error) or type(error).__name__
        raise RunError(f"{url}: {why}; does a server of the draft answer there?") from error


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
    from airtcp.measure.peer import Peer

    with clear_errors():
        try:
            peer = Peer(listen, port)
        except OSError as error:
            raise ScenarioError(
                f"--port {port}: cannot listen on {listen} ({error.strerror}); choose another"
            ) from error
        ended = threading.Event()
        # An orderly exit on either signal: nothing remains.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: ended.set())
        say(f"answers `airtcp measure` on {listen} port {peer.port}; Ctrl-C ends it")
        serving = threading.Thread(target=peer.serve, daemon=True)
        serving.start()
        while not ended.wait(0.2) and serving.is_alive():
            pass
        peer.close()
        serving.join(2.0)


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


def _unreachable(host: str, port: int, error: OSError, with_iperf3: bool) -> str:
    start = "iperf3 -s" if with_iperf3 else "airtcp serve --measure"
    why = error.strerror or str(error) or type(error).__name__
    return f"{host} port {port}: {why}; is `{start}` running there, and its port open?"


def _link(found: Measurement, host: str) -> str | None:
    down, up = found.of(Way.DOWN), found.of(Way.UP)
    if not (down or up):
        return None
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime())
    return scenario_toml(found.idle, down, up, f"The link to {host}, measured at {when}.")


def _sentences(link: str, can: str) -> list[str]:
    """The sentences of `airtcp compare` on the link, with a few seeds."""
    from airtcp.comparison.compare import compare
    from airtcp.comparison.ranking.aims import COMPANIONS
    from airtcp.comparison.recommend import recommendations

    settings = {"flows.under_load": list(COMPANIONS)}
    with progress_bar("comparing remedies on the measured link") as report:
        comparison = compare(
            link,
            seeds=_COMPARE_SEEDS,
            settings=settings,
            can=can,
            horizon=True,
            progress=lambda done, cells: report(done / cells, f"{done} of {cells} runs"),
        )
    return [comparison.verdict[0], *(one.sentence for one in recommendations(comparison))]


def _print(found: Measurement) -> None:
    phases = (found.idle, *found.loaded)
    head = ("", *(phase.way for phase in phases))
    rows = [
        (name, *(show(phase) for phase in phases))
        for name, show in _ROWS
        if any(show(phase) for phase in phases)
    ]
    print(numbers(head, rows))
    print(f"{format_bytes(found.spent_bytes)} sent and received in all")
    if found.is_cut:
        say("ended by --at-most before the time was over: give more bytes to be surer")


def _three(found: Times | None) -> str:
    if found is None or found.p50_ms is None:
        return ""
    known = (found.p50_ms, found.p95_ms, found.p99_ms)
    return " / ".join(f"{one:.1f}" for one in known if one is not None) + " ms"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}"


_ROWS: tuple[tuple[str, Callable[[Phase], str]], ...] = (
    ("goodput", lambda one: "" if one.goodput_bps is None else format_bit_rate(one.goodput_bps)),
    ("connections", lambda one: str(one.connections or "")),
    ("echo, p50 / p95 / p99", lambda one: _three(one.ping)),
    ("echoes lost", lambda one: "" if one.ping_lost is None else _lost(one)),
    ("handshake", lambda one: _three(one.handshake)),
    ("request and answer", lambda one: _three(one.exchange)),
    ("the load's own", lambda one: _three(one.own)),
    ("responsiveness, RPM", lambda one: _number(one.rpm)),
    ("of other connections", lambda one: _number(one.rpm_foreign)),
    ("of its own", lambda one: _number(one.rpm_own)),
    ("confidence", lambda one: one.confidence or ""),
)


def _lost(phase: Phase) -> str:
    return format_percent(100 * (phase.ping_lost or 0.0))


def _json_object(found: Measurement, link: str | None, sentences: list[str]) -> dict[str, object]:
    return {
        "idle": found.idle.as_json(),
        "loaded": [phase.as_json() for phase in found.loaded],
        "spent_bytes": found.spent_bytes,
        "cut": found.is_cut,
        "scenario": link,
        "compare": sentences,
    }
