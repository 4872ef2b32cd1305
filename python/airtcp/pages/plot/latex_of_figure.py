"""A figure of matplotlib as source for LaTeX, without a TeX program.

matplotlib's writer of PGF asks one for the size of each text. This one takes the sizes of the
font on the screen, and anchors each text where it has to stay, whatever the document's font.
"""

from typing import Any

import numpy as np
from matplotlib.backend_bases import GraphicsContextBase, RendererBase
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Affine2D

from airtcp.pages.plot.latex_text import escaped
from airtcp.pages.plot.tikz import Box, Ink, Picture, Place, Step

_STEPS = {Path.MOVETO: "move", Path.LINETO: "line", Path.CURVE4: "curve"}
_ANCHORS = {"left": "start", "center": "middle", "right": "end"}
_UPRIGHT = {"top": "end", "center": "middle", "center_baseline": "middle"}
"""The anchor of a text that reads upwards, by its vertical alignment; otherwise its start."""
_BOLD = 600


def latex_of_figure(figure: Figure, width: float) -> str:
    """The source of a figure, scaled as a whole to a width in inches."""
    dpi = figure.dpi
    figure.dpi = 72.0  # one unit a big point
    try:
        renderer = _Renderer(figure, width / figure.get_figwidth())
        figure.draw(renderer)
    finally:
        figure.dpi = dpi
    return renderer.picture.source()


