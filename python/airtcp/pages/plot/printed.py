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

from airtcp.pages.plot.svg import Drawing, ForPhones

_PDF: Any = backend_pdf
_MIXED: Any = backend_mixed
"""Their arguments have types only in part."""
SMALLEST_POINTS = 6.0
"""The smallest text in print that IEEE's instructions for authors allow is 6 points or so."""
_PNG_DPI = 300
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

    Only a figure with a layout engine can be laid out again.
    """
    smallest = smallest_points(figure)
    widest = width * smallest / SMALLEST_POINTS
    if figure.get_layout_engine() is not None and figure.get_figwidth() > widest:
        figure.set_size_inches(widest, figure.get_figheight())
    return figure


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
