"""`airtcp run`: one scenario, once."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from airtcp._core import ScenarioError
from airtcp.cli.console import (
    LARGEST_SEED,
    AsJson,
    ScenarioFile,
    Settings,
    complete_remedy,
    print_json,
    progress_bar,
    warn,
    writable_file,
)
from airtcp.cli.errors import clear_errors, say
from airtcp.columns import numbers
from airtcp.files import write_whole
from airtcp.loading import load_scenario, parse_setting
from airtcp.plot import TIMELINE_PROBES
from airtcp.plot.pictures import PICTURES
from airtcp.quantities import format_bit_rate, format_bytes, format_count, format_percent
from airtcp.runs import Run, run
from airtcp.sessions import BestStart
from airtcp.summary import FlowSummary, RunSummary, never_opened, retransmitted_share, total

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

_MOST_FLOWS_SHOWN = 4
_PLOT_FORMATS = (".png", ".svg", ".pdf")
_TABLE_FORMATS = (".csv", ".parquet")


def run_command(
    file: ScenarioFile,
    seed: Annotated[
        int,
        typer.Option(metavar="N", min=0, max=LARGEST_SEED, help="The source of every random draw."),
    ] = 1,
    settings: Settings = None,
    remedy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[:PARAMETER=VALUE]",
            autocompletion=complete_remedy,
            help="Applies a remedy from `airtcp remedies`. Repeatable: all are applied together.",
        ),
    ] = None,
    as_json: AsJson = False,
    probe: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Samples a variable, for example cwnd. Repeatable."),
    ] = None,
    samples: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Writes the samples as .csv or .parquet."),
    ] = None,
    pcap: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Writes the segments, for Wireshark.")
    ] = None,
    qlog: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Writes the events, as qlog.")
    ] = None,
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
            help="Draws timeline, channel, fading, injection or retries as .png, .svg or .pdf. "
            "Repeatable.",
        ),
    ] = None,
    frames: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Writes the frames on the air as .csv or .parquet."),
    ] = None,
    agents: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Writes what the access point's agents did, .csv or .parquet."
        ),
    ] = None,
    rtt_log: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Writes the first flow's round-trip times as .csv: a link for link.rtt_log.path.",
        ),
    ] = None,
    sessions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Starts with the window that past sessions with --peer ended with, and keeps this "
            "one's: an SQLite file, made if absent. Results then depend on the file.",
        ),
    ] = None,
    peer: Annotated[
        str, typer.Option(metavar="NAME", help="Whom --sessions is about.")
    ] = "default",
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draws window, timers and goodput of the first flow as .png, .svg or .pdf.",
        ),
    ] = None,
) -> None:
    """Run a scenario once. The same file, settings and seed give the same result everywhere.

    [bold]Examples[/bold]

    airtcp run lossy-pipe --set link.loss.rate=0.01 --seed 7

    airtcp run ping --remedy rto-factor:factor=10 --plot timeline.svg

    airtcp run wlan-upload --remedy delay-injection --picture injection=delays.svg

    airtcp run dumbbell --json | jq .goodput_bps
    """
    with clear_errors():
        _check_name(plot, "--plot", _PLOT_FORMATS)
        _check_name(samples, "--samples", _TABLE_FORMATS)
        _check_name(frames, "--frames", _TABLE_FORMATS)
        _check_name(agents, "--agents", _TABLE_FORMATS)
        _check_name(rtt_log, "--rtt-log", (".csv",))
        pictures = _pictures(picture or [])
        for option, path in {"--pcap": pcap, "--qlog": qlog}.items():
            if path:
                writable_file(path, option)
        probes = [
            *(probe or []),
            *(TIMELINE_PROBES if plot else ()),
            *(name for kind, _ in pictures for name in PICTURES[kind].probes),
        ]
        air = bool(frames or agents) or any(PICTURES[kind].air for kind, _ in pictures)
        if samples and not probe and not plot:
            raise ScenarioError(f"--samples {samples}: name what to sample, such as --probe cwnd")
        chosen: dict[str, object] = dict(parse_setting(text) for text in settings or [])
        best_start = BestStart(sessions, peer, say) if sessions else None
        if best_start:
            chosen = best_start.settings(chosen)
        scenario = load_scenario(file, chosen, remedy or [])
        warn(scenario)
        with progress_bar(f"running {file}") as report:
            finished = run(
                scenario,
                seed,
                probes=list(dict.fromkeys(probes)),
                events=plot is not None or any(kind == "timeline" for kind, _ in pictures),
                air=air,
                rtts=rtt_log is not None,
                pcap=pcap,
                qlog=qlog,
                replay=replay,
                progress=report,
            )
        if best_start:
            best_start.record(finished.summary)
        played_back = replay / "scenario.toml" if replay else None
        if plot:
            _write_figure(finished.plot(), plot)
        for kind, path in pictures:
            _draw(finished, kind, path)
        for table, target in (
            (finished.samples, samples),
            (finished.frames, frames),
            (finished.agents, agents),
        ):
            if target:
                _write_table(table, target)
        if rtt_log:
            rtts = finished.rtts
            _write_table(rtts.filter(rtts["flow"] == 0).drop("flow"), rtt_log)
        if as_json:
            print_json(_json_object(finished, probe or []))
        else:
            _print_summary(finished.summary)
            drawn = [path for _, path in pictures]
            tables = (samples, frames, agents, rtt_log)
            for path in filter(None, (*tables, pcap, qlog, played_back, plot, *drawn)):
                say(f"wrote {path}")


def _check_name(path: Path | None, option: str, suffixes: tuple[str, ...]) -> None:
    if path is None:
        return
    if path.suffix not in suffixes:
        raise ScenarioError(f"{option} {path}: expected a name ending in {' or '.join(suffixes)}")
    writable_file(path, option)


def _pictures(texts: list[str]) -> list[tuple[str, Path]]:
    """The kinds and files of `--picture`."""
    pictures = []
    for text in texts:
        kind, _, name = text.partition("=")
        if kind not in PICTURES or not name:
            raise ScenarioError(
                f"--picture {text}: expected KIND=FILE, KIND one of {', '.join(PICTURES)}"
            )
        path = Path(name)
        _check_name(path, f"--picture {kind}=", _PLOT_FORMATS)
        pictures.append((kind, path))
    return pictures


def _draw(finished: Run, kind: str, path: Path) -> None:
    try:
        figure = finished.picture(kind)
    except ValueError as reason:
        raise ScenarioError(f"--picture {kind}={path}: {reason}") from reason
    _write_figure(figure, path)


def _write_figure(figure: "Figure", path: Path) -> None:
    content = BytesIO()
    figure.savefig(content, format=path.suffix.removeprefix("."))
    write_whole(path, content.getvalue())


def _write_table(table: "pl.DataFrame", path: Path) -> None:
    content = BytesIO()
    if path.suffix == ".csv":
        table.write_csv(content)
    else:
        table.write_parquet(content)
    write_whole(path, content.getvalue())


def _json_object(finished: Run, probes: list[str]) -> dict[str, object]:
    """The summary; with probes also their columns, as lists of equal length."""
    summary: dict[str, object] = {**finished.summary}
    if probes:
        summary["samples"] = finished.samples.to_dict(as_series=False)
    return summary


def _print_summary(summary: RunSummary) -> None:
    remedies = " + ".join(summary["remedies"]) or "as written"
    print(f"{summary['scenario']}, {remedies}, seed {summary['seed']}, {summary['duration_s']:g} s")
    flows = summary["flows"]
    shown = flows[:_MOST_FLOWS_SHOWN]
    head = ["", *(f"flow {flow['flow']}" if len(flows) > 1 else "" for flow in shown)]
    rows = _ROWS if all(flow["datagrams_sent"] == 0 for flow in flows) else _ROWS | _DATAGRAM_ROWS
    rows = rows | _MARK_ROWS if total(summary, "segments_marked") else rows
    print(numbers(head, [[name, *map(show, shown)] for name, show in rows.items()]))
    if len(flows) > 1:
        hidden = f" (the first {len(shown)} shown)" if len(flows) > len(shown) else ""
        print(
            f"{len(flows)} flows{hidden}: {format_bit_rate(summary['goodput_bps'])} in all, "
            f"{format_percent(100 * retransmitted_share(summary))} retransmitted, "
            f"{format_count(total(summary, 'timeouts'))} timeouts"
        )
    for flow in flows:
        if never_opened(summary, flow):
            print(
                f"flow {flow['flow']} never got past its handshake: no SYN, or no answer to one, "
                "crossed the link"
            )
    print(f"digest {summary['digest']}")


_ROWS: dict[str, Callable[[FlowSummary], str]] = {
    "goodput": lambda flow: format_bit_rate(flow["goodput_bps"]),
    "delivered": lambda flow: format_bytes(flow["delivered_bytes"]),
    "segments sent": lambda flow: format_count(flow["segments_sent"]),
    "retransmitted": lambda flow: format_count(flow["segments_retransmitted"]),
    "fast retransmits": lambda flow: format_count(flow["fast_retransmits"]),
    "timeouts": lambda flow: format_count(flow["timeouts"]),
    "of these spurious": lambda flow: format_count(flow["timeouts_spurious"]),
    "SRTT at the end": lambda flow: _milliseconds(flow["srtt_ms"]),
    "RTO at the end": lambda flow: _milliseconds(flow["rto_ms"]),
}

_MARK_ROWS: dict[str, Callable[[FlowSummary], str]] = {
    "marked by queues": lambda flow: format_count(flow["segments_marked"]),
}

_DATAGRAM_ROWS: dict[str, Callable[[FlowSummary], str]] = {
    "datagrams sent": lambda flow: format_count(flow["datagrams_sent"]),
    "lost": lambda flow: format_count(flow["datagrams_lost"]),
    "pings answered": lambda flow: format_count(flow["pings_answered"]),
    "one-way delay p50": lambda flow: _milliseconds(flow["delay_p50_ms"]),
    "one-way delay p95": lambda flow: _milliseconds(flow["delay_p95_ms"]),
    "one-way delay p99": lambda flow: _milliseconds(flow["delay_p99_ms"]),
    "round trip p50": lambda flow: _milliseconds(flow["rtt_p50_ms"]),
    "round trip p95": lambda flow: _milliseconds(flow["rtt_p95_ms"]),
    "round trip p99": lambda flow: _milliseconds(flow["rtt_p99_ms"]),
    "jitter": lambda flow: _milliseconds(flow["jitter_ms"]),
}


def _milliseconds(value: float | None) -> str:
    return "none" if value is None else f"{value:.1f} ms"
