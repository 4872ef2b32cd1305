"""Diagnoses: a capture or a ping log, with what was found and its report."""

import os
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

from airtcp.diagnosis.kind import is_capture
from airtcp.diagnosis.ping_options import ping_rounds, refuse_options_of_captures
from airtcp.diagnosis.read import read_capture
from airtcp.diagnosis.result import DiagnosedCapture, diagnosed
from airtcp.diagnosis.sockets import Sockets
from airtcp.diagnosis.trying import Effort
from airtcp.ping_diagnosis import PingDiagnosis, diagnose_ping
from airtcp.study.sequential import Rounds

Progress = Callable[[float, str], object]
"""Called with the share that is done, 0 to 1, and what is being done."""


class Diagnosis(DiagnosedCapture):
    """Findings from a capture, and refusals with their reasons."""

    def report(self, directory: str | os.PathLike[str], command: str | None = None) -> Path:
        """Writes index.html, link.toml, labels.parquet and annotated.pcapng; returns the first.

        Args:
            directory: made if absent.
            command: how this diagnosis was called, for the provenance.

        Raises:
            CaptureError: the capture can no longer be read.
            OSError: the directory cannot be written.
        """
        from airtcp.report.diagnosis import write_report

        return write_report(self, Path(directory), command)


def diagnose(
    path: str | os.PathLike[str],
    *,
    flow: int | None = None,
    view: str | None = None,
    can: str = "all",
    rate_bps: float | None = None,
    sockets: Sockets | None = None,
    sender: str | None = None,
    effort: Effort | None = None,
    interval_s: float | None = None,
    rounds: Rounds | None = None,
    progress: Progress | None = None,
) -> Diagnosis | PingDiagnosis:
    """Diagnoses a capture (pcap, pcapng, also gzipped) or the log of a ping.

    Args:
        path: the file, or "-" for a capture on standard input.
        flow: the number of a flow in the table of flows; the one with most bytes if None.
        view: where the capture was taken, `sender`, `receiver` or `middle`; found if None.
        can: what you may change, one or several with commas of `my-machine`, `server`,
            `access-point`, `sender`, `receiver`, `all`. A capture is taken for your machine's.
        rate_bps: the rate of the link in bits of IP packets a second, where you know it; of a
            capture fitted if None, of a ping log a range is tried.
        sockets: what the sender's kernel counts of its connections (`sockets_of`), beside a
            capture: ends the guess of its congestion control.
        sender: the congestion control in use, where you know it: `cubic`, `reno` or `bbr`.
        effort: seeds, processor time, the smallest effect worth having and the aim. Over a ping
            log the first two alone, where they are not the usual ones of a capture.
        interval_s: the time from one probe of a ping to the next, for a log that does not tell.
        rounds: seeds and processor time of the comparison over a ping log; goes before `effort`.
        progress: called with the share that is done, and what is being done.

    Returns:
        what was found, with Polars frames: `labels`, `capture.segments`, `capture.flows` and more.

    Raises:
        CaptureError: the capture cannot be read, or has no such flow.
        ScenarioError: the log cannot be read, the asker is unknown, or an option is for captures.
        RunError: a simulation could not be finished.
    """
    if os.fspath(path) == "-" or is_capture(Path(path)):
        read = read_capture(path, flow, view, progress)
        found = diagnosed(read, can, progress, rate_bps, sockets, sender, effort)
        return Diagnosis(**{field.name: getattr(found, field.name) for field in fields(found)})
    given, usual = effort or Effort(), Effort()
    worth = None if given.worth_percent == usual.worth_percent else given.worth_percent
    refuse_options_of_captures(sender, worth, given.aim, flow, view)
    asked = ping_rounds(
        None if given.seeds == usual.seeds else given.seeds,
        None if given.max_cpu_s == usual.max_cpu_s else given.max_cpu_s,
    )
    return diagnose_ping(
        path, can, progress, rate_bps=rate_bps, interval_s=interval_s, rounds=rounds or asked
    )
