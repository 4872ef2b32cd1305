"""`airtcp diagnose`: a capture or a ping log, to the cause and the remedy worth deploying."""

import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from airtcp._core import ScenarioError
from airtcp.cli.asker import Can, asked_for
from airtcp.cli.console import AsJson, out, print_json, print_lines, progress_bar
from airtcp.cli.errors import clear_errors, say
from airtcp.cli.unwritten import AnswerFirst
from airtcp.columns import numbers
from airtcp.quantities import parse_bit_rate, parse_seconds

if TYPE_CHECKING:
    from airtcp.diagnoses import Diagnosis
    from airtcp.diagnosis.sockets import Sockets
    from airtcp.ping_diagnosis import PingDiagnosis
    from airtcp.report.tables import Table

_MOST_ROWS = 12
_MOST_FLOWS = 20


def diagnose_command(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE] [AFTER]",
            help="A capture (pcap, pcapng, also gzipped; - reads one from standard input) or the "
            "log of a ping, the qlog of QUIC's sender, or `iw dev wlan0 station dump`. Two "
            "captures are compared: before a change, and after it.",
        ),
    ] = None,
    flow: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="The flow to look into; that with most bytes if left out."
        ),
    ] = None,
    view: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE",
            help="Where the capture was taken: sender, receiver or middle. Found if left out.",
        ),
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(
            metavar="RATE",
            help='The rate of the link, as "20 Mbit/s", where you know it. Fitted to a capture if '
            "left out; over a ping log, which shows none, a range of rates is tried.",
        ),
    ] = None,
    interval: Annotated[
        str | None,
        typer.Option(
            "--interval",
            metavar="TIME",
            help="The time from one probe of a ping to the next, for a log without times.",
        ),
    ] = None,
    can: Can = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Writes DIR/index.html (the report), DIR/link.toml (the link as a scenario), "
            "DIR/labels.parquet and DIR/annotated.pcapng.",
        ),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(
            "-i",
            "--interface",
            metavar="DEV",
            help="Capture this network interface now, and diagnose what passed. Needs sudo or "
            "CAP_NET_RAW, which is dropped before the first packet is read.",
        ),
    ] = None,
    seconds: Annotated[
        str, typer.Option("--for", metavar="TIME", help="How long, with -i; Ctrl-C ends it early.")
    ] = "60s",
    sockets: Annotated[
        bool,
        typer.Option(
            "--sockets",
            help="What the kernel counts of each connection, by `ss -ti`, in place of a capture; "
            "FILE may hold its output from another machine. Beside a capture (FILE), of its "
            "sender: the congestion control is then no guess.",
        ),
    ] = False,
    as_json: AsJson = False,
    advise: Annotated[
        bool,
        typer.Option(
            "--advise",
            help="Print the command that takes a useful capture; with FILE, what that capture "
            "leaves open, and the transfers that would show it.",
        ),
    ] = False,
) -> None:
    """Find out from a capture or a ping log what makes TCP slow, and what would help.

    Retransmissions are labelled, the time is accounted for, the link is fitted and played back,
    and remedies are ranked over it.

    [bold]Examples[/bold]

    airtcp diagnose --advise

    airtcp diagnose slow.pcap --out out

    airtcp diagnose slow.pcap --flow 3 --can my-machine,access-point

    airtcp diagnose link.ping

    airtcp diagnose before.pcap after.pcap

    sudo airtcp diagnose -i wlan0 --for 60s

    airtcp diagnose --sockets

    airtcp diagnose slow.pcap sockets.txt --sockets
    """
    from airtcp.diagnosis.advise import advice
    from airtcp.diagnosis.kind import is_capture
    from airtcp.diagnosis.sockets import sockets_of

    with clear_errors():
        given = files or []
        if advise:
            print_lines(_probes(given, flow, view) if given else advice())
            return
        sockets = sockets or (len(given) == 1 and _is_of_sockets(given[0]))
        beside = sockets and bool(given) and is_capture(Path(given[0]))
        one_kind = [bool(device), sockets and not beside, len(given) == 2 and not beside]
        if len(given) > 2 or sum(one_kind) > 1 or (device and given):
            raise ScenarioError(
                "diagnose: expected one capture or log, two captures to compare, -i DEV, or "
                "--sockets with at most one file"
            )
        if folder is not None and not beside and (sockets or len(given) == 2):
            raise ScenarioError("--out: only the diagnosis of one capture or log has a report")
        if sockets and not beside:
            _print_sockets(given[0] if given else None, as_json=as_json)
            return
        if len(given) == 2 and not beside:
            _print_changes(given[0], given[1], flow, view, as_json=as_json)
            return
        file = given[0] if given else None
        known_bps = None if rate is None else parse_bit_rate(rate)
        if rate is not None and known_bps is None:
            raise ScenarioError(f'--rate {rate}: expected a rate such as "20 Mbit/s"')
        interval_s = None if interval is None else parse_seconds(interval)
        if interval is not None and not interval_s:
            raise ScenarioError(f'--interval {interval}: expected a time such as "0.2s"')
        if device is not None:
            with TemporaryDirectory(prefix="airtcp-") as held:
                file = str(_captured(device, seconds, Path(held), folder))
                _diagnosed(file, flow, view, known_bps, can, folder, as_json=as_json)
            return
        if file is None:
            raise ScenarioError(
                "diagnose: a capture or a ping log is missing; `airtcp diagnose --advise` prints "
                "the command that takes one"
            )
        if _is_of_counters(file):
            if folder is not None:
                raise ScenarioError("--out: only a capture or the log of a ping has a report")
            _print_counters(file, as_json=as_json)
            return
        socket_file = given[1] if beside and len(given) == 2 else None
        counted = sockets_of(socket_file) if beside else None
        _diagnosed(file, flow, view, known_bps, can, folder, counted, interval_s, as_json=as_json)


