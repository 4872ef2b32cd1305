"""A fragment of HTML, as notebooks show a result."""

import base64
from collections.abc import Sequence

from airtcp.pages.plot.svg import Drawing, svg_file, svg_of_drawing
from airtcp.pages.rendering import rendered
from airtcp.pages.tables import Table


def as_fragment(
    sentences: Sequence[str], table: Table | None, drawing: Drawing | None, alternative: str
) -> str:
    """The HTML of sentences, a table and a figure; `alternative` is the figure in words."""
    source = None
    if drawing is not None:
        svg = svg_file(svg_of_drawing(drawing, "fragment"))
        source = "data:image/svg+xml;base64," + base64.b64encode(svg).decode()
    return rendered(
        "fragment.html.j2",
        verdict=sentences,
        table=table,
        figure=source,
        alternative=alternative,
    )
