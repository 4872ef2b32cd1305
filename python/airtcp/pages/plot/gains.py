"""The gain of each remedy of a ranking, with its interval."""

from dataclasses import dataclass

from matplotlib.figure import Figure

from airtcp.pages.plot.frame import frame
from airtcp.pages.plot.style import BLUE, house_style
from airtcp.pages.plot.widths import widest_inches

_ROW_INCHES = 0.34


@dataclass(frozen=True)
class Gain:
    """A remedy's gain in per cent of the baseline; positive is better."""

    remedy: str
    percent: float
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class Gains:
    """One row per remedy."""

    rows: tuple[Gain, ...]

    def figure(self) -> Figure:
        """A dot per remedy, a line for its interval, and a line at zero."""
        names = tuple(row.remedy for row in self.rows)
        with house_style():
            figure = Figure(figsize=(9.0, 0.9 + _ROW_INCHES * len(self.rows)))
            axes = figure.add_subplot()
            for place, row in enumerate(self.rows):
                if row.interval is not None:
                    axes.plot(row.interval, (place, place), color=BLUE, linewidth=2.5)
                axes.plot(row.percent, place, "D", color=BLUE, markersize=5)
            axes.axvline(0.0, linewidth=1.0, color="0.5")
            axes.set_yticks(range(len(names)), names)
            axes.set_ylim(len(names) - 0.5, -0.5)
            axes.tick_params(axis="y", length=0)
            axes.grid(visible=False, axis="y")
            axes.set_xlabel("gain (%)")
            frame(figure, left=0.25 + widest_inches(names), right=0.35, top=0.15, bottom=0.55)
        return figure
