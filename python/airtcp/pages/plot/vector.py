"""Writes a figure of marks as SVG, in the look of `airtcp.pages.plot.style`."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape

from airtcp.pages.plot.layout import INCH, Reals, Segment, Text, lay_out, short
from airtcp.pages.plot.marks import Area, Dots, Line, Plot, Shape
from airtcp.pages.plot.style import LIGHT, variable

EDGE = 1.4
"""Width in points of the edge that separates a dot from its neighbours."""
DASHES = (3.7, 1.6)
"""Lengths of a dash and of the gap after it, in widths of the line."""
_STYLE = (
    "stroke-linejoin: round; stroke-linecap: butt; font-family: 'DejaVu Sans', Verdana, sans-serif"
)


def svg_of_plot(plot: Plot, name: str) -> str:
    """The text of an `<svg>` element, its colours CSS variables.

    Args:
        plot: the figure.
        name: distinguishes its ids from other figures' in the same page.
    """
    width, height = short(plot.width * INCH), short(plot.height * INCH)
    canvas = _SvgCanvas(name)
    lay_out(plot, canvas)
    head = (
        f'<svg style="{_STYLE}" width="{width}pt" height="{height}pt" '
        f'viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" version="1.1">'
    )
    background = f'<rect width="100%" height="100%" fill="{variable(LIGHT.background)}"/>'
    return "\n".join([head, background, *canvas.parts, "</svg>\n"])


class _SvgCanvas:
    """The elements of an SVG."""

    columns = 4.0

    def __init__(self, name: str) -> None:
        self.name = name
        self.parts: list[str] = []

    def segments(self, segments: Sequence[Segment], colour: str, width: float) -> None:
        path, last = "", None
        for x, y, to_x, to_y in segments:
            path += "" if (x, y) == last else f"M{short(x)} {short(y)}"
            path += f"V{short(to_y)}" if x == to_x else f"H{short(to_x)}"
            last = to_x, to_y
        self.parts.append(_stroke(path, colour, width))

    def line(self, x: Reals, y: Reals, mark: Line) -> None:
        path = _path(x, y)
        self.parts.append(_stroke(path, mark.colour, mark.width, is_dashed=mark.is_dashed))

    def area(self, x: Reals, y: Reals, mark: Area) -> None:
        ink = variable(mark.colour)
        edge = f' stroke="{ink}" stroke-opacity="{mark.opacity:g}"' if mark.has_edge else ""
        fill = f'fill="{ink}" fill-opacity="{mark.opacity:g}"'
        self.parts.append(f'<path d="{_path(x, y)}z" {fill}{edge}/>')

    def dots(self, x: Reals, y: Reals, mark: Dots) -> None:
        edge = (
            f' stroke="{variable(LIGHT.background)}" stroke-width="{EDGE}"' if mark.has_edge else ""
        )
        faint = f' fill-opacity="{mark.opacity:g}"' if mark.opacity < 1.0 else ""
        half = short(mark.size / (2 if mark.shape is Shape.CIRCLE else math.sqrt(2)))
        diamond = f"l{half} -{half}l{half} {half}l-{half} {half}z"
        each = []
        for across, along in zip(x.tolist(), y.tolist(), strict=True):
            if not math.isfinite(across + along):
                continue
            if mark.shape is Shape.CIRCLE:
                each.append(f'<circle cx="{short(across)}" cy="{short(along)}" r="{half}"/>')
            else:
                left = short(across - float(half))
                each.append(f'<path d="M{left} {short(along)}{diamond}"/>')
        ink = variable(mark.colour)
        self.parts.append(f'<g fill="{ink}"{faint}{edge}>{"".join(each)}</g>')

    def text(self, text: Text) -> None:
        x, y = short(text.x), short(text.y)
        head = f'style="font-size: {text.size:g}px" fill="{variable(LIGHT.foreground)}"'
        if text.is_turned:
            head += f' transform="rotate(-90 {x} {y})"'
        if text.anchor != "start":
            head += f' text-anchor="{text.anchor}"'
        if text.is_bold:
            head += ' font-weight="bold"'
        self.parts.append(f'<text x="{x}" y="{y}" {head}>{escape(text.text, quote=False)}</text>')

    @contextmanager
    def within(self, box: Segment, name: str) -> Iterator[None]:
        left, top, right, bottom = box
        place = f'x="{short(left)}" y="{short(top)}"'
        size = f'width="{short(right - left)}" height="{short(bottom - top)}"'
        one = f"{self.name}-{name}"
        self.parts.append(f'<clipPath id="{one}"><rect {place} {size}/></clipPath>')
        self.parts.append(f'<g clip-path="url(#{one})">')
        yield
        self.parts.append("</g>")


def _path(x: Reals, y: Reals) -> str:
    path, is_first = "", True
    for across, along in zip(x.tolist(), y.tolist(), strict=True):
        if not math.isfinite(across + along):
            is_first = True
            continue
        path += f"{'M' if is_first else 'L'}{short(across)} {short(along)}"
        is_first = False
    return path


def _stroke(path: str, colour: str, width: float, *, is_dashed: bool = False) -> str:
    dash, gap = DASHES
    dashes = f' stroke-dasharray="{dash * width:.2f} {gap * width:.2f}"' if is_dashed else ""
    ink = f'stroke="{variable(colour)}" stroke-width="{width:g}"'
    return f'<path d="{path}" fill="none" {ink}{dashes}/>'
