"""`airtcp demo`: the story of two links, on one page."""

from pathlib import Path
from typing import Annotated

import typer

from airtcp.cli.console import folder_name, progress_bar, writable_folder
from airtcp.cli.errors import clear_errors, say

_COMMAND = "airtcp demo"


def demo_command(
    folder: Annotated[
        Path,
        typer.Option(
            "--out",
            parser=folder_name,
            metavar="DIR",
            help="Writes DIR/index.html, which tells the story, and the reports behind it.",
        ),
    ] = Path("out/demo"),
    seeds: Annotated[
        int, typer.Option(metavar="N", min=2, max=1000, help="Seeds 1 to N for every remedy.")
    ] = 20,
) -> None:
    """Show what airtcp is for: two links, what is wrong, what helps, how to deploy it.

    Example: airtcp demo --out out/demo
    """
    with clear_errors():
        writable_folder(folder)
        from airtcp.demo import demo
        from airtcp.papers.rules import Verdict
        from airtcp.report.papers import write_papers_report
        from airtcp.report.story import write_story

        with progress_bar("demo") as report:
            found = demo(folder, seeds, report)
        found.link.report(folder / "link", _COMMAND)
        found.upload.report(folder / "upload", _COMMAND)
        write_papers_report(found.judgement, folder / "papers", _COMMAND)
        kernel = [f"Not tried: {found.kernel_refusal}."]
        if found.kernel:
            kernel = found.kernel.verdict
        page = write_story(
            folder,
            found.link,
            found.on_newreno,
            found.upload,
            kernel,
            {verdict: found.judgement.count(verdict) for verdict in Verdict},
        )
        print(found.link.verdict[0])
        print(f"On an upload over 802.11b, {found.upload.verdict[0]}")
        print("\n".join(kernel))
        say(f"the story: {page.resolve()}")