class _Renderer(RendererBase):
    """Adds the parts that matplotlib draws to a picture."""

    def __init__(self, figure: Figure, scale: float) -> None:
        super().__init__()
        self.inches = figure.get_size_inches()
        self.scale = scale
        self.picture = Picture(*(self.inches * 72.0 * scale).tolist())
        self._is_marks = False
        # A line of a text of several comes without the text.
        self._alignments = {
            row: text.get_horizontalalignment()
            for text in figure.findobj(Text)
            for row in text.get_text().split("\n")
        }

    def get_canvas_width_height(self) -> tuple[float, float]:
        width, height = (self.inches * 72.0).tolist()
        return width, height

    def flipy(self) -> bool:
        return False

    def draw_path_collection(self, *args: Any, **options: Any) -> None:
        self._is_marks = True
        super().draw_path_collection(*args, **options)
        self._is_marks = False

    def draw_markers(self, *args: Any, **options: Any) -> None:
        self._is_marks = True
        super().draw_markers(*args, **options)
        self._is_marks = False

    def draw_image(self, *_args: Any, **_options: Any) -> None:
        raise ValueError(
            "the figure has an image, for which there is no source in LaTeX: write it as .pdf"
        )

    def draw_path(
        self,
        gc: Any,
        path: Path,
        transform: Any,
        rgbFace: Any = None,  # noqa: N803, its name in matplotlib
    ) -> None:
        self.picture.clip = self._clip(gc)
        matrix = transform.frozen()
        # A tick mark has no inside.
        ink = self._ink(gc, rgbFace if len(np.asarray(path.vertices)) > 2 else None)
        if ink.stroke is None and ink.fill is None and not gc.get_hatch():
            return
        if self._is_marks and matrix.is_affine:
            values = matrix.get_matrix()
            place = (values[:2, 2] * self.scale).tolist()
            shape = Affine2D(np.array([[*row[:2], 0.0] for row in values[:2]] + [[0, 0, 1]]))
            self.picture.marks(ink, self._steps(path, shape), [tuple(place)])
        else:
            box = (0.0, 0.0, *self.get_canvas_width_height()) if ink.fill is None else None
            self.picture.path(ink, self._steps(path, matrix, box))
        if gc.get_hatch():
            self._hatch(gc, path.transformed(matrix))
        self.picture.clip = None

    def draw_text(
        self,
        gc: Any,
        x: float,
        y: float,
        s: str,
        prop: FontProperties,
        angle: float,
        ismath: Any = False,
        mtext: Text | None = None,
    ) -> None:
        length, _, _ = self.get_text_width_height_descent(s, prop, ismath)
        anchor = _anchor(mtext, self._alignments.get(s, "left"), angle)
        along = {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * length
        turn = np.deg2rad(angle)
        place = (x + along * float(np.cos(turn)), y + along * float(np.sin(turn)))
        self.picture.text(
            _source(s) if ismath else s,
            (place[0] * self.scale, place[1] * self.scale),
            prop.get_size_in_points() * self.scale,
            anchor,
            colour=to_hex(gc.get_rgb()),
            angle=angle,
            is_bold=_is_bold(prop),
            is_source=bool(ismath),
        )

    def _clip(self, gc: GraphicsContextBase) -> Box | None:
        box = gc.get_clip_rectangle()
        if box is None:
            return None
        return _box(np.array(box.extents) * self.scale)

    def _ink(self, gc: Any, face: Any) -> Ink:
        stroke, width = gc.get_rgb(), gc.get_linewidth()
        forced = gc.get_alpha() if gc.get_forced_alpha() else None
        through = stroke[3] if forced is None and len(stroke) > 3 else forced
        opaque = 1.0 if through is None else float(through)
        _, dashes = gc.get_dashes()
        solid = face[3] if forced is None and face is not None and len(face) > 3 else forced
        is_filled = face is not None and (solid is None or solid > 0)
        return Ink(
            to_hex(stroke) if width > 0 and opaque > 0 else None,
            width * self.scale,
            tuple(one * self.scale for one in dashes or ()),
            opaque,
            to_hex(face) if is_filled else None,
            1.0 if solid is None else float(solid),
        )

    def _steps(self, path: Path, transform: Any, clip: Box | None = None) -> list[Step]:
        if _is_circle(path):
            corners = transform.transform([(-1.0, 0.0), (1.0, 0.0), (0.0, -1.0), (0.0, 1.0)])
            return _ellipse(corners * self.scale)
        steps: list[Step] = []
        for values, code in path.iter_segments(transform, clip=clip, curves=True):
            places = (values.reshape(-1, 2) * self.scale).tolist()
            if code == Path.CLOSEPOLY:
                steps.append(Step("close"))
            elif code == Path.CURVE3:
                steps.append(Step("curve", _raised(steps[-1].places[-1], *places)))
            else:
                steps.append(Step(_STEPS[code], tuple((x, y) for x, y in places)))
        return steps

    def _hatch(self, gc: Any, outline: Path) -> None:
        """The strokes of a hatch in tiles of an inch, within the box of the outline."""
        box = outline.get_extents()
        tile = gc.get_hatch_path()
        extents = np.array(box.extents)
        first, last = np.floor(extents[:2] / 72.0), np.ceil(extents[2:] / 72.0)
        steps: list[Step] = []
        for column in range(int(first[0]), int(last[0])):
            for row in range(int(first[1]), int(last[1])):
                place = Affine2D().scale(72.0).translate(72.0 * column, 72.0 * row)
                steps += self._steps(tile, place, _box(extents))
        ink = Ink(to_hex(gc.get_hatch_color()), gc.get_hatch_linewidth() * self.scale)
        clip = self.picture.clip
        self.picture.clip = _common(clip, _box(extents * self.scale))
        self.picture.path(ink, steps)
        self.picture.clip = clip


def _box(extents: Any) -> Box:
    left, bottom, right, top = extents.tolist()
    return left, bottom, right, top


def _common(one: Box | None, other: Box) -> Box:
    if one is None:
        return other
    return (
        max(one[0], other[0]),
        max(one[1], other[1]),
        min(one[2], other[2]),
        min(one[3], other[3]),
    )


def _is_circle(path: Path) -> bool:
    found, whole = np.asarray(path.vertices), np.asarray(Path.unit_circle().vertices)
    return found.shape == whole.shape and np.allclose(found, whole)


def _ellipse(corners: Any) -> list[Step]:
    (left, y), (right, _), (x, bottom), (_, top) = corners.tolist()
    return [Step("circle", ((x, y), (abs(right - left) / 2, abs(top - bottom) / 2)))]


def _raised(begin: Place, control: Place, end: Place) -> tuple[Place, Place, Place]:
    """A quadratic curve's controls as a cubic one's."""
    first, second = (
        (edge[0] + (control[0] - edge[0]) * 2 / 3, edge[1] + (control[1] - edge[1]) * 2 / 3)
        for edge in (begin, end)
    )
    return first, second, (end[0], end[1])


def _anchor(text: Text | None, otherwise: str, angle: float) -> str:
    """The part of a text that stays where it is in any font."""
    if text is None or angle == 0 or text.get_rotation_mode() == "anchor":
        name = otherwise if text is None else text.get_horizontalalignment()
        return _ANCHORS[name]
    return _UPRIGHT.get(text.get_verticalalignment(), "start")


def _is_bold(prop: FontProperties) -> bool:
    weight = prop.get_weight()
    return weight in {"semibold", "bold", "heavy", "black"} or (
        isinstance(weight, int) and weight >= _BOLD
    )


def _source(text: str) -> str:
    """A text with formulas between dollar signs, which matplotlib and LaTeX write alike."""
    parts = text.replace(r"\mathdefault", r"\mathrm").split("$")
    return "$".join(part if place % 2 else escaped(part) for place, part in enumerate(parts))
