"""Goodput and latency of every remedy in one plane, with the Pareto front."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from airtcp.core.catalogue import BASELINE
from airtcp.core.quantities import bit_rate_scale
from airtcp.pages.plot.frame import fitted
from airtcp.pages.plot.marks import Dots, Grid, Line, Mark, Panel, Plot, Words
from airtcp.pages.plot.plotted import PlotInTwoWidths
from airtcp.pages.plot.style import BLUE, LIGHT
from airtcp.pages.plot.ticks import ends, linear, logarithmic

_HEIGHT = 4.8
_MARGIN = 0.12
_LOGARITHMIC_FROM = 10.0
"""Ratio of latencies from which their scale is logarithmic: below it has few ticks."""
_NAME_INCHES = 2.5
"""Widest name of a remedy next to its dot."""


@dataclass(frozen=True)
class Spot:
    """A remedy in the plane."""

    remedy: str
    goodput_bps: float
    latency_ms: float
    is_on_front: bool


@dataclass(frozen=True)
class FrontPlane(PlotInTwoWidths):
    """Goodput to the right, latency downwards: the best is top right."""

    label: str
    """Name of the latency metric."""
    spots: tuple[Spot, ...]

    def _plotted(self, width: float, *, is_narrow: bool) -> Plot:
        divisor, unit = bit_rate_scale(max(spot.goodput_bps for spot in self.spots))
        grid = Grid(width, _HEIGHT, left=0.95, right=0.6, top=0.25, bottom=0.6)
        rectangle = grid.rectangle(0)
        low, high = ends((spot.goodput_bps / divisor for spot in self.spots), _MARGIN)
        latencies = [spot.latency_ms for spot in self.spots]
        label = f"{self.label} (ms)"
        if 0 < _LOGARITHMIC_FROM * min(latencies) < max(latencies):
            least, most = (10.0**end for end in ends(map(math.log10, latencies), _MARGIN))
            # Plain numbers: exponents are too small to read on a phone.
            y = logarithmic(least, most, label, is_falling=True)
        else:
            y = linear(*ends(latencies, _MARGIN), rectangle[3], "y", label, is_falling=True)
        panel = Panel(
            *rectangle,
            x=linear(low, high, rectangle[2], "x", f"goodput ({unit})"),
            y=y,
            marks=tuple(self._marks(divisor)),
        )
        return Plot(width, _HEIGHT, (panel,))

    def _marks(self, divisor: float) -> Iterator[Mark]:
        on_front = sorted(
            (spot for spot in self.spots if spot.is_on_front), key=lambda one: one.goodput_bps
        )
        goodputs = [spot.goodput_bps / divisor for spot in on_front]
        yield Line(goodputs, [spot.latency_ms for spot in on_front], BLUE, width=1.2)
        others = [spot for spot in self.spots if not spot.is_on_front]
        for spots, size, colour in ((others, 4.7, LIGHT.baseline), (on_front, 6.8, BLUE)):
            yield Dots(
                [spot.goodput_bps / divisor for spot in spots],
                [spot.latency_ms for spot in spots],
                colour,
                size,
                has_edge=True,
            )
        for spot in self.spots:
            if spot.is_on_front or spot.remedy == BASELINE:
                yield Words(
                    fitted(spot.remedy, _NAME_INCHES),
                    spot.goodput_bps / divisor,
                    spot.latency_ms,
                    # The baseline is often close to a remedy of the front.
                    offset=(6.0, 5.0 if spot.is_on_front else -5.0),
                    upright="bottom" if spot.is_on_front else "top",
                )
