"""One run: its timeline, its pictures, and its totals for notebooks."""

from html import escape
from typing import TYPE_CHECKING

from airtcp.core.quantities import format_bit_rate, format_count
from airtcp.core.runs import Run
from airtcp.core.summary import total

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from airtcp.pages.plot.timeline import Timelines


def figure(run: Run, flow: int) -> "Figure":
    """The window, the timers and the goodput of one flow against time.

    Raises:
        ValueError: the run lacks the probes of the figure.
    """
    return drawing(run, flow).figure()


def drawing(run: Run, flow: int = 0) -> "Timelines":
    """The numbers and words of that figure.

    Raises:
        ValueError: the run lacks its probes.
    """
    from airtcp.pages.plot.timeline import Timelines, timeline

    return Timelines((timeline(run.title, run, flow),))


def picture(run: Run, kind: str) -> "Figure":
    """One of the kinds in `airtcp.pages.plot.pictures.PICTURES`.

    Raises:
        ValueError: no such kind, or the run lacks its content.
    """
    from airtcp.pages.plot.pictures import PICTURES

    if kind not in PICTURES:
        raise ValueError(f"no picture {kind!r}; there are {', '.join(PICTURES)}")
    return PICTURES[kind].draw(run)


def printed_picture(run: Run, kind: str, form: str, width: float) -> bytes:
    """A picture in a form, pdf, svg or png, for a width in inches.

    Raises:
        ValueError: no such kind, or the run lacks its content.
    """
    from airtcp.pages.plot.printed import fitted_to, for_width, printed

    if kind == "timeline":
        drawn = for_width(drawing(run), width)
    else:
        drawn = fitted_to(picture(run, kind), width)
    return printed(drawn, form, width)


def latex_picture(run: Run, kind: str, width: float) -> bytes:
    """A picture as source for LaTeX, for a width in inches.

    Raises:
        ValueError: no such kind, or the run lacks its content.
    """
    from airtcp.pages.latex import latex

    return latex(run if kind == "timeline" else picture(run, kind), width).encode()


def fragment(run: Run) -> str:
    """The totals of a run as an HTML table."""
    summary = run.summary
    rows = {
        "scenario": summary["scenario"],
        "remedies": run.title,
        "seed": str(summary["seed"]),
        "goodput": format_bit_rate(summary["goodput_bps"]),
        "segments retransmitted": format_count(total(summary, "segments_retransmitted")),
        "timeouts": format_count(total(summary, "timeouts")),
        "of these spurious": format_count(total(summary, "timeouts_spurious")),
    }
    table = "".join(
        f"<tr><th>{name}</th><td>{escape(value)}</td></tr>" for name, value in rows.items()
    )
    return f"<table>{table}</table>"
