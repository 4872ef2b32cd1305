"""`airtcp diagnose` for each kind of file: captures, logs, links, sockets, counters."""

from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from airtcp._core import ScenarioError
from airtcp.cli.asker import asked_for
from airtcp.cli.console import (
    command_line,
    print_json,
    print_lines,
    report_folder,
)
from airtcp.cli.diagnose_output import FactsFirst, diagnosis_json, print_diagnosis, print_link
from airtcp.cli.errors import say
from airtcp.cli.progress import progress_bar
from airtcp.cli.unwritten import AnswerFirst
from airtcp.comparison.ranking.aims import Aim
from airtcp.core.files import writable_folder
from airtcp.core.quantities import parse_seconds

if TYPE_CHECKING:
    from airtcp.diagnosis.ping_result import PingDiagnosis
    from airtcp.diagnosis.result import Diagnosis
    from airtcp.diagnosis.sockets import Sockets
    from airtcp.diagnosis.trying import Effort


@dataclass(frozen=True)
class Chosen:
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
    folder: Path | None
    as_json: bool

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


def answer(
    files: list[str],
    chosen: Chosen,
    device: str | None,
    seconds: str,
    *,
    sockets: bool,
    advise: bool,
) -> None:
    """Prints the answer to files, or to a capture of `device` for that time.

    Raises:
        ScenarioError: the files do not go together, or with the options.
    """
    from airtcp.diagnosis.advise import advice
    from airtcp.diagnosis.kind import is_capture
    from airtcp.diagnosis.sockets import sockets_of

    if advise:
        print_lines(_probes_of(files, chosen) if files else advice())
        return
    # The last file may be the output of `ss`: by itself, or after a capture.
    sockets = sockets or (len(files) in {1, 2} and is_of_sockets(files[-1]))
    with_capture = sockets and bool(files) and is_capture(Path(files[0]))
    only_sockets = sockets and not with_capture
    two_captures = len(files) == 2 and not with_capture
    if len(files) > 2 or bool(device) + only_sockets + two_captures > 1 or (device and files):
        raise ScenarioError(
            "diagnose: expected one capture or log, two captures to compare, -i DEV, or "
            "--sockets with at most one file"
        )
    if chosen.folder is not None and (only_sockets or two_captures):
        raise ScenarioError("--out: only the diagnosis of one capture or log has a report")
    if only_sockets:
        found = sockets_of(files[0] if files else None)
        _print_found(asdict(found), found.headline, found.sentences, chosen)
    elif two_captures:
        _print_changes(files[0], files[1], chosen)
    elif device is not None:
        with TemporaryDirectory(prefix="airtcp-") as held:
            _print_diagnosed(str(_captured(device, seconds, Path(held), chosen.folder)), chosen)
    elif not files:
        raise ScenarioError(
            "diagnose: a capture or a ping log is missing; `airtcp diagnose --advise` prints "
            "the command that takes one"
        )
    elif is_of_counters(files[0]):
        if chosen.folder is not None:
            raise ScenarioError("--out: only a capture or the log of a ping has a report")
        _print_counters(files[0], chosen)
    else:
        counted = sockets_of(files[1] if len(files) == 2 else None) if with_capture else None
        _print_diagnosed(files[0], chosen, counted)


def _first_of(file: str) -> str:
    """The beginning of a file as text; empty if it is not text."""
    from airtcp.diagnosis.saved import saved_text

    path = Path(file)
    return saved_text(path, 1024) if path.is_file() else ""


def is_of_counters(file: str) -> bool:
    """Whether a file is a radio's or a kernel's counters, or the log of QUIC."""
    from airtcp.diagnosis.kernel_counters import is_kernel_counters
    from airtcp.diagnosis.qlog_events import is_qlog
    from airtcp.diagnosis.stations import is_station_dump

    first = _first_of(file)
    return is_station_dump(first) or is_qlog(first) or is_kernel_counters(first)


def is_of_sockets(file: str) -> bool:
    """Whether a file holds the output of `ss`, which then needs no flag."""
    from airtcp.diagnosis.sockets import is_socket_list

    return is_socket_list(_first_of(file))


def _print_counters(path: str, chosen: Chosen) -> None:
    """Prints the answer to the counters of a radio or a kernel, or to the log of QUIC."""
    from airtcp.diagnosis import kernel_counters
    from airtcp.diagnosis.qlog_events import is_qlog
    from airtcp.diagnosis.saved import saved_text
    from airtcp.diagnosis.stations import parsed

    first = _first_of(path)
    if is_qlog(first):
        from airtcp.diagnosis.qlog import read_qlog

        log = read_qlog(path)
        facts: dict[str, object] = {"lost": log.lost, "called_lost_and_arrived": log.needless}
        facts |= {"goodput_bps": log.flow.goodput_bps, "latency": asdict(log.waits)}
        sentences, headline = log.sentences, log.headline
    elif kernel_counters.is_kernel_counters(first):
        counters = kernel_counters.parsed(saved_text(Path(path)), path)
        facts = asdict(counters)
        sentences, headline = counters.sentences, counters.headline
    else:
        stations = parsed(saved_text(Path(path)), path)
        facts = asdict(stations)
        sentences, headline = stations.sentences, stations.headline
    _print_found(facts, headline, sentences, chosen)


