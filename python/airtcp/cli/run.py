"""`airtcp run`: one scenario, once."""

from pathlib import Path
from typing import Annotated

import typer

from airtcp.cli.console import (
    LARGEST_SEED,
    AsJson,
    Bpf,
    ScenarioFile,
    Settings,
    UnderLoad,
    complete_remedy,
    figure_inches,
    print_json,
    settings_of,
    warn,
)
from airtcp.cli.errors import clear_errors, say
from airtcp.cli.progress import progress_bar
from airtcp.cli.run_summary import json_object, print_run
from airtcp.core.bpf import with_own
from airtcp.core.loading import load_scenario
from airtcp.core.sessions import BestStart
from airtcp.pages.run_files import RunFiles, parse_pictures


def _file(text: str) -> object:
    """An option that names an output file."""
    return typer.Option(metavar="FILE", help=text)


def run_command(
    file: ScenarioFile,
    seed: Annotated[
        int,
        typer.Option(metavar="N", min=0, max=LARGEST_SEED, help="The source of every random draw."),
    ] = 1,
    settings: Settings = None,
    under_load: UnderLoad = None,
    remedy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[:PARAMETER=VALUE]",
            autocompletion=complete_remedy,
            help="Applies a remedy from `airtcp list remedies`. Repeatable: all are applied "
            "together.",
        ),
    ] = None,
    bpf: Bpf = None,
    as_json: AsJson = False,
    probe: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Samples a variable, for example cwnd. Repeatable."),
    ] = None,
    samples: Annotated[Path | None, _file("Writes the samples as .csv or .parquet.")] = None,
    pcap: Annotated[Path | None, _file("Writes the segments, for Wireshark.")] = None,
    events: Annotated[Path | None, _file("Writes the events as .csv or .parquet.")] = None,
    qlog: Annotated[Path | None, _file("Writes the events, as qlog.")] = None,
    replay: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Writes a scenario that plays the link back: its stops and losses as lists.",
        ),
    ] = None,
    picture: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND=FILE",
            help="Draws timeline, channel, fading, injection or retries as .png, .svg, .pdf or "
            ".tex. Repeatable.",
        ),
    ] = None,
    frames: Annotated[
        Path | None, _file("Writes the frames on the air as .csv or .parquet.")
    ] = None,
    agents: Annotated[
        Path | None, _file("Writes the actions of the access point's agents, .csv or .parquet.")
    ] = None,
    rtt_log: Annotated[
        Path | None,
        _file("Writes the first flow's round-trip times as .csv: a link for link.rtt_log.path."),
    ] = None,
    flent: Annotated[
        Path | None,
        _file("Writes goodput and round trips as a data file of flent, .flent.gz."),
    ] = None,
    irtt: Annotated[
        Path | None,
        _file("Writes each ping as irtt does, .json, .json.gz or .csv (see --under-load ping)."),
    ] = None,
    sessions: Annotated[
        Path | None,
        _file(
            "Starts with the window that past sessions with --peer ended with, and keeps this "
            "one's: a file, made if absent. Results then depend on the file."
        ),
    ] = None,
    peer: Annotated[
        str, typer.Option(metavar="NAME", help="Whom --sessions is about.")
    ] = "default",
    plot: Annotated[
        Path | None,
        _file("Draws window, timers and goodput of the first flow as .png, .svg, .pdf or .tex."),
    ] = None,
    figure_width: Annotated[
        str | None,
        typer.Option(
            metavar="WIDTH",
            help="Sizes the figures for print: column (3.5 in), page (7.16 in) or a length such as "
            "85mm. A .tex is a column wide without it.",
        ),
    ] = None,
) -> None:
    """Run a scenario once. The same file, settings and seed give the same result everywhere.

    [bold]Examples[/bold]

    airtcp run lossy-pipe --set link.loss.rate=0.01 --seed 7

    airtcp run ping --remedy rto-factor:factor=10 --plot timeline.svg

    airtcp run lossy-pipe --plot flow.pdf --figure-width column

    airtcp run wlan-upload --remedy delay-injection --picture injection=delays.svg

    airtcp run lossy-pipe --bpf my.bpf.c:beta=3

    airtcp run dumbbell --json | jq .goodput_bps
    """
    with clear_errors():
        named = probe or []
        files = RunFiles(
            samples=samples,
            events=events,
            frames=frames,
            agents=agents,
            rtt_log=rtt_log,
            flent=flent,
            irtt=irtt,
            plot=plot,
            pictures=parse_pictures(picture or []),
            width=figure_inches(figure_width),
            pcap=pcap,
            qlog=qlog,
            replay=replay,
        )
        files.check(named)
        chosen = settings_of(settings, under_load)
        best_start = BestStart(sessions, peer, say) if sessions else None
        if best_start:
            chosen = best_start.settings(chosen)
        scenario = load_scenario(file, chosen, with_own(remedy or [], bpf))
        warn(scenario)
        with progress_bar(f"running {file}") as report:
            finished = files.run(scenario, seed, named, report)
        if best_start:
            best_start.record(finished.summary)
        files.write(finished)
        if as_json:
            print_json(json_object(finished, named))
        else:
            print_run(finished)
            for path in files.written():
                say(f"wrote {path}")
