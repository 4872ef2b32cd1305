"""One run of a scenario, simulated and by a kernel in virtual time, compared segment by segment."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from airtcp._core import RunError, ScenarioError
from airtcp.core.runs import run
from airtcp.kernel.first_difference import TOLERANCE_S, Parting, first_difference
from airtcp.kernel.guests import Guest, the_kernel
from airtcp.kernel.guests.catalogue import MACHINE
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


@dataclass(frozen=True)
class FlowParting:
    """The first difference of one flow, with the run that it is of."""

    kernel: str
    remedy: str
    """Empty for the scenario as it is."""
    flow: int
    parting: Parting


def partings(
    source: str | os.PathLike[str],
    remedies: Sequence[str],
    seed: int,
    settings: Mapping[str, object] | None,
    kernels: Sequence[str],
    *,
    discipline: str = "",
    ack_discipline: str = "",
) -> Iterator[FlowParting]:
    """The first differences on each kernel, for each remedy or the scenario as it is, flow by flow.

    Raises:
        ScenarioError: this machine's kernel is among them; or as in `parting`.
        RunError: as in `parting`.
        KernelError: as in `parting`.
    """
    if MACHINE in kernels:
        raise ScenarioError(
            "--first-difference: this machine's kernel is not the same twice; give --kernel with "
            "one that runs in virtual time"
        )
    for kernel in kernels:
        guest = Guest.of(the_kernel(kernel))
        for remedy in remedies or [""]:
            flows = parting(
                source,
                remedy,
                seed,
                settings,
                guest,
                discipline=discipline,
                ack_discipline=ack_discipline,
            )
            for flow, found in enumerate(flows):
                yield FlowParting(kernel, remedy, flow, found)
