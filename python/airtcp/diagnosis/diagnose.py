"""`airtcp.diagnose`: the findings of a capture, a ping log, or a file with a link's rate."""

import os
from collections.abc import Callable
from pathlib import Path

from airtcp.comparison.sequential import Rounds
from airtcp.core.quantities import format_bit_rate
from airtcp.diagnosis.capture_answer import diagnosed
from airtcp.diagnosis.kind import is_capture
from airtcp.diagnosis.link_file import DiagnosedLink, diagnosed_link, has_rate
from airtcp.diagnosis.ping_options import ping_rounds, refuse_options_of_captures
from airtcp.diagnosis.ping_result import PingDiagnosis, diagnose_ping
from airtcp.diagnosis.read import read_capture
from airtcp.diagnosis.result import Diagnosis
from airtcp.diagnosis.sockets import Sockets
from airtcp.diagnosis.trying import Effort

Progress = Callable[[float, str], object]
"""Called with the finished share, 0 to 1, and the current step."""


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
) -> Diagnosis | PingDiagnosis | DiagnosedLink:
    """Diagnoses a capture (pcap, pcapng, also gzipped), the log of a ping, or a file with a rate.

    A file with a rate is one that `airtcp import` takes, such as iperf3's JSON or a series of
    throughputs: every remedy is tried on its link.

    Args:
        path: the file, or "-" for a capture on standard input.
        flow: the number of a flow in the table of flows; None takes the one with most bytes.
        view: the vantage point, `sender`, `receiver` or `middle`; None detects it.
        can: what you may change, one or several with commas of `my-machine`, `server`,
            `access-point`, `sender`, `receiver`, `all`. A capture is assumed to be from your
            machine.
        rate_bps: the rate of the link in bits of IP packets a second, if you know it; None fits it
            to a capture, tries a range for a ping log, and replaces a file's.
        sockets: counters of the sender's kernel for its connections (`sockets_of`), with a capture:
            these give its congestion control.
        sender: the congestion control in use, if you know it: `cubic`, `reno` or `bbr`.
        effort: seeds, processor time, the smallest effect worth having and the aim. Without a
            capture only the first two, if they differ from the defaults of a capture.
        interval_s: the probe interval, for a log that does not contain it.
        rounds: seeds and processor time of the comparison without a capture; overrides `effort`.
        progress: called with the finished share and the current step.

    Returns:
        the findings, with Polars frames if asked for: `labels`, `capture.segments`,
        `capture.flows` and more.
        Of a file with a rate: its facts, and the remedies over its link.

    Raises:
        CaptureError: the capture cannot be read, or lacks the flow.
        ScenarioError: the file cannot be read, the asker is unknown, or an option is for captures.
        RunError: a simulation could not be finished.
    """
    if os.fspath(path) == "-" or is_capture(Path(path)):
        read = read_capture(path, flow, view, progress)
        return diagnosed(read, can, progress, rate_bps, sockets, sender, effort)
    given, usual = effort or Effort(), Effort()
    worth = None if given.worth_percent == usual.worth_percent else given.worth_percent
    refuse_options_of_captures(sender, worth, given.aim, flow, view)
    asked = ping_rounds(
        None if given.seeds == usual.seeds else given.seeds,
        None if given.max_cpu_s == usual.max_cpu_s else given.max_cpu_s,
    )
    if has_rate(Path(path)):
        rate = None if rate_bps is None else format_bit_rate(rate_bps)
        return diagnosed_link(Path(path), can, progress, rate=rate, rounds=rounds or asked)
    return diagnose_ping(
        path, can, progress, rate_bps=rate_bps, interval_s=interval_s, rounds=rounds or asked
    )
