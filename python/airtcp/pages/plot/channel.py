"""The channel's timeline: transmissions by station, collisions and retransmissions."""

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from airtcp.pages.plot.observed import Observed
from airtcp.pages.plot.style import BLUE, GREEN, LIGHT, ORANGE, SKY_BLUE, VERMILLION, house_style

_COLOURS = {
    "data": BLUE,
    "ack": SKY_BLUE,
    "block-ack": SKY_BLUE,
    "block-ack-request": ORANGE,
    "rts": ORANGE,
    "cts": GREEN,
}
_NAMES = {
    "data": "data",
    "ack": "link ACK",
    "block-ack": "block ACK",
    "block-ack-request": "block ACK request",
    "rts": "RTS",
    "cts": "CTS",
}
_SPOILT = {"collided": "xxxx", "damaged": "////"}
_DEFAULT_LENGTH_S = 0.02
_LEAD_S = 0.004
"""Margin before the first event of interest."""
_BUSY = 0.5
"""Minimum number of frames in a busy window, relative to the busiest one: the first frames of a
transfer are few.
"""
_LANE = 0.72
_MAX_STATIONS = 25


def channel_figure(
    run: Observed,
    *,
    medium: int = 0,
    start_s: float | None = None,
    length_s: float = _DEFAULT_LENGTH_S,
) -> Figure:
    """One lane per station, one bar per frame, for some milliseconds.

    Args:
        run: made with `air=True`.
        medium: index of one of the scenario's media.
        start_s: start of the window; by default shortly before the first frame that collides or is
            retransmitted while the channel is busy.
        length_s: length of the window.

    Raises:
        ValueError: the run has no frames, or no frames in the window.
    """
    frames = run.frames.filter(pl.col("medium") == medium)
    if frames.is_empty():
        raise ValueError(
            "the run has no frames: give air=True to airtcp.run, and a scenario with a medium "
            '(topology = "wlan", "wlan-wired-wlan", "arq" or "cell")'
        )
    start = window_start(frames, length_s) if start_s is None else start_s
    end = start + length_s
    shown = frames.filter((pl.col("end_s") > start) & (pl.col("start_s") < end))
    if shown.is_empty():
        raise ValueError(f"no frames from {start:g} s to {end:g} s; choose another start_s")
    stations = sorted(shown["station"].unique().to_list())[:_MAX_STATIONS]
    with house_style():
        height = 1.5 + 0.45 * len(stations)
        figure = Figure(figsize=(10.0, max(2.6, height)), layout="constrained")
        axes = figure.subplots()
        for lane, station in enumerate(stations):
            _draw_lane(axes, lane, shown.filter(pl.col("station") == station), start)
        names = ["access point" if one == 0 else f"station {one}" for one in stations]
        axes.set_yticks(range(len(stations)), names)
        axes.set_ylim(len(stations) - 0.4, -0.6)
        axes.set_xlim(0, 1e3 * length_s)
        axes.set_xlabel(f"time after {start:.4f} s (ms)")
        axes.grid(axis="y", visible=False)
        axes.tick_params(axis="y", length=0)
        figure.legend(handles=_legend(shown), loc="outside upper center", ncols=6, handlelength=1.6)
    return figure


def window_start(frames: pl.DataFrame, length_s: float) -> float:
    """Shortly before the first collision or repeat in a busy window, or the first frame there."""
    frames = frames.sort("start_s")
    starts = frames["start_s"].to_numpy()
    sent = np.concatenate([[0.0], np.cumsum(frames["end_s"].to_numpy() - starts)])
    windows = np.maximum(starts - _LEAD_S, 0.0)
    within = (
        sent[np.searchsorted(starts, windows + length_s)] - sent[np.searchsorted(starts, windows)]
    )
    odd = ((frames["fate"] != "received") | (frames["attempt"] > 1)).to_numpy()
    worth = within >= _BUSY * within.max()
    both = np.flatnonzero(worth & odd)
    return float(windows[both[0] if both.size else np.argmax(worth)])


def _draw_lane(axes: Axes, lane: int, frames: pl.DataFrame, start: float) -> None:
    for frame in frames.iter_rows(named=True):
        left = 1e3 * (frame["start_s"] - start)
        width = 1e3 * (frame["end_s"] - frame["start_s"])
        spoilt = _SPOILT.get(frame["fate"])
        axes.barh(
            lane,
            width,
            left=left,
            height=_LANE,
            color=LIGHT.background if spoilt else _COLOURS[frame["frame"]],
            edgecolor=VERMILLION if spoilt else LIGHT.background,
            hatch=spoilt,
            linewidth=1.2 if spoilt else 0.4,
        )
        if frame["mpdus"] > 1 and not spoilt:
            _draw_mpdus(axes, lane, left, width, frame["mpdus"], frame["damaged"])
        if frame["attempt"] > 1 and frame["frame"] in {"data", "rts"}:
            axes.annotate(
                str(frame["attempt"]),
                (left + width / 2, lane - _LANE / 2),
                xytext=(0, 1),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize=8,
                clip_on=True,
            )


def _draw_mpdus(axes: Axes, lane: int, left: float, width: float, mpdus: int, damaged: int) -> None:
    """Lines between the MPDUs of an aggregate, and below a strip for the damaged share."""
    edges = left + width * np.arange(1, mpdus) / mpdus
    axes.vlines(edges, lane - _LANE / 2, lane + _LANE / 2, color=LIGHT.background, linewidth=0.3)
    if damaged:
        axes.barh(
            lane + 0.4 * _LANE,
            width * damaged / mpdus,
            left=left,
            height=0.2 * _LANE,
            color=VERMILLION,
            linewidth=0,
        )


def _legend(frames: pl.DataFrame) -> list[Patch]:
    kinds = [kind for kind in _NAMES if kind in frames["frame"].cast(pl.String).unique()]
    patches = [Patch(color=_COLOURS[kind], label=_NAMES[kind]) for kind in kinds]
    for fate, hatch in _SPOILT.items():
        if fate in frames["fate"].cast(pl.String).unique():
            patches.append(
                Patch(facecolor=LIGHT.background, edgecolor=VERMILLION, hatch=hatch, label=fate)
            )
    if frames.filter((pl.col("mpdus") > 1) & (pl.col("fate") == "received"))["damaged"].sum():
        patches.append(Patch(color=VERMILLION, label="damaged MPDUs, share of the aggregate"))
    if int(np.max(frames["attempt"].to_numpy())) > 1:
        patches.append(Patch(color="none", label="2, 3, …: retransmitted"))
    return patches
