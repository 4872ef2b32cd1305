"""Labelled bars: shares of time, and the share of losses by the queue length before a packet."""

from dataclasses import dataclass

from matplotlib.figure import Figure

from airtcp.core.quantities import format_percent
from airtcp.pages.plot.frame import frame
from airtcp.pages.plot.style import BLUE, house_style
from airtcp.pages.plot.widths import widest_inches

_ROW_INCHES = 0.38


@dataclass(frozen=True)
class Bars:
    """One bar per name, in per cent."""

    names: tuple[str, ...]
    percents: tuple[float, ...]
    x_label: str
    decimals: int = 0

    def figure(self) -> Figure:
        """Horizontal bars, each with its value."""
        with house_style():
            figure = Figure(figsize=(9.0, 0.9 + _ROW_INCHES * len(self.names)))
            axes = figure.add_subplot()
            axes.barh(range(len(self.names)), self.percents, color=BLUE, height=0.62)
            for place, percent in enumerate(self.percents):
                axes.annotate(
                    format_percent(percent, decimals=self.decimals),
                    xy=(percent, place),
                    xytext=(4, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=9,
                )
            axes.set_yticks(range(len(self.names)), self.names)
            axes.set_ylim(len(self.names) - 0.5, -0.5)
            axes.set_xlim(0.0, 1.12 * max(*self.percents, 1e-9))
            axes.tick_params(axis="y", length=0)
            axes.grid(visible=False, axis="y")
            axes.set_xlabel(self.x_label)
            frame(figure, left=0.25 + widest_inches(self.names), right=0.35, top=0.15, bottom=0.55)
        return figure
