"""`airtcp diagnose`: a capture or a ping log, to the cause and the remedy worth deploying."""

import shlex
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from airtcp._core import ScenarioError
from airtcp.cli.asker import Can, asked_for
from airtcp.cli.console import AsJson, print_json, print_lines, progress_bar
from airtcp.cli.diagnose_output import diagnosis_json, print_diagnosis
from airtcp.cli.errors import clear_errors, say
from airtcp.cli.unwritten import AnswerFirst
from airtcp.comparison.ranking.aims import Aim
from airtcp.core.quantities import parse_bit_rate, parse_seconds

if TYPE_CHECKING:
    from airtcp.diagnosis.ping_result import PingDiagnosis
    from airtcp.diagnosis.result import Diagnosis
    from airtcp.diagnosis.sockets import Sockets
    from airtcp.diagnosis.trying import Effort


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
    wanted: Annotated[
        list[str] | None,
        typer.Option(
            "--for",
            metavar="AIM|TIME",
            help="Use of the link: bulk (goodput, the default), latency, calls or "
            "balance. With -i also how long to capture (60s); Ctrl-C ends it early.",
            show_default=False,
        ),
    ] = None,
    sender: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The congestion control that the sender uses: cubic, reno or bbr. Else each that "
            "explains the capture is tried.",
            show_default=False,
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=1_000,
            help="Seeds for each of the links that the capture leaves open. Default 2. Over a ping "
            "log the most seeds, default 10.",
            show_default=False,
        ),
    ] = None,
    worth: Annotated[
        float | None,
        typer.Option(
            metavar="PERCENT",
            min=0.0,
            help="The smallest effect worth having. Default 3: less is within a fit's error.",
            show_default=False,
        ),
    ] = None,
    max_cpu: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=1.0,
            help="Trials end after so much processor time. Default 60; over a ping log 20.",
            show_default=False,
        ),
    ] = None,
    sockets: Annotated[
        bool,
        typer.Option(
            "--sockets",
            help="The kernel's counters of each connection, by `ss -ti`, in place of a capture; "
            "FILE may hold its output from another machine. With a capture (FILE), counters of its "
            "sender, which name its congestion control.",
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
        # The last file may be the output of `ss`: by itself, or after a capture.
        sockets = sockets or (len(given) in {1, 2} and _is_of_sockets(given[-1]))
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
        aim, seconds = _aim_and_time(wanted or [], has_time=device is not None)
        chosen = _Chosen(flow, view, known_bps, interval_s, can, sender, seeds, max_cpu, worth, aim)
        if device is not None:
            with TemporaryDirectory(prefix="airtcp-") as held:
                file = str(_captured(device, seconds, Path(held), folder))
                _diagnosed(file, chosen, folder, as_json=as_json)
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
        _diagnosed(file, chosen, folder, counted, as_json=as_json)


@dataclass(frozen=True)
class _Chosen:
    """Options of a diagnosis."""

    flow: int | None
    view: str | None
    known_bps: float | None
    interval_s: float | None
    can: str | None
    sender: str | None
    seeds: int | None
    max_cpu_s: float | None
    worth_percent: float | None
    aim: Aim

    @property
    def effort(self) -> "Effort":
        """Cost bounds of the diagnosis of a capture."""
        from airtcp.diagnosis.trying import Effort

        usual = Effort(aim=self.aim)
        worth = self.worth_percent
        return replace(
            usual,
            seeds=self.seeds or usual.seeds,
            max_cpu_s=self.max_cpu_s or usual.max_cpu_s,
            worth_percent=usual.worth_percent if worth is None else worth,
        )


def _aim_and_time(wanted: list[str], *, has_time: bool) -> tuple[Aim, str]:
    """The values of `--for`: the aim, and the duration of the capture.

    Raises:
        ScenarioError: a word is neither, or a time is given without a capture.
    """
    aims = [text for text in wanted if text in list(Aim)]
    times = [text for text in wanted if text not in aims]
    if len(aims) > 1 or len(times) > 1 or (times and not has_time):
        raise ScenarioError(
            f"--for {' --for '.join(wanted)}: expected one of {', '.join(Aim)}; and with -i how "
            'long to capture, such as "60s"'
        )
    return Aim(aims[0]) if aims else Aim.BULK, times[0] if times else "60s"


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
    """Whether a file holds the output of `ss`, which then needs no flag."""
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
    chosen: _Chosen,
    folder: Path | None,
    sockets: "Sockets | None" = None,
    *,
    as_json: bool,
) -> None:
    """Diagnoses a capture or a log, and prints the result."""
    from airtcp.diagnosis.kind import is_capture

    if _is_link(file):
        _print_link(file, chosen, folder, as_json=as_json)
        return
    asked = asked_for(chosen.can, is_interactive=not as_json and file != "-")
    diagnosis: Diagnosis | PingDiagnosis
    with progress_bar(f"diagnosing {file}") as report:
        if file == "-" or is_capture(Path(file)):
            from airtcp.diagnosis.diagnose import diagnose

            diagnosis = diagnose(
                file,
                flow=chosen.flow,
                view=chosen.view,
                can=asked.can,
                rate_bps=chosen.known_bps,
                sockets=sockets,
                sender=chosen.sender,
                effort=chosen.effort,
                progress=report,
            )
        else:
            # A capture's diagnosis takes longer to load than a log's takes to refuse.
            from airtcp.diagnosis.ping_options import ping_rounds, refuse_options_of_captures
            from airtcp.diagnosis.ping_result import diagnose_ping

            refuse_options_of_captures(
                chosen.sender, chosen.worth_percent, chosen.aim, chosen.flow, chosen.view
            )
            diagnosis = diagnose_ping(
                file,
                asked.can,
                report,
                rate_bps=chosen.known_bps,
                interval_s=chosen.interval_s,
                rounds=ping_rounds(chosen.seeds, chosen.max_cpu_s),
            )
    written: AnswerFirst[Path] = AnswerFirst()
    page = None
    if folder:
        to = folder
        page = written.attempt(lambda: diagnosis.report(to, _command()))
    if as_json:
        print_json(diagnosis_json(diagnosis, page))
    else:
        print_diagnosis(diagnosis)
        if asked.note:
            say(asked.note)
        if page:
            say(f"report: {page}")
    written.finish()


def _is_link(file: str) -> bool:
    """Whether a file has a link's rate, such as iperf3's, and is neither capture nor ping log."""
    from airtcp.diagnosis.kind import is_capture

    if file == "-" or is_capture(Path(file)):
        return False
    from airtcp.core.recordings.recording import read_recording

    try:
        return read_recording(file).is_link
    except ScenarioError:
        # Its fault is said by the reading of a ping log.
        return False


def _print_link(file: str, chosen: _Chosen, folder: Path | None, *, as_json: bool) -> None:
    """Diagnoses a file with a rate: what it knows of the link, and what helps there."""
    from airtcp.cli.diagnose_output import print_link
    from airtcp.core.quantities import format_bit_rate
    from airtcp.diagnosis.link_file import diagnosed_link
    from airtcp.diagnosis.ping_options import ping_rounds, refuse_options_of_captures

    refuse_options_of_captures(chosen.sender, chosen.worth_percent, chosen.aim)
    asked = asked_for(chosen.can, is_interactive=not as_json)
    known = chosen.known_bps
    with progress_bar(f"diagnosing {file}") as report:
        found = diagnosed_link(
            Path(file),
            asked.can,
            report,
            rate=None if known is None else format_bit_rate(known),
            rounds=ping_rounds(chosen.seeds, chosen.max_cpu_s),
        )
    if folder is not None:
        say(f"the link: {found.imported.link.write(folder)}")
    if as_json:
        print_json({"sentences": found.sentences, "scenario": found.imported.link.toml})
        return
    print_link(found)


def _probes(files: list[str], flow: int | None, view: str | None) -> list[str]:
    """Questions that a capture leaves open, and transfers that would answer them."""
    from airtcp.diagnosis.advise import probes
    from airtcp.diagnosis.kind import is_capture
    from airtcp.diagnosis.read import read_capture
    from airtcp.diagnosis.result import diagnosed

    if len(files) != 1 or not (files[0] == "-" or is_capture(Path(files[0]))):
        raise ScenarioError("--advise: expected one capture, or no file")
    return probes(diagnosed(read_capture(files[0], flow, view), None))


def _captured(device: str, seconds: str, held: Path, folder: Path | None) -> Path:
    """Captures an interface into a file: in the report's folder, or a temporary one."""
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
