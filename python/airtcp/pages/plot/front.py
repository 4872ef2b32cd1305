"""Goodput and latency of every remedy in one plane, with the Pareto front."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from airtcp.core.catalogue import BASELINE
from airtcp.core.quantities import bit_rate_scale
from airtcp.pages.plot.frame import fitted
from airtcp.pages.plot.marks import Dots, Grid, Line, Mark, Panel, Plot, Scale, Words
from airtcp.pages.plot.plotted import PlotInTwoWidths
from airtcp.pages.plot.style import BLUE, LIGHT
from airtcp.pages.plot.ticks import ends, linear, logarithmic, shares
from airtcp.pages.plot.widths import text_inches

_HEIGHT = 4.8
_MARGIN = 0.12
_LOGARITHMIC_FROM = 10.0
"""Ratio of latencies from which their scale is logarithmic: below it has few ticks."""
_NAME_INCHES = 2.5
"""Widest name of a remedy next to its dot."""
_POINTS_AN_INCH = 72.0
_LINE = 10.0
"""Points from the middle of a name to that of the next one below it."""
_NEXT_TO = 6.0
"""Points between a dot and its name."""
_PLACES = [(side, up) for side in (1.0, -1.0) for up in (9.0, -9.0, 0.0, 18.0, -18.0)]
"""A name's places, in the order in which they are tried: the side of the dot (right, left), and the
points upwards from the dot to the middle of the name."""


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
        x = linear(low, high, rectangle[2], "x", f"goodput ({unit})")
        names = self._names(divisor, (x, y), (rectangle[2], rectangle[3]), grid.right)
        panel = Panel(*rectangle, x=x, y=y, marks=(*self._marks(divisor), *names))
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

    def _names(
        self,
        divisor: float,
        scales: tuple[Scale, Scale],
        size: tuple[float, float],
        beyond: float,
    ) -> Iterator[Words]:
        """Names next to their dots, where they cover no other; one without such a place has none.

        Args:
            divisor: of the goodput.
            scales: of x and y.
            size: width and height of the panel in inches.
            beyond: inches to the right of the panel that names may use.
        """
        taken: list[_Box] = []
        # The baseline's first: each reader looks for it.
        named = sorted(
            (spot for spot in self.spots if spot.is_on_front or spot.remedy == BASELINE),
            key=lambda spot: spot.remedy != BASELINE,
        )
        for spot in named:
            x, y = spot.goodput_bps / divisor, spot.latency_ms
            at = tuple(
                _POINTS_AN_INCH * inches * float(shares(scale, [value])[0])
                for scale, inches, value in zip(scales, size, (x, y), strict=True)
            )
            text = fitted(spot.remedy, _NAME_INCHES)
            width = _POINTS_AN_INCH * text_inches(text)
            for sideways, upwards in _PLACES:
                offset = (sideways * (_NEXT_TO + width / 2), upwards)
                middle = at[0] + offset[0], at[1] + offset[1]
                box = _Box(middle[0] - width / 2, middle[1], width)
                if box.is_within(_POINTS_AN_INCH * (size[0] + beyond)) and not any(
                    box.covers(other) for other in taken
                ):
                    taken.append(box)
                    yield Words(text, x, y, offset=offset, is_centred=True)
                    break


@dataclass(frozen=True)
class _Box:
    """A name's place: its left edge and the middle of its height, in points."""

    left: float
    middle: float
    width: float

    def is_within(self, right: float) -> bool:
        """Whether it is neither cut at the panel's left edge nor at the figure's right one."""
        return self.left >= 0 and self.left + self.width <= right

    def covers(self, other: "_Box") -> bool:
        """Whether two names would lie on each other."""
        is_level = abs(self.middle - other.middle) < _LINE
        return is_level and (
            self.left < other.left + other.width and other.left < self.left + self.width
        )
