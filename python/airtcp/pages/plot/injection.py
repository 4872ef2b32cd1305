"""Delay injection: the quantities of Fotiadis & Siris §III-B, acknowledgment by acknowledgment."""

import polars as pl
from matplotlib.figure import Figure

from airtcp.pages.plot.observed import Observed
from airtcp.pages.plot.style import BLUE, GREEN, LIGHT, ORANGE, VERMILLION, house_style


def injection_figure(
    run: Observed,
    *,
    flow: int = 0,
    start_s: float = 0.0,
    length_s: float | None = None,
) -> Figure:
    """Above, pdelay of each judged acknowledgment and dthresh; below, the injected delay D.

    Args:
        run: made with `air=True` and the remedy `delay-injection`.
        flow: the flow to draw.
        start_s: start of the figure.
        length_s: length of the figure; to the end of the run by default.

    Raises:
        ValueError: no acknowledgment of the flow was judged in that time.
    """
    end = run.summary["duration_s"] if length_s is None else start_s + length_s
    judged = run.agents.filter(
        (pl.col("event") == "ack-judged")
        & (pl.col("flow") == flow)
        & pl.col("time_s").is_between(start_s, end)
    )
    if judged.is_empty():
        raise ValueError(
            f"no acknowledgment of flow {flow} was judged: give air=True to airtcp.run, the remedy "
            'delay-injection, and a scenario whose mobiles send (flows.direction = "up")'
        )
    spikes = judged.filter(pl.col("spike"))
    held = judged.filter(pl.col("held_ms") > 0)
    with house_style():
        figure = Figure(figsize=(10.0, 6.0), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
        plain = judged.filter(~pl.col("spike"))
        above.plot(
            plain["time_s"], plain["path_delay_ms"], ".", color=BLUE, markersize=3, label="pdelay"
        )
        above.plot(
            spikes["time_s"],
            spikes["path_delay_ms"],
            "D",
            color=VERMILLION,
            markersize=5,
            label="a spike: pdelay above dthresh",
        )
        above.step(
            judged["time_s"],
            judged["threshold_ms"],
            where="post",
            color=LIGHT.foreground,
            linewidth=0.9,
            label="dthresh",
        )
        above.set_ylabel("path delay (ms)")
        above.set_ylim(bottom=0)
        below.step(
            judged["time_s"], judged["delay_ms"], where="post", color=GREEN, label="D, to inject"
        )
        below.plot(
            held["time_s"],
            held["held_ms"],
            ".",
            color=ORANGE,
            markersize=3,
            label="an acknowledgment was held",
        )
        below.set_ylabel("injected delay (ms)")
        below.set_ylim(bottom=0)
        below.set_xlabel("time (s)")
        below.set_xlim(start_s, end)
        for axes in (above, below):
            axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, borderaxespad=0.2)
        figure.align_ylabels([above, below])
    return figure
