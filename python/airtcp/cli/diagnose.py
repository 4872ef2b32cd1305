"""`airtcp diagnose`: a capture or a ping log, to the cause and the remedy worth deploying."""

from pathlib import Path
from typing import Annotated

import typer

from airtcp._core import ScenarioError
from airtcp.cli.asker import Can
from airtcp.cli.console import AsJson, rate_option
from airtcp.cli.diagnose_files import Chosen, answer
from airtcp.cli.errors import clear_errors
from airtcp.comparison.ranking.aims import Aim
from airtcp.core.quantities import parse_seconds


def diagnose_command(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE] [AFTER]",
            help="A capture (pcap, pcapng, also gzipped; - reads one from standard input) or the "
            "log of a ping, a speed test, the qlog of QUIC's sender, `iw dev wlan0 station dump` "
            "or `nstat`. Two captures are compared: before a change, and after it.",
        ),
    ] = None,
    flow: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="The flow to look into; that with most bytes if left out."
        ),
    ] = None,
    view: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE",
            help="Where the capture was taken: sender, receiver or middle. Found if left out.",
        ),
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(
            metavar="RATE",
            help='The rate of the link, as "20 Mbit/s", where you know it. Fitted to a capture if '
            "left out; over a ping log, which shows none, a range of rates is tried.",
        ),
    ] = None,
    interval: Annotated[
        str | None,
        typer.Option(
            "--interval",
            metavar="TIME",
            help="The time from one probe of a ping to the next, for a log without times.",
        ),
    ] = None,
    can: Can = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Writes DIR/index.html (the report), DIR/link.toml (the link as a scenario), "
            "DIR/labels.parquet and DIR/annotated.pcapng.",
        ),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(
            "-i",
            "--interface",
            metavar="DEV",
            help="Capture this network interface now, and diagnose what passed. Needs sudo or "
            "CAP_NET_RAW, which is dropped before the first packet is read.",
        ),
    ] = None,
    wanted: Annotated[
        list[str] | None,
        typer.Option(
            "--for",
            metavar="AIM|TIME",
            help="Use of the link: bulk (goodput, the default), latency, calls or "
            "balance. With -i also how long to capture (60s); Ctrl-C ends it early.",
        ),
    ] = None,
    sender: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The congestion control that the sender uses: cubic, reno or bbr. Else each that "
            "explains the capture is tried.",
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=1_000,
            help="Seeds for each of the links that the capture leaves open. Default 2. Over a ping "
            "log the most seeds, default 10.",
        ),
    ] = None,
    worth: Annotated[
        float | None,
        typer.Option(
            metavar="PERCENT",
            min=0.0,
            help="The smallest effect worth having. Default 3: less is within a fit's error.",
        ),
    ] = None,
    max_cpu: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=1.0,
            help="Trials end after so much processor time. Default 60; over a ping log 20.",
        ),
    ] = None,
    sockets: Annotated[
        bool,
        typer.Option(
            "--sockets",
            help="The kernel's counters of each connection, by `ss -ti`, in place of a capture; "
            "FILE may hold its output from another machine. With a capture (FILE), counters of its "
            "sender, which name its congestion control.",
        ),
    ] = False,
    as_json: AsJson = False,
    advise: Annotated[
        bool,
        typer.Option(
            "--advise",
            help="Print the command that takes a useful capture; with FILE, what that capture "
            "leaves open, and the transfers that would show it.",
        ),
    ] = False,
) -> None:
    """Find out from a capture or a ping log what makes TCP slow, and what would help.

    Retransmissions are labelled, the time is accounted for, the link is fitted and played back,
    and remedies are ranked over it.

    [bold]Examples[/bold]

    airtcp diagnose --advise

    airtcp diagnose slow.pcap --out out

    airtcp diagnose slow.pcap --flow 3 --can my-machine,access-point

    airtcp diagnose link.ping

    airtcp diagnose before.pcap after.pcap

    sudo airtcp diagnose -i wlan0 --for 60s

    airtcp diagnose --sockets

    airtcp diagnose slow.pcap sockets.txt --sockets
    """
    with clear_errors():
        aim, seconds = _aim_and_time(wanted or [], has_time=device is not None)
        interval_s = None if interval is None else parse_seconds(interval)
        if interval is not None and not interval_s:
            raise ScenarioError(f'--interval {interval}: expected a time such as "0.2s"')
        chosen = Chosen(
            flow=flow,
            view=view,
            known_bps=rate_option(rate),
            interval_s=interval_s,
            can=can,
            sender=sender,
            seeds=seeds,
            max_cpu_s=max_cpu,
            worth_percent=worth,
            aim=aim,
            folder=folder,
            as_json=as_json,
        )
        answer(files or [], chosen, device, seconds, sockets=sockets, advise=advise)


def _aim_and_time(wanted: list[str], *, has_time: bool) -> tuple[Aim, str]:
    """The values of `--for`: the aim, and the duration of the capture.

    Raises:
        ScenarioError: a word is neither, or a time is given without a capture.
    """
    aims = [text for text in wanted if text in list(Aim)]
    times = [text for text in wanted if text not in aims]
    if len(aims) > 1 or len(times) > 1 or (times and not has_time):
        raise ScenarioError(
            f"--for {' --for '.join(wanted)}: expected one of {', '.join(Aim)}; and with -i how "
            'long to capture, such as "60s"'
        )
    return Aim(aims[0]) if aims else Aim.BULK, times[0] if times else "60s"
