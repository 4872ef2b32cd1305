"""A small drawing of each kind that airtcp has, by name."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

import numpy as np

import airtcp
from airtcp.diagnosis.tables import Labels
from airtcp.pages import plot
from airtcp.pages.plot.bars import Bars
from airtcp.pages.plot.charts import Chart, Distances
from airtcp.pages.plot.charts import Line as ChartLine
from airtcp.pages.plot.comparison import DifferenceRow, DifferenceRows
from airtcp.pages.plot.front import FrontPlane, Spot
from airtcp.pages.plot.gains import Gain, Gains
from airtcp.pages.plot.latency import (
    LatencyBoxes,
    LatencyDistributions,
    Quantiles,
    RemedyLatency,
)
from airtcp.pages.plot.matrix import Matrix, MatrixCell
from airtcp.pages.plot.overlaid import OverlaidDistributions, Panel
from airtcp.pages.plot.pictures import PICTURES
from airtcp.pages.plot.probes import PingTimeline
from airtcp.pages.plot.round_trips import RoundTrips
from airtcp.pages.plot.scores import Score, Scores
from airtcp.pages.plot.sequence import Sequence
from airtcp.pages.plot.svg import Drawing
from airtcp.pages.plot.sweep import SweepLine, SweepLines, SweepPanel
from airtcp.pages.plot.timeline import Timelines, timeline
from airtcp.pages.plot.trouble import Trouble
from airtcp.pages.plot.verdicts import VerdictTiles
from airtcp.pages.plot.window import WindowLine, Windows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LINKS = {"channel": "wlan-clients", "injection": "wlan-upload", "fading": "wlan-clients"}
_REMEDIES = {"injection": ["delay-injection"], "retries": ["dynamic-arq"]}
HOSTILE = r"50 % of a_b & #1 {x} ~^\ <$>|"
"""A name with every character that LaTeX reads as a command, or has elsewhere in its fonts."""


@dataclass(frozen=True)
class Drawn:
    """A picture of a run as a drawing."""

    run: airtcp.Run
    kind: str

    def figure(self) -> "Figure":
        return self.run.picture(self.kind)


def drawings() -> Mapping[str, Drawing]:
    """Every kind."""
    found: dict[str, Drawing] = {type(one).__name__: one for one in (*_compared(), *_observed())}
    for kind, picture in PICTURES.items():
        run = airtcp.run(
            {"retries": "arq-download"}.get(kind, _LINKS.get(kind, "lossy-pipe")),
            settings={"duration": "2 s"},
            remedies=_REMEDIES.get(kind, []),
            probes=picture.probes,
            air=picture.air,
        )
        found[kind] = Drawn(run, kind)
    return found


def kinds() -> set[str]:
    """The names of all classes of drawings in the package."""
    modules = [import_module(f"{plot.__name__}.{one.name}") for one in iter_modules(plot.__path__)]
    return {
        name
        for module in modules
        for name, one in inspect.getmembers(module, inspect.isclass)
        if one.__module__ == module.__name__ and hasattr(one, "figure")
    } - {"Drawing", "InTwoWidths", "Narrow", "NarrowPlot", "PlotInTwoWidths"}


def _compared() -> list[Drawing]:
    known = Quantiles((0.0, 50.0, 100.0), (20.0, 50.0, 900.0))
    latencies = (RemedyLatency("baseline", known, known), RemedyLatency(HOSTILE, known, None))
    rows = (
        DifferenceRow(HOSTILE, (1e6, -2e6), -5e5, 3e6, "\u22121 %\nhurts"),
        DifferenceRow("bbr", (1e6, 1e6), 1e6, None, "+1 %"),
    )
    spots = (Spot("baseline", 5e6, 80.0, True), Spot(HOSTILE, 4e6, 20.0, True))
    differences = DifferenceRows(4e6, rows)
    cells = ((MatrixCell("+8.3", 8.3), MatrixCell("n/a")),)
    line = ChartLine("newreno", (1.0, 2.0, None), (0.1, 0.2, 0.0), (1.5, None, 2.0))
    return [
        differences,
        FrontPlane("95th percentile of the RTT", spots),
        LatencyDistributions(latencies),
        LatencyBoxes(latencies),
        Matrix((HOSTILE,), (("lte", "linux"), ("wlan", "linux")), cells, "per cent"),
        Scores(("coin",), (Score("lte", "coin", 0.5, 0.4), Score("wlan", "coin", 0.5, None))),
        Bars(("sending", "waiting"), (60.0, 40.0), "share of the time (%)"),
        Gains((Gain("bbr", 5.0, (3.0, 7.0)), Gain("sack", -1.0, None))),
        Chart("goodput", "loss (%)", "Mbit/s", (1, 2, 3), (line,), 10, "10 seeds"),
        Distances((("first reading", 0.5), ("second reading", 0.2)), "second reading"),
        VerdictTiles((("A paper", (("1", "reproduced"), ("2", "direction"))),)),
        Windows((WindowLine("newreno", (0.0, 1.0, 2.0), (2.0, 4.0, 8.0)),)),
        SweepLines(
            "link.loss.rate",
            (0.0, 0.01),
            (SweepPanel("seed_s = 1", (SweepLine("bbr", (0, 1), (1.0, 40.0), (0.5, 4.0)),)),),
        ),
        OverlaidDistributions(
            "ns-3", "delay (ms)", (Panel("3 users", {"far": ({5.0: 1.0, 95.0: 9.0},) * 2}),)
        ),
    ]


def _observed() -> list[Drawing]:
    probes = airtcp.TIMELINE_PROBES
    run = airtcp.run("lossy-pipe", settings={"duration": "4 s"}, probes=probes, rtts=True)
    rtts = run.rtts["time_s"].to_numpy(), run.rtts["rtt_ms"].to_numpy()
    line = timeline(HOSTILE, run)
    time = np.linspace(0.0, 9.0, 400)
    rtt = 0.05 + 0.02 * np.sin(time)
    rtt[50] = np.nan
    offsets = 1500.0 * np.arange(400)
    stops = ((2.0, 0.5),)
    phases = ((0.0, 4.0, 0.04, "link full"), (4.0, 9.0, 0.04, "losses"))
    return [
        Timelines((line,)),
        Trouble(line, *rtts, 1e7),
        PingTimeline(time, rtt, 0.03, stops, ((5.0, 0.3),), np.array([1.0, 7.5])),
        RoundTrips(time, rtt, 0.03, Labels(), stops, phases),
        Sequence(time, offsets, offsets + 1500.0, time + 0.05, offsets, Labels(), stops),
    ]
