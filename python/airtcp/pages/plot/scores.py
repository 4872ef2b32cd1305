"""Accuracy of loss classifiers: radio losses against congestion losses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from airtcp.pages.plot.frame import frame
from airtcp.pages.plot.style import LIGHT, house_style, remedy_colours
from airtcp.pages.plot.widths import widest_inches

_MARKERS = "osD^vPX*<>hp"


@dataclass(frozen=True)
class Score:
    """One classifier on one link: shares of losses classified correctly, None without losses."""

    link: str
    classifier: str
    radio_right: float | None
    congestion_right: float | None


@dataclass(frozen=True)
class Scores:
    """All scores, and the order of the classifiers."""

    classifiers: tuple[str, ...]
    scores: tuple[Score, ...]

    def figure(self) -> Figure:
        """For each link with losses of both causes a square: top right is perfect.

        A coin lies on the falling diagonal, whatever its bias. For a link with losses of one cause
        only, the shares are bars.
        """
        links = list(dict.fromkeys(score.link for score in self.scores))
        colours = remedy_colours(self.classifiers)
        names = 0.2 + widest_inches(self.classifiers, 7)
        with house_style():
            figure = Figure(figsize=(3.2 * len(links) + names * len(links), 4.6))
            panels = figure.subplots(1, len(links), squeeze=False)[0]
            for axes, link in zip(panels, links, strict=True):
                here = [score for score in self.scores if score.link == link]
                if all(None not in (one.radio_right, one.congestion_right) for one in here):
                    self._square(axes, here, colours)
                else:
                    _bars(axes, here, colours)
                axes.set_title(link)
            frame(
                figure,
                left=max(0.65, names),
                right=0.1,
                top=0.35,
                bottom=0.55,
                columns=len(links),
                between_columns=max(0.75, names),
                is_rigid=True,
            )
        return figure

    def _square(self, axes: Axes, here: Sequence[Score], colours: Mapping[str, str]) -> None:
        axes.plot([0, 100], [100, 0], color=LIGHT.grid, linewidth=1, zorder=0)
        for score in here:
            axes.plot(
                100 * (score.congestion_right or 0.0),
                100 * (score.radio_right or 0.0),
                marker=_MARKERS[self.classifiers.index(score.classifier) % len(_MARKERS)],
                linestyle="none",
                color=colours[score.classifier],
                label=score.classifier,
            )
        axes.set_xlim(-3, 103)
        axes.set_ylim(-3, 103)
        axes.set_xlabel("congestion losses judged right, %")
        axes.set_ylabel("radio losses judged right, %")
        axes.legend(fontsize=7, loc="lower left")


def _bars(axes: Axes, here: Sequence[Score], colours: Mapping[str, str]) -> None:
    kind = "radio" if here[0].radio_right is not None else "congestion"
    shares = [
        100 * ((score.radio_right if kind == "radio" else score.congestion_right) or 0.0)
        for score in here
    ]
    places = range(len(here))
    axes.barh(places, shares, color=[colours[score.classifier] for score in here])
    axes.set_yticks(places, [score.classifier for score in here], fontsize=7)
    axes.invert_yaxis()
    axes.set_xlim(0, 103)
    axes.set_xlabel(f"{kind} losses judged right, %")
