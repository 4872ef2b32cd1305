"""Goodput and latency of every remedy in one plane, with the Pareto front."""

from dataclasses import dataclass

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from airtcp.core.quantities import bit_rate_scale
from airtcp.pages.plot.frame import fitted, frame
from airtcp.pages.plot.style import BLUE, LIGHT, house_style
from airtcp.pages.plot.svg import InTwoWidths

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
class FrontPlane(InTwoWidths):
    """Goodput to the right, latency downwards: the best is top right."""

    label: str
    """Name of the latency metric."""
    spots: tuple[Spot, ...]

    def _drawn(self, width: float, *, is_narrow: bool) -> Figure:
        divisor, unit = bit_rate_scale(max(spot.goodput_bps for spot in self.spots))
        with house_style():
            figure = Figure(figsize=(width, 4.8))
            axes = figure.add_subplot()
            on_front = sorted(
                (spot for spot in self.spots if spot.is_on_front), key=lambda one: one.goodput_bps
            )
            axes.plot(
                [spot.goodput_bps / divisor for spot in on_front],
                [spot.latency_ms for spot in on_front],
                color=BLUE,
                linewidth=1.2,
                zorder=2,
            )
            others = [spot for spot in self.spots if not spot.is_on_front]
            for spots, size, colour in ((others, 22, LIGHT.baseline), (on_front, 46, BLUE)):
                # At once: a collection for each would take as long as the rest of the figure.
                axes.scatter(
                    [spot.goodput_bps / divisor for spot in spots],
                    [spot.latency_ms for spot in spots],
                    s=size,
                    color=colour,
                    edgecolors=LIGHT.background,
                    zorder=3,
                )
            for spot in self.spots:
                if spot.is_on_front or spot.remedy == "baseline":
                    axes.annotate(
                        fitted(spot.remedy, _NAME_INCHES),
                        (spot.goodput_bps / divisor, spot.latency_ms),
                        # The baseline is often close to a remedy of the front.
                        xytext=(6, 5 if spot.is_on_front else -5),
                        textcoords="offset points",
                        verticalalignment="bottom" if spot.is_on_front else "top",
                        fontsize=9,
                        zorder=4,
                    )
            latencies = [spot.latency_ms for spot in self.spots]
            if 0 < _LOGARITHMIC_FROM * min(latencies) < max(latencies):
                axes.set_yscale("log")
                # Plain numbers: exponents are too small to read on a phone.
                axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
                axes.yaxis.set_major_formatter("{x:g}")
                axes.yaxis.set_minor_locator(NullLocator())
            axes.invert_yaxis()
            axes.margins(x=0.12, y=0.12)
            axes.set_xlabel(f"goodput ({unit})")
            axes.set_ylabel(f"{self.label} (ms)")
            frame(figure, left=0.95, right=0.6, top=0.25, bottom=0.6)
        return figure