def _first_of(file: str) -> str:
    """The beginning of a file as text; empty if it is not text."""
    path = Path(file)
    if not path.is_file():
        return ""
    with path.open("rb") as opened:
        return opened.read(1024).decode(errors="replace")


def _is_of_counters(file: str) -> bool:
    """Whether a file is a radio's counters (`iw dev DEV station dump`) or the log of QUIC."""
    from airtcp.diagnosis.qlog_events import is_qlog
    from airtcp.diagnosis.stations import is_station_dump

    first = _first_of(file)
    return is_station_dump(first) or is_qlog(first)


def _is_of_sockets(file: str) -> bool:
    """Whether a file holds the output of `ss`, which needs no flag then."""
    from airtcp.diagnosis.sockets import is_socket_list

    return is_socket_list(_first_of(file))


def _print_counters(path: str, *, as_json: bool) -> None:
    from airtcp.diagnosis.qlog_events import is_qlog
    from airtcp.diagnosis.stations import parsed

    if is_qlog(_first_of(path)):
        from airtcp.diagnosis.qlog import read_qlog

        log = read_qlog(path)
        facts: dict[str, object] = {"lost": log.lost, "called_lost_and_arrived": log.needless}
        facts |= {"goodput_bps": log.flow.goodput_bps, "latency": asdict(log.waits)}
        sentences, headline = log.sentences, log.headline
    else:
        stations = parsed(Path(path).read_text(errors="replace"), path)
        facts = asdict(stations)
        sentences, headline = stations.sentences, stations.headline
    if as_json:
        print_json(facts | {"headline": headline, "sentences": sentences})
        return
    print_lines(sentences)


def _diagnosed(
    file: str,
    flow: int | None,
    view: str | None,
    known_bps: float | None,
    can: str | None,
    folder: Path | None,
    sockets: "Sockets | None" = None,
    interval_s: float | None = None,
    *,
    as_json: bool,
) -> None:
    """Diagnoses a capture or a log, and prints what was found."""
    from airtcp.diagnosis.kind import is_capture

    asked = asked_for(can, is_interactive=not as_json and file != "-")
    diagnosis: Diagnosis | PingDiagnosis
    with progress_bar(f"diagnosing {file}") as report:
        if file == "-" or is_capture(Path(file)):
            from airtcp.diagnoses import diagnose

            diagnosis = diagnose(
                file,
                flow=flow,
                view=view,
                can=asked.can,
                rate_bps=known_bps,
                sockets=sockets,
                progress=report,
            )
        else:
            # A capture's diagnosis takes longer to load than a log's to refuse.
            from airtcp.ping_diagnosis import diagnose_ping

            diagnosis = diagnose_ping(
                file, asked.can, report, rate_bps=known_bps, interval_s=interval_s
            )
    written: AnswerFirst[Path] = AnswerFirst()
    page = None
    if folder:
        to = folder
        page = written.attempt(lambda: diagnosis.report(to, _command()))
    if as_json:
        print_json(_json_object(diagnosis, page))
    else:
        _print(diagnosis)
        if asked.note:
            say(asked.note)
        if page:
            say(f"report: {page}")
    written.finish()


