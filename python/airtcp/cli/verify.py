"""`airtcp verify`: remedies on kernels, paired with their simulation."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from airtcp._core import ScenarioError
from airtcp.cli.console import (
    AsJson,
    Bpf,
    Report,
    Settings,
    UnderLoad,
    command_line,
    complete_kernel,
    complete_remedy,
    out_option,
    print_lines,
    progress_bar,
    report_folder,
    settings_of,
)
from airtcp.cli.errors import clear_errors
from airtcp.cli.kernels import kernel_name
from airtcp.cli.unwritten import AnswerFirst
from airtcp.comparison.execute import Progress
from airtcp.core.bpf import with_own, with_program_names
from airtcp.kernel.guests.catalogue import MACHINE
from airtcp.kernel.runs import Measurement
from airtcp.kernel.under_load import probes_of
from airtcp.kernel.verify import DEFAULT_SEEDS, Verification, verify
from airtcp.pages.columns import numbers


def verify_command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The scenario, a TOML file.")],
    remedy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[:PARAMETER=VALUE]",
            autocompletion=complete_remedy,
            help="A remedy from `airtcp list remedies` to verify. Repeatable.",
        ),
    ] = None,
    bpf: Bpf = None,
    seeds: Annotated[
        int,
        typer.Option(metavar="N", min=1, max=1000, help="Seeds 1 to N, the same for every remedy."),
    ] = DEFAULT_SEEDS,
    settings: Settings = None,
    as_json: AsJson = False,
    folder: Annotated[
        Path | None,
        out_option(
            "Writes DIR/index.html (the report), DIR/verification.csv and DIR/cells, from "
            "which an interrupted verification goes on."
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=64,
            help="Runs of the kernel at the same time; default one, and all processors in virtual "
            "time. On this machine's kernel runs that were late are repeated.",
        ),
    ] = None,
    kernel: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|PATH,…",
            autocompletion=complete_kernel,
            help="A kernel from `airtcp kernels`, run in virtual time, or the path of an image or "
            "a source tree; default machine, this machine's own. Repeatable.",
        ),
    ] = None,
    discipline: Annotated[
        str,
        typer.Option(
            metavar="WORDS",
            help="Has the kernel's own queueing discipline wait before the link, as tc(8) writes "
            'it: cake, "fq_codel limit 100". The link has to be a pipe with a constant rate.',
        ),
    ] = "",
    ack_discipline: Annotated[
        str,
        typer.Option(
            metavar="WORDS",
            help="The same for the direction that acknowledgments take.",
        ),
    ] = "",
    under_load: UnderLoad = None,
    first: Annotated[
        bool,
        typer.Option(
            "--first-difference",
            help="Only name the first segment at which simulation and kernel part, for --remedy or "
            "the scenario as it is, and --seeds as the one seed. Needs --kernel.",
        ),
    ] = False,
) -> None:
    """Measure remedies on this machine's kernel, or others, over the scenario's link.

    On this machine's kernel each run takes the scenario's duration. Linux; no root, but for
    congestion controls that users may not choose. Other kernels run in virtual time, the same each
    time and never late.

    [bold]Examples[/bold]

    airtcp verify lossy-pipe --set "duration=10 s" --remedy sack --seeds 3

    airtcp verify wlan-upload --remedy inf-retry --remedy min-rto:min=1s --out out

    airtcp verify lossy-pipe --set link.loss.rate=0.01 --remedy bbr --kernel 6.1,6.12

    airtcp verify lossy-pipe --set link.aqm.discipline=fq-codel --discipline fq_codel --kernel 6.12

    airtcp verify lossy-pipe --bpf my.bpf.c --kernel 6.1,6.12

    airtcp verify lossy-pipe --remedy bbr --under-load ping,exchange --kernel 6.12
    """
    with clear_errors():
        if folder:
            report_folder(folder)
        names = [kernel_name(name) for text in kernel or [MACHINE] for name in text.split(",")]
        given = settings_of(settings, under_load)
        if first:
            seed = 1 if seeds == DEFAULT_SEEDS else seeds
            disciplines = (discipline, ack_discipline)
            _print_partings(file, with_own(remedy or [], bpf), seed, given, names, disciplines)
            return
        with progress_bar(f"verifying on {file}") as report:
            found = [
                verify(
                    file,
                    remedy or [],
                    seeds,
                    given,
                    kernel=name,
                    discipline=discipline,
                    ack_discipline=ack_discipline,
                    bpf=bpf,
                    out=folder,
                    jobs=jobs,
                    progress=_part_of(report, number, len(names)),
                )
                for number, name in enumerate(names)
            ]
        written = AnswerFirst()
        for number, (name, verification) in enumerate(zip(names, found, strict=True)):
            inside = folder / f"kernel-{name}" if folder and len(names) > 1 else folder
            if number and not as_json:
                print()
            written.give(
                inside,
                partial(verification.report, command=command_line()),
                partial(_json_object, verification) if as_json else None,
                partial(_print, verification),
            )
        written.finish()


def _print_partings(
    file: str,
    remedies: Sequence[str],
    seed: int,
    settings: dict[str, object],
    kernels: list[str],
    disciplines: tuple[str, str],
) -> None:
    from airtcp.kernel.guests import Guest, the_kernel
    from airtcp.kernel.parting import parting

    if MACHINE in kernels:
        raise ScenarioError(
            "--first-difference: this machine's kernel is not the same twice; give --kernel with "
            "one that runs in virtual time"
        )
    for kernel in kernels:
        guest = Guest.of(the_kernel(kernel))
        for remedy in remedies or [""]:
            here, back = disciplines
            flows = parting(
                file, remedy, seed, settings, guest, discipline=here, ack_discipline=back
            )
            for flow, found in enumerate(flows):
                name = with_program_names(remedy) or "baseline"
                print(f"{name}, seed {seed}, flow {flow}, kernel {kernel}:")
                print_lines(found.lines())
                print()


def _part_of(report: Report, number: int, count: int) -> Progress:
    """The progress of one kernel of several."""
    return lambda done, runs, words: report((number + done / runs) / count, words)


def _print(verification: Verification) -> None:
    from airtcp.kernel.in_guest import outside_guest
    from airtcp.pages.verification import counts_table, effects_table, probes_table

    print_lines(verification.verdict)
    for shown in (
        effects_table(verification),
        probes_table(verification),
        counts_table(verification),
    ):
        if shown.rows:
            print(f"\n{numbers(shown.columns, shown.rows, shown.names)}")
    for remedy in verification.remedies[1:]:
        steps = verification.measured[remedy][0]["steps"]
        if steps:
            words = outside_guest("; ".join(steps), remedy)
            print(f"\n{with_program_names(remedy)}: {words}")


def _run_object(run: Measurement) -> dict[str, object]:
    """A run of the kernel; its probes have the same fields as in a simulation."""
    return {**run} if "under_load" not in run else {**run, "under_load": probes_of(run)}


def _json_object(verification: Verification, page: Path | None) -> dict[str, object]:
    return {
        "kernel": verification.kernel,
        "seeds": list(verification.seeds),
        "verdict": verification.verdict,
        "remedies": [
            {
                "remedy": remedy,
                "kernel": [_run_object(run) for run in verification.measured[remedy]],
                "simulated_goodput_bps": verification.simulated.values(remedy, "goodput_bps"),
            }
            for remedy in verification.remedies
        ],
        "report": None if page is None else str(page),
    }
