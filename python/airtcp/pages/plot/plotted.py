"""Drawings that describe their figure by marks."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from airtcp.pages.plot.marks import NARROW_INCHES, WIDE_INCHES, Plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@runtime_checkable
class Plotted(Protocol):
    """A drawing that describes its figure by marks."""

    def plot(self) -> Plot: ...  # noqa: D102


class PlotInTwoWidths:
    """A drawing of marks for a page and for a phone, by one function of the width in inches."""

    INCHES: ClassVar[float] = WIDE_INCHES

    def plot(self) -> Plot:
        """The figure for a page."""
        return self._plotted(self.INCHES, is_narrow=False)

    def narrow_plot(self) -> Plot:
        """The same for a phone."""
        return self._plotted(NARROW_INCHES, is_narrow=True)

    def figure(self) -> "Figure":
        """The figure for a page, by matplotlib."""
        return _by_matplotlib(self.plot())

    def narrow(self) -> "Figure":
        """The same for a phone."""
        return _by_matplotlib(self.narrow_plot())

    def _plotted(self, width: float, *, is_narrow: bool) -> Plot:
        raise NotImplementedError


@dataclass(frozen=True)
class NarrowPlot:
    """The phone variant as a drawing."""

    drawing: PlotInTwoWidths

    def plot(self) -> Plot:
        """The drawing's marks for a narrow page."""
        return self.drawing.narrow_plot()

    def figure(self) -> "Figure":
        """The same, by matplotlib."""
        return self.drawing.narrow()


def _by_matplotlib(plot: Plot) -> "Figure":
    # Loads matplotlib.
    from airtcp.pages.plot.with_matplotlib import figure_of

    return figure_of(plot)
