"""`airtcp diagnose`: a capture or a ping log, to the cause and the remedy worth deploying."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from airtcp._core import ScenarioError
from airtcp.cli.asker import Can, asked_for
from airtcp.cli.console import AsJson, out, print_json, print_lines, progress_bar
from airtcp.cli.errors import clear_errors, say
from airtcp.columns import numbers
from airtcp.quantities import parse_bit_rate

if TYPE_CHECKING:
    from airtcp.diagnoses import Diagnosis, PingDiagnosis
    from airtcp.report.tables import Table

_MOST_ROWS = 12
_MOST_FLOWS = 20


def diagnose_command(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]",
            help="A capture (pcap, pcapng, also gzipped; - reads one from standard input) or the "
            "log of a ping.",
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
            help='The rate of the link, as "20 Mbit/s", where you know it. Fitted if left out.',
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
    as_json: AsJson = False,
    advise: Annotated[
        bool, typer.Option("--advise", help="Print the command that takes a useful capture.")
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
    """
    from airtcp.diagnoses import diagnose
    from airtcp.diagnosis.advise import advice

    with clear_errors():
        if advise:
            print_lines(advice())
            return
        if file is None:
            raise ScenarioError(
                "diagnose: a capture or a ping log is missing; `airtcp diagnose --advise` prints "
                "the command that takes one"
            )
        known_bps = None if rate is None else parse_bit_rate(rate)
        if rate is not None and known_bps is None:
            raise ScenarioError(f'--rate {rate}: expected a rate such as "20 Mbit/s"')
        asked = asked_for(can, is_interactive=not as_json and file != "-")
        with progress_bar(f"diagnosing {file}") as report:
            diagnosis = diagnose(
                file, flow=flow, view=view, can=asked.can, rate_bps=known_bps, progress=report
            )
        page = diagnosis.report(folder, _command()) if folder else None
        if as_json:
            print_json(_json_object(diagnosis, page))
            return
        _print(diagnosis)
        if asked.note:
            say(asked.note)
        if page:
            say(f"report: {page}")


def _command() -> str:
    return shlex.join(["airtcp", *sys.argv[1:]])


def _print(diagnosis: "Diagnosis | PingDiagnosis") -> None:
    from airtcp.diagnoses import Diagnosis

    if isinstance(diagnosis, Diagnosis) and len(diagnosis.capture.flows) > 1:
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
    from airtcp.diagnoses import Diagnosis
    from airtcp.report.diagnosis_tables import trials_table
    from airtcp.report.tables import goodput_table

    if isinstance(diagnosis, Diagnosis):
        return None if diagnosis.trials is None else trials_table(diagnosis.trials)
    return None if diagnosis.comparison is None else goodput_table(diagnosis.comparison)


def _print_table(shown: "Table", most: int) -> None:
    out.print(numbers(shown.columns, shown.rows[:most], shown.names), markup=False, highlight=False)
    if len(shown.rows) > most:
        out.print(f"and {len(shown.rows) - most} more", highlight=False)


def _json_object(diagnosis: "Diagnosis | PingDiagnosis", page: Path | None) -> dict[str, object]:
    from airtcp.diagnoses import Diagnosis
    from airtcp.diagnosis.as_json import of_capture, of_ping

    found = of_capture(diagnosis) if isinstance(diagnosis, Diagnosis) else of_ping(diagnosis)
    return found | {"report": None if page is None else str(page)}
