"""Goodput and latency at once in a comparison's report: the figure and its table."""

from collections.abc import Iterator

from airtcp.comparison.compared import Comparison
from airtcp.comparison.front import Front, Mark, front
from airtcp.core.quantities import format_bit_rate
from airtcp.pages.figures import PlannedFigure
from airtcp.pages.plot.front import FrontPlane, Spot
from airtcp.pages.tables import Table

_WORDS = {
    Mark.FRONT: "best in both",
    Mark.BEATEN: "beaten",
    Mark.UNDECIDED: "undecided",
}


def front_figure(comparison: Comparison) -> Iterator[PlannedFigure]:
    """The plane of goodput and latency; empty if no run has measured latency."""
    places = front(comparison)
    if places is None:
        return
    yield PlannedFigure(
        "front",
        "Goodput and latency at once",
        "Each dot is a remedy: its mean goodput to the right, its latency downwards, so that the "
        "best is top right. No other remedy has a higher mean goodput and a lower latency than "
        "those on the line.",
        FrontPlane(
            places.metric.label,
            tuple(
                Spot(one.remedy, one.goodput_bps, one.latency, one.mark is Mark.FRONT)
                for one in places.points
            ),
        ),
        front_table(places),
    )


def front_table(places: Front) -> Table:
    """Each remedy's place, the remedy that beats it, and whether the runs show that."""
    rows = [
        (
            one.remedy,
            _WORDS[one.mark],
            one.by or "",
            format_bit_rate(one.goodput_bps),
            places.metric.show(one.latency),
        )
        for one in sorted(places.points, key=lambda one: -one.goodput_bps)
    ]
    return Table(("remedy", "goodput and latency", "by", "goodput", places.metric.label), rows, 3)
