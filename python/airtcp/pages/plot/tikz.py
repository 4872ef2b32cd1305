r"""Source of a TikZ picture, for `\input` into a document.

Texts are the document's: its font, at a size of the figure. Colours are provided by name, so that
a document may define others before. Coordinates are big points, from the lower left corner.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from airtcp.pages.plot.latex_text import escaped
from airtcp.pages.plot.layout import short
from airtcp.pages.plot.style import LIGHT, VARIABLES

_POINTS = 72.27 / 72.0
"""TeX's points in a big point, the 72nd part of an inch."""
_LEADING = 1.2
_FARTHEST = 5000.0
"""TeX has no length above 16384 points; this far outside a picture a line is as good as cut."""
_LINE = 96
"""Columns after which a line of the source is broken: TeX reads a line as a whole."""
_NAMES = {light: f"airtcp-{name}" for name, (light, _) in VARIABLES.items()}
_ANCHORS = {"start": "base west", "middle": "base", "end": "base east"}


Place = tuple[float, float]


@dataclass(frozen=True)
class Step:
    """A step of a path."""

    kind: str
    """It is "move", "line", "curve", "close", or "circle", a whole one."""
    places: tuple[Place, ...] = ()
    """Of a curve its controls and its end; of a circle its centre and its two radii."""


@dataclass(frozen=True)
class Ink:
    """How a path is stroked and filled; None: it is not."""

    stroke: str | None = None
    width: float = 1.0
    dashes: tuple[float, ...] = ()
    """Lengths of dashes and gaps, in turn."""
    stroke_opacity: float = 1.0
    fill: str | None = None
    fill_opacity: float = 1.0

    @property
    def is_mergeable(self) -> bool:
        """Whether several paths look the same as a single path of all."""
        return self.fill is None and self.stroke_opacity >= 1.0


@dataclass
class _Path:
    ink: Ink
    steps: Sequence[Step]


@dataclass
class _Marks:
    """Equal shapes; those at the same place are one."""

    ink: Ink
    steps: Sequence[Step]
    """Of a shape at the origin."""
    places: dict[tuple[str, str], None]


@dataclass
class _Label:
    text: str


Box = tuple[float, float, float, float]
"""Left, bottom, right and top."""
_Command = tuple[Box | None, list[str]]
"""The box to which it is clipped, and pieces of source between which a line can be broken."""


class Picture:
    """A picture of a width and a height, to which parts are added, the lowest first."""

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self._parts: list[tuple[Box | None, _Path | _Marks | _Label]] = []
        self._colours: dict[str, str] = {}
        self.clip: Box | None = None
        """The box to which the next parts are clipped."""

    def path(self, ink: Ink, steps: Sequence[Step]) -> None:
        """A path of steps, as `line` and `outline` make them."""
        self._parts.append((self.clip, _Path(ink, steps)))

    def marks(self, ink: Ink, steps: Sequence[Step], places: Iterable[tuple[float, float]]) -> None:
        """A shape around the origin, drawn at each place, one by one."""
        keys = {(_number(x), _number(y)): None for x, y in places if math.isfinite(x + y)}
        last = self._parts[-1] if self._parts else (None, None)
        part = last[1]
        if isinstance(part, _Marks) and (last[0], part.ink, part.steps) == (self.clip, ink, steps):
            part.places |= keys
        elif keys:
            self._parts.append((self.clip, _Marks(ink, steps, keys)))

    def text(
        self,
        text: str,
        place: tuple[float, float],
        size: float,
        anchor: str,
        *,
        colour: str = LIGHT.foreground,
        angle: float = 0.0,
        is_bold: bool = False,
        is_source: bool = False,
    ) -> None:
        """A line of text at the start, middle or end of its writing line.

        Args:
            text: plain, or LaTeX if `is_source`.
            place: of the anchor.
            size: in big points.
            anchor: "start", "middle" or "end".
            colour: as "#rrggbb".
            angle: in degrees, against the clock.
            is_bold: whether it is bold.
            is_source: whether it is LaTeX.
        """
        points = size * _POINTS
        font = rf"\fontsize{{{short(points)}}}{{{short(_LEADING * points)}}}\selectfont"
        font += r"\bfseries" if is_bold else ""
        options = f"anchor={_ANCHORS[anchor]}, font={font}"
        options += f", rotate={short(angle)}" if angle else ""
        options += "" if colour == LIGHT.foreground else f", text={self.colour(colour)}"
        content = text if is_source else escaped(text)
        # Never clipped: a document's font may be wider.
        label = rf"\node[{options}] at {_pair(place)} {{{content}}};"
        self._parts.append((None, _Label(label)))

    def colour(self, colour: str) -> str:
        """The name of a colour in the source."""
        name = _NAMES.get(colour, f"airtcp-{colour.removeprefix('#')}")
        self._colours[name] = colour.removeprefix("#").upper()
        return name

    def source(self) -> str:
        r"""The source: a `tikzpicture` exactly as large as the picture."""
        foreground = self.colour(LIGHT.foreground)
        body: list[str] = []
        clip: Box | None = None
        for box, command in self._commands():
            if box != clip:
                body += [r"\end{scope}"] if clip else []
                body += [_clipping(box)] if box else []
                clip = box
            body += _broken(command)
        body += [r"\end{scope}"] if clip else []
        colours = [
            rf"\providecolor{{{name}}}{{HTML}}{{{value}}}" for name, value in self._colours.items()
        ]
        options = (
            "x=1bp, y=1bp, line join=round, line cap=butt, "
            f"every node/.style={{inner sep=0pt, outer sep=0pt, text={foreground}}}"
        )
        lines = [
            "% Needs \\usepackage{tikz}. Colours: \\definecolor another of the same name before.",
            r"\begin{tikzpicture}[" + options + "]",
            *colours,
            rf"\path[use as bounding box] (0,0) rectangle {_pair((self.width, self.height))};",
            *body,
            r"\end{tikzpicture}%",
        ]
        return "\n".join(lines) + "\n"

    def _commands(self) -> Iterator[_Command]:
        """The parts' commands; neighbours that differ only in their places are one."""
        waiting: tuple[Box | None, Ink, list[Step]] | None = None
        for box, part in self._parts:
            if isinstance(part, _Marks) and len(part.places) == 1:
                ((x, y),) = part.places
                path = _Path(part.ink, _moved(part.steps, (float(x), float(y))))
            elif isinstance(part, _Path):
                path = part
            else:
                if waiting:
                    yield self._drawn(*waiting)
                    waiting = None
                yield box, [part.text] if isinstance(part, _Label) else self._each(part)
                continue
            if waiting and path.ink.is_mergeable and waiting[:2] == (box, path.ink):
                waiting[2].extend(path.steps)
                continue
            if waiting:
                yield self._drawn(*waiting)
            waiting = box, path.ink, list(path.steps)
        if waiting:
            yield self._drawn(*waiting)

    def _drawn(self, box: Box | None, ink: Ink, steps: Sequence[Step]) -> _Command:
        return box, [self._head(ink), *map(_text, steps), ";"]

    def _each(self, part: _Marks) -> list[str]:
        head = self._head(part.ink, r"shift={(\x,\y)}")
        places = [f"{x}/{y}," for x, y in part.places]
        places[-1] = places[-1].removesuffix(",")
        shape = "".join([head, *map(_text, part.steps)])
        return [r"\foreach \x/\y in {", *places, "}", f"{{{shape};}}"]

    def _head(self, ink: Ink, more: str = "") -> str:
        options = []
        if ink.fill is not None:
            options.append(f"fill={self.colour(ink.fill)}")
            options += [f"fill opacity={short(ink.fill_opacity)}"] if ink.fill_opacity < 1 else []
        if ink.stroke is not None:
            options.append(f"draw={self.colour(ink.stroke)}")
            options.append(f"line width={short(ink.width)}bp")
            if ink.stroke_opacity < 1:
                options.append(f"draw opacity={short(ink.stroke_opacity)}")
            if ink.dashes:
                turns = zip(ink.dashes, ("on", "off") * len(ink.dashes), strict=False)
                pattern = " ".join(f"{word} {short(length)}bp" for length, word in turns)
                options.append(f"dash pattern={pattern}")
        return rf"\path[{', '.join(options + [more] * bool(more))}]"


