"""The congestion window against time, one panel a sender."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from airtcp.papers.windows import Window
from airtcp.plot.style import LIGHT, Theme, drawn_in, line_colours


def window_figure(windows: Sequence[tuple[str, Window]], theme: Theme = LIGHT) -> Figure:
    """The windows in segments, on common axes, so that heights can be compared."""
    colours = line_colours([name for name, _ in windows], theme)
    with drawn_in(theme):
        figure = Figure(figsize=(7.2, 1.7 * len(windows) + 0.6))
        panels = figure.subplots(len(windows), 1, sharex=True, sharey=True, squeeze=False)
        for panel, (name, window) in zip(panels[:, 0], windows, strict=True):
            panel.plot(window.time_s, window.cwnd_segments, color=colours[name], linewidth=1.0)
            panel.set_title(name, fontsize=9)
            panel.set_ylabel("window (segments)", fontsize=8)
            panel.set_ylim(bottom=0)
        panels[-1, 0].set_xlabel("time (s)")
        figure.tight_layout()
    return figure
