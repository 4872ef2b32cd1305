"""Figures as files: one SVG that follows light and dark, or a PNG."""

import io
import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from airtcp.pages.plot.marks import NARROW_INCHES
from airtcp.pages.plot.plotted import Plotted
from airtcp.pages.plot.style import VARIABLES, with_variables
from airtcp.pages.plot.vector import svg_of_plot

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Drawing(Protocol):
    """The numbers and words of a figure, independent of its drawing."""

    def figure(self) -> "Figure": ...  # noqa: D102


@runtime_checkable
class ForPhones(Protocol):
    """A drawing with a variant for a narrow page."""

    def narrow(self) -> "Figure": ...  # noqa: D102


class InTwoWidths:
    """A drawing for a page and for a phone, by one function of the width in inches."""

    INCHES: ClassVar[float] = 9.0

    def figure(self) -> "Figure":
        """The figure for a page."""
        return self._drawn(self.INCHES, is_narrow=False)

    def narrow(self) -> "Figure":
        """The same for a phone."""
        return self._drawn(NARROW_INCHES, is_narrow=True)

    def _drawn(self, width: float, *, is_narrow: bool) -> "Figure":
        raise NotImplementedError


@dataclass(frozen=True)
class Narrow:
    """The phone variant as a drawing."""

    drawing: ForPhones

    def figure(self) -> "Figure":
        """The drawing's figure for a narrow page."""
        return self.drawing.narrow()


_PROLOGUE = re.compile(r"\A.*?(?=<svg)", re.DOTALL)
_METADATA = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
_STYLE = re.compile(r"\s*<defs>\s*<style.*?</style>\s*</defs>", re.DOTALL)
# Group names are for people; nothing refers to them, and in one page they would repeat.
_GROUP_ID = re.compile(r'<g id="[^"]*"')
# Only coordinates within tags. Readable text, such as a tick of 0.0025, is between tags.
_TAG = re.compile(r"<[^>]*>")
_LONG_DECIMAL = re.compile(r"(\d\.\d\d)\d+")
_SIZE = re.compile(r' width="[\d.]+pt"| height="[\d.]+pt"')
_BOX = re.compile(r'viewBox="[\d.]+ [\d.]+ ([\d.]+)')
_TEXT_SIZE = re.compile(r"<text[^>]*?font(?:-size)?: (?:bold )?([\d.]+)px")
_FONT = re.compile(r"'DejaVu Sans'")
_LINES = "stroke-linejoin: round; stroke-linecap: butt"


def svg_of_drawing(drawing: Drawing, name: str) -> str:
    """A drawing as the text of an `<svg>` element: its marks written directly, if it has any."""
    if isinstance(drawing, Plotted):
        return svg_of_plot(drawing.plot(), name)
    return svg_of(drawing.figure(), name)


def svg_of(figure: "Figure", name: str) -> str:
    """The figure as the text of an `<svg>` element, its colours CSS variables.

    Args:
        figure: drawn in the light theme.
        name: distinguishes its ids from other figures' in the same page.
    """
    import matplotlib as mpl  # only for figures, not for marks

    buffer = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    text = buffer.getvalue()
    for pattern, replacement in (
        (_PROLOGUE, ""),
        (_METADATA, ""),
        (_STYLE, ""),
        (_GROUP_ID, "<g"),
        (_FONT, "'DejaVu Sans', Verdana, sans-serif"),
    ):
        text = pattern.sub(replacement, text)
    text = _TAG.sub(lambda tag: _LONG_DECIMAL.sub(r"\1", tag[0]), text)
    return with_variables(text).replace("<svg ", f'<svg style="{_LINES}" ', 1)


def svg_file(svg: str) -> bytes:
    """An `<svg>` element as a file that follows the reader's light or dark mode."""
    begin = svg.index(">") + 1
    head = '<?xml version="1.0" encoding="utf-8"?>\n'
    return f"{head}{svg[:begin]}\n<style>{colour_rules()}</style>{svg[begin:]}".encode()


SMALLEST_TEXT_PX = 11.2
"""The smallest text of a drawing in a page, in CSS pixels; narrower drawings scroll."""


def svg_in_page(svg: str, label: str) -> str:
    """An `<svg>` element for a page that has `colour_rules` in its style.

    It has the available width, but at least the width at which its smallest text is readable.
    """
    begin = svg.index(">") + 1
    head = _SIZE.sub("", svg[:begin])
    sizes = [float(size) for size in _TEXT_SIZE.findall(svg)]
    box = _BOX.search(head)
    if sizes and box:
        narrowest = SMALLEST_TEXT_PX / min(sizes) * float(box[1])
        head = head.replace('style="', f'style="min-width: {narrowest:.0f}px; ', 1)
    return head.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" ', 1) + svg[begin:]


def colour_rules() -> str:
    """The CSS that sets the light and dark value of every variable."""
    light, dark = (
        " ".join(f"--{name}: {values[place]};" for name, values in VARIABLES.items())
        for place in (0, 1)
    )
    return (
        f":root {{ {light} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
    )


def png_of(figure: "Figure") -> bytes:
    """The figure as PNG, in the light theme."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=160, metadata={"Software": None})
    return buffer.getvalue()