def _probes(files: list[str], flow: int | None, view: str | None) -> list[str]:
    """What a capture leaves open, and what would show it."""
    from airtcp.diagnosis.advise import probes
    from airtcp.diagnosis.kind import is_capture
    from airtcp.diagnosis.read import read_capture
    from airtcp.diagnosis.result import diagnosed

    if len(files) != 1 or not (files[0] == "-" or is_capture(Path(files[0]))):
        raise ScenarioError("--advise: expected one capture, or no file")
    return probes(diagnosed(read_capture(files[0], flow, view), None))


def _captured(device: str, seconds: str, held: Path, folder: Path | None) -> Path:
    """Captures an interface into a file: the report's folder's, or one that does not stay."""
    from airtcp.diagnosis.live import capture_live

    duration_s = parse_seconds(seconds)
    if duration_s is None:
        raise ScenarioError(f'--for {seconds}: expected a time such as "60s" or "5 min"')
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    path = (folder or held) / "captured.pcap"
    with progress_bar(f"capturing {device}") as report:
        taken = capture_live(device, duration_s, path, report)
    say(f"{taken.packets:,} packets of TCP in {taken.seconds:.0f} s")
    if taken.dropped:
        say(f"{taken.dropped:,} more were dropped: the machine did not keep up")
    return path


def _print_sockets(path: str | None, *, as_json: bool) -> None:
    from airtcp.diagnosis.sockets import sockets_of

    found = sockets_of(path)
    if as_json:
        print_json(asdict(found) | {"headline": found.headline, "sentences": found.sentences})
        return
    print_lines(found.sentences)


def _print_changes(
    before: str, after: str, flow: int | None, view: str | None, *, as_json: bool
) -> None:
    from airtcp.diagnosis.changes import changes
    from airtcp.diagnosis.kind import is_capture
    from airtcp.diagnosis.read import read_capture

    for path in (before, after):
        if path == "-" or not is_capture(Path(path)):
            raise ScenarioError(
                f"{path}: expected a capture in a file: two captures are compared, logs are not"
            )
    with progress_bar("comparing") as report:
        found = changes(
            read_capture(before, flow, view, report), read_capture(after, flow, view, report)
        )
    if as_json:
        print_json(asdict(found) | {"headline": found.headline, "sentences": found.sentences})
        return
    print_lines(found.sentences)


def _command() -> str:
    return shlex.join(["airtcp", *sys.argv[1:]])


def _print(diagnosis: "Diagnosis | PingDiagnosis") -> None:
    from airtcp.ping_diagnosis import PingDiagnosis

    if not isinstance(diagnosis, PingDiagnosis) and len(diagnosis.capture.flows) > 1:
        _print_flows(diagnosis)
        out.print()
    print_lines(diagnosis.sentences)
    shown = _remedies(diagnosis)
    if shown is not None and shown.rows:
        out.print()
        _print_table(shown, _MOST_ROWS)
    if diagnosis.deployment:
        out.print()
        print_lines(diagnosis.deployment)


def _print_flows(diagnosis: "Diagnosis") -> None:
    from airtcp.report.diagnosis_tables import flows_table

    _print_table(flows_table(diagnosis.capture.flows), _MOST_FLOWS)


def _remedies(diagnosis: "Diagnosis | PingDiagnosis") -> "Table | None":
    """The table of the remedies, where any were tried."""
    from airtcp.ping_diagnosis import PingDiagnosis

    if isinstance(diagnosis, PingDiagnosis):
        if diagnosis.comparison is None:
            return None
        from airtcp.report.tables import goodput_table

        return goodput_table(diagnosis.comparison)
    from airtcp.report.diagnosis_tables import trials_table

    return None if diagnosis.trials is None else trials_table(diagnosis.trials)


def _print_table(shown: "Table", most: int) -> None:
    out.print(numbers(shown.columns, shown.rows[:most], shown.names), markup=False, highlight=False)
    if len(shown.rows) > most:
        out.print(f"and {len(shown.rows) - most} more", highlight=False)


def _json_object(diagnosis: "Diagnosis | PingDiagnosis", page: Path | None) -> dict[str, object]:
    from airtcp.diagnosis.as_json import of_capture, of_ping
    from airtcp.ping_diagnosis import PingDiagnosis

    found = of_ping(diagnosis) if isinstance(diagnosis, PingDiagnosis) else of_capture(diagnosis)
    return found | {"report": None if page is None else str(page)}
