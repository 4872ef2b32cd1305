"""Distributions of two programs, one over the other: a panel for each case."""

from collections.abc import Mapping
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from airtcp.pages.plot.frame import frame
from airtcp.pages.plot.style import house_style, line_colours
from airtcp.pages.plot.svg import InTwoWidths

_PANEL_INCHES = 1.75


@dataclass(frozen=True)
class Panel:
    """Quantiles by percent, of each case and both programs."""

    title: str
    cases: Mapping[str, tuple[Mapping[float, float], Mapping[float, float]]]
    """By name: the other program's, and ours."""


@dataclass(frozen=True)
class OverlaidDistributions(InTwoWidths):
    """Cumulative distributions; the other program's are dashed."""

    other: str
    x_label: str
    panels: tuple[Panel, ...]
    columns: int = 2

    def _drawn(self, width: float, *, is_narrow: bool) -> Figure:
        columns = 1 if is_narrow else self.columns
        rows = -(-len(self.panels) // columns)
        names = list(dict.fromkeys(name for panel in self.panels for name in panel.cases))
        colours = line_colours(names)
        with house_style():
            figure = Figure(figsize=(width, 1.2 + rows * (_PANEL_INCHES + 0.75)))
            places = figure.subplots(rows, columns, squeeze=False).flat
            for axes, panel in zip(places, self.panels, strict=False):
                _draw(axes, panel, colours)
                axes.set_xlabel(self.x_label)
            handles, labels = next(iter(figure.axes)).get_legend_handles_labels()
            names = [
                label if label in colours else f"{label[1:]}, {self.other}" for label in labels
            ]
            figure.legend(handles, names, loc="upper left", ncols=2 if is_narrow else 4)
            frame(
                figure,
                left=0.7,
                right=0.15,
                top=1.3 if is_narrow else 0.85,
                bottom=0.55,
                between_rows=0.75,
                between_columns=0.8,
                rows=rows,
                columns=columns,
            )
        return figure


def _draw(axes: Axes, panel: Panel, colours: Mapping[str, str]) -> None:
    for name, (other, ours) in panel.cases.items():
        for quantiles, style, label in ((ours, "-", name), (other, "--", f"~{name}")):
            percents = sorted(quantiles)
            delays = [quantiles[percent] for percent in percents]
            axes.plot(delays, percents, style, color=colours[name], label=label)
    axes.set_title(panel.title)
    axes.set_ylim(0, 100)
    axes.set_ylabel("packets (%)")
