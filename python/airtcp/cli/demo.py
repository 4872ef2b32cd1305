"""`airtcp demo`: a link, what is wrong on it, what helps and what to do, on one page."""

from pathlib import Path
from typing import Annotated

import typer

from airtcp.cli.asker import Can, asked_for
from airtcp.cli.console import (
    command_line,
    out_option,
    print_lines,
    rate_option,
    report_folder,
)
from airtcp.cli.errors import clear_errors, say
from airtcp.cli.progress import progress_bar


def demo_command(
    log: Annotated[
        Path | None,
        typer.Option(
            "--link",
            metavar="LOG",
            help="A log of your own ping, to tell about your link in place of the one that comes "
            "with airtcp: ping -D -i 0.2 -s 1472 HOST > my.ping.",
        ),
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(
            metavar="RATE",
            help='The rate of your link, with --link, as "20 Mbit/s". Left out, a range is tried.',
        ),
    ] = None,
    can: Can = None,
    folder: Annotated[
        Path,
        out_option("Writes DIR/index.html, which tells the story, and the reports behind it."),
    ] = Path("out/demo"),
    seeds: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=2,
            max=1000,
            help="Seeds 1 to N for every remedy. Left out, they are run in rounds until what "
            "matters is decided.",
        ),
    ] = None,
    kernel: Annotated[
        bool,
        typer.Option(
            "--kernel/--no-kernel",
            help="Whether the best remedy is tried on Linux in virtual time, too, where QEMU and a "
            "kernel are installed (airtcp kernels).",
        ),
    ] = True,
) -> None:
    """Show what airtcp is for: a link, what is wrong on it, what helps, what to do.

    [bold]Examples[/bold]

    airtcp demo

    airtcp demo --link my.ping --can my-machine
    """
    with clear_errors():
        rate_bps = rate_option(rate)
        report_folder(folder)
        asked = asked_for(can)
        from airtcp.pages.demonstration import tell
        from airtcp.pages.demonstration.page import write_story

        with progress_bar("demo") as report:
            story = tell(
                folder,
                report,
                log=log,
                can=asked.can,
                seeds=seeds,
                rate_bps=rate_bps,
                kernel=kernel,
            )
        story.link.report(folder / "link", command_line())
        if story.other:
            story.other.report(folder / "other", command_line())
        page = write_story(folder, story)
        print_lines(list(story.said) or [story.observed.wrong, story.link.verdict[0]])
        if story.kernel:
            print_lines(story.kernel.sentences)
        if story.other and story.other_observed:
            print_lines(
                ["", "Where the signal fades:", story.other_observed.wrong, story.other.verdict[0]]
            )
        if asked.note:
            say(asked.note)
        say(f"the story: {page.resolve()}")