def line(x: Iterable[float], y: Iterable[float]) -> list[Step]:
    """A line through places; one that is no number interrupts it."""
    steps: list[Step] = []
    run: list[Place] = []
    for across, along in zip(x, y, strict=True):
        if not math.isfinite(across + along):
            steps += _joined(run)
            run = []
            continue
        place = round(across, 2), round(along, 2)
        # Of places along the same horizontal or vertical line only the turns are needed.
        if len(run) > 1 and _is_between(run[-2], run[-1], place):
            run.pop()
        if not run or run[-1] != place:
            run.append(place)
    return steps + _joined(run)


def _joined(places: Sequence[Place]) -> list[Step]:
    return [Step("line" if number else "move", (one,)) for number, one in enumerate(places)]


def _is_between(first: Place, middle: Place, last: Place) -> bool:
    """Whether a place is between two others of the same horizontal or vertical line."""
    return any(
        first[axis] == middle[axis] == last[axis]
        and (middle[1 - axis] - first[1 - axis]) * (last[1 - axis] - middle[1 - axis]) >= 0
        for axis in (0, 1)
    )


def circle(radius: float) -> list[Step]:
    """A circle around the origin."""
    return [Step("circle", ((0.0, 0.0), (radius, radius)))]


def _moved(steps: Iterable[Step], by: Place) -> list[Step]:
    """A shape elsewhere; radii stay."""
    return [
        Step(
            step.kind,
            tuple(
                place
                if step.kind == "circle" and number == 1
                else (place[0] + by[0], place[1] + by[1])
                for number, place in enumerate(step.places)
            ),
        )
        for step in steps
    ]


def _text(step: Step) -> str:
    match step.kind, [_pair(place) for place in step.places]:
        case "move", [to]:
            return to
        case "line", [to]:
            return f"--{to}"
        case "curve", [first, second, to]:
            return f"..controls{first}and{second}..{to}"
        case "close", []:
            return "--cycle"
        case "circle", [centre, _]:
            x, y = map(_number, step.places[1])
            radii = f"radius={x}" if x == y else f"x radius={x},y radius={y}"
            return f"{centre}circle[{radii}]"
    raise ValueError(f"step {step}: expected a move, line, curve, close or circle")


def _number(value: float) -> str:
    return short(min(max(value, -_FARTHEST), _FARTHEST))


def _pair(place: Place) -> str:
    return f"({_number(place[0])},{_number(place[1])})"


def _clipping(box: Box) -> str:
    left, bottom, right, top = box
    corners = f"{_pair((left, bottom))} rectangle {_pair((right, top))}"
    return rf"\begin{{scope}}\clip {corners};"


def _broken(pieces: Iterable[str]) -> Iterator[str]:
    """Lines of source, broken between pieces."""
    row = ""
    for piece in pieces:
        if row and len(row) + len(piece) > _LINE:
            yield row
            row = ""
        row += piece
    yield row
