"""How often classifiers of losses are right: radio losses against congestion losses."""

from matplotlib.figure import Figure

from airtcp.plot.style import LIGHT, Theme, drawn_in, remedy_colours
from airtcp.study.grid import Entry, GridResult

_MARKERS = "osD^vPX*<>hp"


def score_figure(result: GridResult, theme: Theme = LIGHT) -> Figure:
    """For each link that has losses of both causes a square: the top right corner is the truth.

    A coin lies on the falling diagonal, wherever its bias puts it. Where a link has losses of one
    cause only, the shares are bars.
    """
    names = [
        link.name
        for link in result.grid.links
        if any(_judged(entry) for entry in result.entries if entry.link == link.name)
    ]
    colours = remedy_colours(result.grid.remedies, theme)
    with drawn_in(theme):
        figure = Figure(figsize=(4.0 * len(names) + 1.6, 4.6))
        panels = figure.subplots(1, len(names), squeeze=False)[0]
        for axes, link in zip(panels, names, strict=True):
            entries = [one for one in result.entries if one.link == link and _judged(one)]
            if all(
                one.radio_right is not None and one.congestion_right is not None for one in entries
            ):
                _square(axes, entries, result, colours, theme)
            else:
                _bars(axes, entries, colours)
            axes.set_title(link)
        figure.tight_layout()
    return figure


def _judged(entry: Entry) -> bool:
    return entry.radio_events + entry.congestion_events > 0


def _square(axes, entries, result, colours, theme) -> None:  # type: ignore[no-untyped-def]
    axes.plot([0, 100], [100, 0], color=theme.grid, linewidth=1, zorder=0)
    order = result.grid.remedies
    for entry in entries:
        axes.plot(
            100 * (entry.congestion_right or 0),
            100 * (entry.radio_right or 0),
            marker=_MARKERS[order.index(entry.remedy) % len(_MARKERS)],
            linestyle="none",
            color=colours[entry.remedy],
            label=entry.remedy,
        )
    axes.set_xlim(-3, 103)
    axes.set_ylim(-3, 103)
    axes.set_xlabel("congestion losses judged right, %")
    axes.set_ylabel("radio losses judged right, %")
    axes.legend(fontsize=7, loc="lower left")


def _bars(axes, entries, colours) -> None:  # type: ignore[no-untyped-def]
    kind = "radio" if entries[0].radio_right is not None else "congestion"
    shares = [
        100 * (entry.radio_right if kind == "radio" else entry.congestion_right or 0.0)
        for entry in entries
    ]
    places = range(len(entries))
    axes.barh(places, shares, color=[colours[entry.remedy] for entry in entries])
    axes.set_yticks(places, [entry.remedy for entry in entries], fontsize=7)
    axes.invert_yaxis()
    axes.set_xlim(0, 103)
    axes.set_xlabel(f"{kind} losses judged right, %")
