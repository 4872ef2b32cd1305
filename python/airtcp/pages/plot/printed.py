"""Figures for print: PDF, SVG or PNG of a given width, with text that stays readable there.

A figure is drawn in its variant for a narrow page where that is nearer to the width asked for, and
then scaled as a whole, so that lines, text and margins keep their proportions.
"""

import io
import re
from typing import Any

import matplotlib as mpl
from matplotlib.backends import backend_mixed, backend_pdf
from matplotlib.figure import Figure
from matplotlib.text import Text

from airtcp.pages.plot.frame import narrowed
from airtcp.pages.plot.svg import Drawing, ForPhones
from airtcp.pages.plot.widths import text_inches

_PDF: Any = backend_pdf
_MIXED: Any = backend_mixed
"""Their arguments have types only in part."""
SMALLEST_POINTS = 6.0
"""The smallest text in print that IEEE's instructions for authors allow is 6 points or so."""
_PNG_DPI = 300
_HANDLE_INCHES = 0.55
"""Width of a legend's symbol and of the spaces around it."""
_LABEL_INCHES = 0.7
"""Width of the labels to the left of axes."""
_SIZE = re.compile(r' (width|height)="([\d.]+)pt"')


def for_width(drawing: Drawing, width: float) -> Figure:
    """The variant of a drawing that needs less scaling for a width in inches."""
    figure = drawing.figure()
    if isinstance(drawing, ForPhones) and width < figure.get_figwidth():
        narrow = drawing.narrow()
        if abs(narrow.get_figwidth() - width) < abs(figure.get_figwidth() - width):
            figure = narrow
    return fitted_to(figure, width)


def fitted_to(figure: Figure, width: float) -> Figure:
    """The figure, laid out again if its text would be too small at a width in inches.

    Only a figure with a layout engine or with known margins can be laid out again.
    """
    smallest = smallest_points(figure)
    widest = width * smallest / SMALLEST_POINTS
    if figure.get_figwidth() <= widest:
        return figure
    if figure.get_layout_engine() is not None:
        figure.set_size_inches(widest, figure.get_figheight())
        _wrap_legends(figure)
    else:
        narrowed(figure, widest)
    return figure


def _wrap_legends(figure: Figure) -> None:
    """Puts the names of legends that are wider than the figure into several rows."""
    axes_with = [(axes, legend) for axes in figure.axes if (legend := axes.get_legend())]
    for axes, legend in (*((None, one) for one in figure.legends), *axes_with):
        names = [text.get_text() for text in legend.get_texts()]
        points = legend.get_texts()[0].get_fontsize()
        widths = [_HANDLE_INCHES + text_inches(name, points) for name in names]
        room = figure.get_figwidth() - (_LABEL_INCHES if axes else 0.0)
        if sum(widths) <= room:
            continue
        handles = [one for one in legend.legend_handles if one is not None]
        columns = max(1, int(room / max(widths)))
        legend.remove()
        if axes is None:
            place: dict[str, Any] = {"loc": "outside upper center", "handlelength": 1.6}
            figure.legend(handles, names, ncols=columns, frameon=False, **place)
        else:
            place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.2}
            axes.legend(handles, names, ncols=columns, frameon=False, **place)


def smallest_points(figure: Figure) -> float:
    """The smallest text of a figure."""
    texts = (one for one in figure.findobj(Text) if one.get_text())
    return min((float(one.get_fontsize()) for one in texts), default=SMALLEST_POINTS)


def printed(figure: Figure, form: str, width: float) -> bytes:
    """A figure in a form, pdf, svg or png, scaled to a width in inches."""
    scale = width / figure.get_figwidth()
    if form == "pdf":
        return _pdf(figure, scale)
    buffer = io.BytesIO()
    if form == "png":
        figure.savefig(buffer, format=form, dpi=_PNG_DPI * scale, metadata={"Software": None})
        return buffer.getvalue()
    with mpl.rc_context({"svg.hashsalt": "airtcp", "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    head, end, rest = buffer.getvalue().decode().partition("<defs>")
    scaled = _SIZE.sub(lambda one: f' {one[1]}="{float(one[2]) * scale:.3f}pt"', head)
    return f"{scaled}{end}{rest}".encode()


def _pdf(figure: Figure, scale: float) -> bytes:
    # Type 42: publishers refuse the default, Type 3.
    with mpl.rc_context({"pdf.fonttype": 42}):
        width, height = figure.get_size_inches()
        buffer = io.BytesIO()
        file = _PDF.PdfFile(buffer, metadata={"CreationDate": None})
        dpi = figure.dpi
        figure.dpi = 72  # the unit of a PDF
        try:
            file.newPage(width * scale, height * scale)
            # Everything is clipped to these, before it is scaled.
            file.width, file.height = width, height
            file.output(scale, 0, 0, scale, 0, 0, _PDF.Op.concat_matrix)
            page = _PDF.RendererPdf(file, _PNG_DPI, height, width)
            renderer = _MIXED.MixedModeRenderer(figure, width, height, _PNG_DPI, page)
            figure.draw(renderer)
            renderer.finalize()
            file.finalize()
            file.close()
        finally:
            figure.dpi = dpi
    return buffer.getvalue()
