"""One run of a scenario, simulated and by a kernel in virtual time, compared segment by segment."""

import os
from collections.abc import Mapping

from airtcp._core import RunError
from airtcp.core.runs import run
from airtcp.kernel.first_difference import TOLERANCE_S, Parting, first_difference
from airtcp.kernel.guests import Guest
from airtcp.kernel.guests.machine import no_machine_left
from airtcp.kernel.in_guest import recorded
from airtcp.kernel.runs import KernelRun, readable_path, settings_of
from airtcp.kernel.segments import is_sender, recorded_segments, simulated_segments


def parting(
    source: str | os.PathLike[str],
    remedy: str,
    seed: int,
    settings: Mapping[str, object] | None,
    guest: Guest,
    tolerance_s: float = TOLERANCE_S,
    *,
    discipline: str = "",
    ack_discipline: str = "",
) -> list[Parting]:
    """The first differences of simulation and kernel in one run, flow by flow.

    `discipline` and `ack_discipline` are the kernel's queueing disciplines before the link, as in
    `verify`. The kernel's run is recorded, which costs it a little time: its goodput may differ
    slightly from that of the same run without recording.

    Raises:
        ScenarioError: the scenario, a setting or the remedy is wrong, or unavailable on this
            kernel.
        RunError: a run could not be finished.
        KernelError: the guest does not work.
    """
    simulated = run(source, seed, settings, [remedy] if remedy else [], events=False, packets=True)
    here = KernelRun(
        readable_path(source),
        settings_of(settings),
        remedy,
        discipline=discipline,
        ack_discipline=ack_discipline,
    )
    with no_machine_left():
        files = recorded(here, guest, seed).files
    captures = [content for name, content in sorted(files.items()) if name.endswith(".pcapng")]
    sender = next((capture for capture in captures if is_sender(capture)), None)
    if sender is None:
        raise RunError("the kernel has sent no data in this run")
    return [
        first_difference(
            simulated_segments(simulated.arrow("packets"), flow),
            recorded_segments(sender, flow),
            tolerance_s,
        )
        for flow in range(len(simulated.summary["flows"]))
    ]
