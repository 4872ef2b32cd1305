"""Style of every figure, and the colours of remedies."""

import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

from airtcp.core.catalogue import BASELINE

# After M. Okabe and K. Ito, "Color Universal Design", 2002: distinct to every kind of colour
# vision. Black is reserved for text, yellow unused. Orange, sky blue and purple are darker than in
# the original, which on white falls short of the 3:1 that WCAG 2.2 §1.4.11 requires of a line.
ORANGE = "#b87a00"
SKY_BLUE = "#2e93cc"
GREEN = "#009e73"
BLUE = "#0072b2"
VERMILLION = "#d55e00"
PURPLE = "#b8608f"

REMEDY_COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY_BLUE)

INK = "#1b1b1b"
"""Text on a coloured surface, the same in light and dark mode."""
PAPER = "#fffffe"
"""Text on a dark colour, the same in both modes."""


@dataclass(frozen=True)
class Theme:
    """The colours of everything except data."""

    name: str
    background: str
    foreground: str
    soft: str
    grid: str
    baseline: str


LIGHT = Theme("light", "#ffffff", "#1a1a1a", "#5c5c5c", "#d9d9d9", "#767676")
DARK = Theme("dark", "#16191d", "#e6e6e6", "#a8a8a8", "#3a4048", "#a9a9a9")

VARIABLES = {
    "background": (LIGHT.background, DARK.background),
    "foreground": (LIGHT.foreground, DARK.foreground),
    "soft": (LIGHT.soft, DARK.soft),
    "line": (LIGHT.grid, DARK.grid),
    "baseline": (LIGHT.baseline, DARK.baseline),
    "orange": (ORANGE, "#e69f00"),
    "sky-blue": (SKY_BLUE, "#8fd0f7"),
    "green": (GREEN, "#00b383"),
    "blue": (BLUE, "#3d9be0"),
    "vermillion": (VERMILLION, "#ee7420"),
    "purple": (PURPLE, "#d98cb8"),
}
"""Every colour that differs between light and dark, by the name of its CSS variable.

Figures are drawn in the light ones; in an SVG each becomes its variable.
"""


_VARIABLE_OF = {light: f"var(--{name}, {light})" for name, (light, _) in VARIABLES.items()}
_COLOUR = re.compile("|".join(map(re.escape, _VARIABLE_OF)))


def variable(colour: str) -> str:
    """A light colour as its CSS variable; any other one as it is."""
    return _VARIABLE_OF.get(colour, colour)


def with_variables(svg: str) -> str:
    """An SVG with CSS variables in place of the light colours."""
    return _COLOUR.sub(lambda found: _VARIABLE_OF[found[0]], svg)


def remedy_colours(remedies: Sequence[str]) -> dict[str, str]:
    """A colour for each remedy: its fixed colour by name, or the next free one if that is taken.

    The baseline is grey. Beyond six remedies colours repeat; the figures label the data of every
    remedy, so that colour is never the only distinction.
    """
    colours: dict[str, str] = {}
    free: list[str] = []
    for remedy in remedies:
        if remedy == BASELINE:
            colours[remedy] = LIGHT.baseline
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


def line_colours(names: Sequence[str]) -> dict[str, str]:
    """A colour for each line: a remedy's fixed colour, or the next free one.

    A line that begins with a remedy's name has its colour: "newzag adjusted, 1 % loss".
    """
    colours: dict[str, str] = {}
    for name in names:
        own = max((known for known in _OWN if _begins_with(name, known)), key=len, default=None)
        if own is not None:
            colour = _OWN[own] or LIGHT.baseline
            if colour not in colours.values():
                colours[name] = colour
    free = [colour for colour in REMEDY_COLOURS if colour not in colours.values()]
    for name in names:
        if name not in colours:
            free = free or list(REMEDY_COLOURS)
            colours[name] = free.pop(0)
    return {name: colours[name] for name in names}


def _begins_with(name: str, known: str) -> bool:
    """Whether a line is about that remedy, and not about another with a longer name."""
    return name.startswith(known) and not name[len(known) :].startswith("-")


_SETTINGS = {
    "figure.facecolor": LIGHT.background,
    "axes.facecolor": LIGHT.background,
    "axes.edgecolor": LIGHT.grid,
    "axes.labelcolor": LIGHT.foreground,
    "axes.titlecolor": LIGHT.foreground,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 10,
    "grid.color": LIGHT.grid,
    "grid.linewidth": 0.6,
    "text.color": LIGHT.foreground,
    "xtick.color": LIGHT.foreground,
    "ytick.color": LIGHT.foreground,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "font.family": ["DejaVu Sans"],
    "font.size": 10,
    "figure.dpi": 110,
}


@contextmanager
def house_style() -> Iterator[None]:
    """Figures created inside the block have the house style."""
    import matplotlib as mpl  # only for figures, not for colours

    with mpl.rc_context(cast(Any, _SETTINGS)):  # its stub lists every key as a literal
        yield
