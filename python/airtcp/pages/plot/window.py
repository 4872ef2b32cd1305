"""The congestion window against time, one panel per sender."""

from dataclasses import dataclass

from matplotlib.figure import Figure

from airtcp.pages.plot.frame import frame
from airtcp.pages.plot.style import house_style, line_colours


@dataclass(frozen=True)
class WindowLine:
    """One sender: its name, and its window in segments over time in seconds."""

    name: str
    time_s: tuple[float, ...]
    cwnd_segments: tuple[float, ...]


@dataclass(frozen=True)
class Windows:
    """The figure's numbers."""

    lines: tuple[WindowLine, ...]

    def figure(self) -> Figure:
        """The windows on common axes, for comparison of their heights."""
        colours = line_colours([line.name for line in self.lines])
        count = len(self.lines)
        with house_style():
            figure = Figure(figsize=(7.2, 1.7 * count + 0.6))
            panels = figure.subplots(count, 1, sharex=True, sharey=True, squeeze=False)
            for panel, line in zip(panels[:, 0], self.lines, strict=True):
                panel.plot(line.time_s, line.cwnd_segments, color=colours[line.name], linewidth=1.0)
                panel.set_title(line.name, fontsize=9)
                panel.set_ylabel("segments", fontsize=9)
                panel.set_ylim(bottom=0)
            panels[-1, 0].set_xlabel("time (s)")
            frame(figure, left=0.75, right=0.15, top=0.3, bottom=0.5, rows=count, between_rows=0.35)
        return figure
