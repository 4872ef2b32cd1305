"""How every figure looks, and which colour a remedy has."""

import io
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import matplotlib as mpl
from matplotlib.figure import Figure

from airtcp.study.cells import BASELINE

# M. Okabe and K. Ito, "Color Universal Design", 2002: told apart by every kind of colour vision.
# Black is left to the text, yellow out: it does not show as a line on white.
ORANGE = "#E69F00"
SKY_BLUE = "#56B4E9"
GREEN = "#009E73"
BLUE = "#0072B2"
VERMILLION = "#D55E00"
PURPLE = "#CC79A7"

REMEDY_COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY_BLUE)


@dataclass(frozen=True)
class Theme:
    """The colours that are not data's."""

    name: str
    background: str
    foreground: str
    grid: str
    baseline: str


LIGHT = Theme("light", "#ffffff", "#1a1a1a", "#d9d9d9", "#7a7a7a")
DARK = Theme("dark", "#16191d", "#e6e6e6", "#3a4048", "#a8a8a8")


def remedy_colours(remedies: Sequence[str], theme: Theme = LIGHT) -> dict[str, str]:
    """A colour for each remedy: its own by its name, the next free one if that is taken.

    The baseline is grey. Beyond six remedies colours come again; the figures name every remedy
    beside its data, so no one has to tell two by colour alone.
    """
    colours: dict[str, str] = {}
    free: list[str] = []
    for remedy in remedies:
        if remedy == BASELINE:
            colours[remedy] = theme.baseline
            continue
        free = free or list(REMEDY_COLOURS)
        own = zlib.crc32(remedy.encode()) % len(REMEDY_COLOURS)
        wanted = REMEDY_COLOURS[own:] + REMEDY_COLOURS[:own]
        colours[remedy] = next(colour for colour in wanted if colour in free)
        free.remove(colours[remedy])
    return colours


_OWN = {
    "standard": "",
    "baseline": "",
    "NewReno": "",
    "rto-factor": BLUE,
    "inf-retry": SKY_BLUE,
    "delay-injection": VERMILLION,
    "newzag": GREEN,
    "newzag adjusted": BLUE,
    "coin": ORANGE,
    "dynamic-arq": PURPLE,
    "wsc": ORANGE,
}
"""Remedies of the papers keep their colour in every figure; an empty one is the baseline's grey."""


def line_colours(names: Sequence[str], theme: Theme = LIGHT) -> dict[str, str]:
    """A colour for each line: a remedy's own, the next free one for what has none.

    A line that begins with a remedy's name has its colour: "newzag adjusted, 1 % loss".
    """
    colours: dict[str, str] = {}
    for name in names:
        own = max((known for known in _OWN if _begins_with(name, known)), key=len, default=None)
        if own is not None:
            colour = _OWN[own] or theme.baseline
            if colour not in colours.values():
                colours[name] = colour
    free = [colour for colour in REMEDY_COLOURS if colour not in colours.values()]
    for name in names:
        if name not in colours:
            free = free or list(REMEDY_COLOURS)
            colours[name] = free.pop(0)
    return {name: colours[name] for name in names}


def _begins_with(name: str, known: str) -> bool:
    """Whether a line is about that remedy, and not about another whose name goes on."""
    return name.startswith(known) and not name[len(known) :].startswith("-")


@contextmanager
def drawn_in(theme: Theme) -> Iterator[None]:
    """Figures made inside have the house's look in this theme."""
    settings = {
        "figure.facecolor": theme.background,
        "axes.facecolor": theme.background,
        "axes.edgecolor": theme.grid,
        "axes.labelcolor": theme.foreground,
        "axes.titlecolor": theme.foreground,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.titlesize": 11,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.labelsize": 10,
        "grid.color": theme.grid,
        "grid.linewidth": 0.6,
        "text.color": theme.foreground,
        "xtick.color": theme.foreground,
        "ytick.color": theme.foreground,
        "xtick.labelsize": 9,
        "ytick.labelsize": 9,
        "legend.fontsize": 9,
        "legend.frameon": False,
        "lines.linewidth": 1.4,
        "font.size": 10,
        "figure.dpi": 110,
    }
    with mpl.rc_context(cast(Any, settings)):  # its stub lists every key as a literal
        yield


def svg_bytes(figure: Figure) -> bytes:
    """The figure as SVG, its letters as outlines, without date and random ids."""
    buffer = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "airtcp", "svg.fonttype": "path"}):
        figure.savefig(buffer, format="svg", dpi=200, metadata={"Date": None})
    return buffer.getvalue()


def png_bytes(figure: Figure) -> bytes:
    """The figure as PNG."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=160, metadata={"Software": None})
    return buffer.getvalue()
