"""Tables and figures as LaTeX, to include in a paper."""

from typing import TYPE_CHECKING, Union, cast

from airtcp.core.shown import view
from airtcp.pages.plot.latex import latex_of
from airtcp.pages.plot.latex_text import escaped
from airtcp.pages.plot.print_width import inches
from airtcp.pages.tables import Table
from airtcp.pages.views import has_view

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from airtcp.comparison.compared import Comparison
    from airtcp.core.runs import Run


def tabular(table: Table) -> str:
    """The `tabular` of a table; columns of words are on the left, numbers on the right."""
    columns = "l" * table.names + "r" * (len(table.columns) - table.names)
    rows = (table.columns, *table.rows)
    first, *others = (" & ".join(map(escaped, row)) + r" \\" for row in rows)
    body = "\n".join([first, r"\hline", *others])
    return f"\\begin{{tabular}}{{{columns}}}\n{body}\n\\end{{tabular}}\n"


def latex(shown: Union["Run", "Comparison", "Figure"], width: str | float = "column") -> str:
    r"""A figure as source for LaTeX, with texts in the font of the document.

    >>> import airtcp
    >>> run = airtcp.run("lossy-pipe", settings={"duration": "1 s"}, probes=airtcp.TIMELINE_PROBES)
    >>> source = airtcp.latex(run)

    Written to a file, it is included by `\input`, and takes the package `tikz`.

    Args:
        shown: a run or a comparison, for the figure of its `plot`, which takes no Matplotlib; or a
            figure of Matplotlib.
        width: "column" (3.5 in), "page" (7.16 in), a length such as "85mm", or inches.

    Raises:
        ValueError: it is no width, the run lacks the probes of its figure, or the figure has an
            image.
    """
    wanted = inches(width if isinstance(width, str) else f"{width:f}in")
    if has_view(type(shown), "drawing"):
        return latex_of(view(shown, "drawing"), wanted)
    if not hasattr(shown, "get_figwidth"):
        kind = type(shown).__name__
        raise TypeError(f"{kind}: expected a run, a comparison, or a figure of Matplotlib")
    from airtcp.pages.plot.latex_of_figure import latex_of_figure
    from airtcp.pages.plot.printed import fitted_to

    figure = cast("Figure", shown)
    return latex_of_figure(fitted_to(figure, wanted), wanted)
