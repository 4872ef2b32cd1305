"""`airtcp verify`: remedies on kernels, paired with their simulation."""

from pathlib import Path
from typing import Annotated

import typer

from airtcp.cli.console import (
    AsJson,
    Bpf,
    Settings,
    UnderLoad,
    complete_kernel,
    complete_remedy,
    out_option,
    report_folder,
    settings_of,
)
from airtcp.cli.errors import clear_errors
from airtcp.cli.kernels import kernel_name
from airtcp.cli.progress import progress_bar
from airtcp.cli.verify_output import give_verifications, print_partings
from airtcp.core.bpf import with_own
from airtcp.kernel.guests.catalogue import MACHINE
from airtcp.kernel.parting import partings
from airtcp.kernel.verify import DEFAULT_SEEDS, verify_on


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
        kernels = [kernel_name(name) for text in kernel or [MACHINE] for name in text.split(",")]
        given = settings_of(settings, under_load)
        if first:
            seed = 1 if seeds == DEFAULT_SEEDS else seeds
            parted = partings(
                file,
                with_own(remedy or [], bpf),
                seed,
                given,
                kernels,
                discipline=discipline,
                ack_discipline=ack_discipline,
            )
            print_partings(parted, seed)
            return
        with progress_bar(f"verifying on {file}") as report:
            found = verify_on(
                kernels,
                file,
                remedy or [],
                seeds,
                given,
                discipline=discipline,
                ack_discipline=ack_discipline,
                bpf=bpf,
                out=folder,
                jobs=jobs,
                progress=report,
            )
        give_verifications(list(zip(kernels, found, strict=True)), folder, is_json=as_json)