def _print_found(
    facts: dict[str, object], headline: str, sentences: list[str], chosen: Chosen
) -> None:
    if chosen.as_json:
        print_json(facts | {"headline": headline, "sentences": sentences})
    else:
        print_lines(sentences)


def _print_diagnosed(file: str, chosen: Chosen, sockets: "Sockets | None" = None) -> None:
    """Diagnoses a capture or a log, and prints the result."""
    from airtcp.diagnosis.kind import is_capture

    if _is_link(file):
        _print_link(file, chosen)
        return
    if _is_route(file, chosen):
        return
    if chosen.folder is not None:
        report_folder(chosen.folder)
    asked = asked_for(chosen.can, is_interactive=not chosen.as_json and file != "-")
    diagnosis: Diagnosis | PingDiagnosis
    with progress_bar(f"diagnosing {file}") as report:
        first = FactsFirst(report, is_text=not chosen.as_json, has_files=chosen.folder is not None)
        if file == "-" or is_capture(Path(file)):
            from airtcp.diagnosis.capture_answer import diagnosed
            from airtcp.diagnosis.read import read_capture

            capture = read_capture(file, chosen.flow, chosen.view, report)
            first.flows(capture)
            diagnosis = diagnosed(
                capture,
                asked.can,
                report,
                chosen.known_bps,
                sockets,
                chosen.sender,
                chosen.effort,
                first.facts,
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
                before_trials=first.facts,
            )
    written = AnswerFirst()
    written.give(
        chosen.folder,
        partial(diagnosis.report, command=command_line()),
        partial(diagnosis_json, diagnosis) if chosen.as_json else None,
        partial(print_diagnosis, diagnosis, first),
        asked.note,
    )
    written.finish()


def _is_link(file: str) -> bool:
    """Whether a file has a link's rate, such as iperf3's, and is neither capture nor ping log."""
    from airtcp.diagnosis.kind import is_capture

    if file == "-" or is_capture(Path(file)):
        return False
    from airtcp.diagnosis.link_file import has_rate

    return has_rate(Path(file))


def _is_route(file: str, chosen: Chosen) -> bool:
    """Whether a file is the report of a route, which is then printed."""
    from airtcp.diagnosis.kind import is_capture

    if file == "-" or is_capture(Path(file)):
        return False
    from airtcp.diagnosis.route import route_of

    route = route_of(Path(file))
    if route is None:
        return False
    if chosen.folder is not None:
        raise ScenarioError("--out: only a capture or the log of a ping has a report")
    _print_found(asdict(route), route.headline, route.sentences, chosen)
    return True


def _print_link(file: str, chosen: Chosen) -> None:
    """Diagnoses a file with a rate: its facts about the link, and remedies there."""
    from airtcp.core.quantities import format_bit_rate
    from airtcp.diagnosis.link_file import diagnosed_link
    from airtcp.diagnosis.ping_options import ping_rounds, refuse_options_of_captures

    if chosen.folder is not None:
        writable_folder(chosen.folder)
    refuse_options_of_captures(chosen.sender, chosen.worth_percent, chosen.aim)
    asked = asked_for(chosen.can, is_interactive=not chosen.as_json)
    known = chosen.known_bps
    with progress_bar(f"diagnosing {file}") as report:
        first = FactsFirst(report, is_text=not chosen.as_json, has_files=chosen.folder is not None)
        found = diagnosed_link(
            Path(file),
            asked.can,
            report,
            rate=None if known is None else format_bit_rate(known),
            rounds=ping_rounds(chosen.seeds, chosen.max_cpu_s),
            before_trials=first.facts,
        )
    if chosen.folder is not None:
        say(f"the link: {found.imported.link.write(chosen.folder)}")
    if chosen.as_json:
        print_json({"sentences": found.sentences, "scenario": found.imported.link.toml})
        return
    print_link(found, first)


def _probes_of(files: list[str], chosen: Chosen) -> list[str]:
    """Questions that a capture leaves open, and transfers that would answer them."""
    from airtcp.diagnosis.advise import probes
    from airtcp.diagnosis.capture_answer import diagnosed
    from airtcp.diagnosis.kind import is_capture
    from airtcp.diagnosis.read import read_capture

    if len(files) != 1 or not (files[0] == "-" or is_capture(Path(files[0]))):
        raise ScenarioError("--advise: expected one capture, or no file")
    return probes(diagnosed(read_capture(files[0], chosen.flow, chosen.view), None))


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


def _print_changes(before: str, after: str, chosen: Chosen) -> None:
    """Prints the differences of two captures."""
    from airtcp.diagnosis.changes import changes
    from airtcp.diagnosis.kind import is_capture
    from airtcp.diagnosis.read import read_capture

    for path in (before, after):
        if path == "-" or not is_capture(Path(path)):
            raise ScenarioError(
                f"{path}: expected a capture in a file: two captures are compared, logs are not; "
                "give one log at a time"
            )
    with progress_bar("comparing") as report:
        found = changes(
            read_capture(before, chosen.flow, chosen.view, report),
            read_capture(after, chosen.flow, chosen.view, report),
        )
    _print_found(asdict(found), found.headline, found.sentences, chosen)
