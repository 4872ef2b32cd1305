"""The page of the demonstration: a picture of a link, remedies that help, and next steps."""

from pathlib import Path

import numpy as np

from airtcp.comparison.compared import Comparison
from airtcp.comparison.context import context
from airtcp.comparison.deployment import deployment
from airtcp.comparison.metrics import METRICS
from airtcp.comparison.ranking.candidate import Candidate
from airtcp.comparison.ranking.places import places_of
from airtcp.comparison.ranking.state import State
from airtcp.comparison.words import amount
from airtcp.core.catalogue import BASELINE
from airtcp.core.quantities import format_bit_rate, format_percent
from airtcp.pages.demonstration.story import Observed, Story
from airtcp.pages.figures import PlannedFigure, drawn
from airtcp.pages.plot.style import BLUE
from airtcp.pages.plot.timeline import timeline
from airtcp.pages.plot.trouble import Trouble
from airtcp.pages.rendering import write_page
from airtcp.pages.tables import Table

_MAX_ROWS = 8


def write_story(folder: Path, story: Story, *, png: bool = False) -> Path:
    """Writes index.html and the picture; returns the path of index.html.

    Args:
        folder: its folder; the linked reports are in folders of it.
        story: the findings.
        png: whether to write the picture as PNG, too.

    Raises:
        OSError: it cannot be written.
    """
    pictures = [_picture("link", story.observed)]
    if story.other_observed:
        pictures.append(_picture("other", story.other_observed))
    picture, *others = drawn(folder, pictures, png=png)
    return write_page(
        folder,
        "story.html.j2",
        story=story,
        picture=picture,
        other_picture=others[0] if others else None,
        context=context,
        deployment=deployment,
        helps=helps_table,
    )


def _picture(name: str, observed: Observed) -> PlannedFigure:
    found = Trouble(
        timeline("today's sender", observed.run, colour=BLUE),
        np.asarray(observed.run.rtts["time_s"]),
        np.asarray(observed.run.rtts["rtt_ms"]),
        observed.capacity_bps,
    )
    rows = [
        (
            f"{row['from_s']:g} to {row['to_s']:g} s",
            "none" if row["rtt_median_ms"] is None else f"{row['rtt_median_ms']:.0f} ms",
            "none" if row["rtt_max_ms"] is None else f"{row['rtt_max_ms']:.0f} ms",
            format_bit_rate(row["goodput_bps"]),
            *(str(row[name]) for name, _, _ in found.lanes),
        )
        for row in found.table().iter_rows(named=True)
    ]
    names = (name for name, _, _ in found.lanes)
    heads = ("time", "round trip, median", "largest", "goodput", *names)
    return PlannedFigure(
        name,
        "What the link does to TCP",
        _caption(found),
        found,
        Table(heads, rows),
    )


def _caption(found: Trouble) -> str:
    """Caption of the picture, which differs between links that delay and links that lose."""
    spurious, needed, fast = (len(times) for _, times, _ in found.lanes)
    text = (
        "The run that the sentence is about. Each dot is the round trip of a packet, the line the"
        " time after which the sender takes a packet for lost."
    )
    if spurious:
        text += (
            " At an orange tick the timer fired although nothing was lost: a packet or its"
            " acknowledgment took longer than the line, and the goodput below falls."
        )
    if needed or fast:
        text += f" At each {'other ' if spurious else ''}tick a packet was lost, and goodput falls."
    return text


def helps_table(compared: Comparison) -> Table:
    """The remedies shown to help, best first, with their latency, their harm and their place."""
    reach = compared.ranking.reach
    rows: list[tuple[str, ...]] = [(BASELINE, _mean(compared, BASELINE), "", "", "", "")]
    seen: set[tuple[str, ...]] = set()
    for one in compared.ranking.candidates:
        name, alike = compared.row_name(one.remedy), compared.alike[one.remedy]
        if not one.helps or alike in seen:
            continue
        seen.add(alike)
        yours = "yes" if not reach.is_all and one.is_deployable(reach.spots) else ""
        rows.append(
            (
                f"{name} (floods the link)" if one.floods else name,
                _mean(compared, one.remedy),
                amount(compared.decisive[one.remedy], sign=True),
                _latency(compared, one.remedy),
                _harm(one),
                places_of(one.remedy) + (", yours" if yours else ""),
            )
        )
    heads = (
        "remedy",
        "goodput",
        "gain, 95 %",
        "round trip, 95th percentile",
        "unchanged competing flow",
        "where to deploy it",
    )
    return Table(heads, rows[: 1 + _MAX_ROWS])


def _mean(compared: Comparison, remedy: str) -> str:
    runs = compared.summaries[remedy]
    return format_bit_rate(sum(run["goodput_bps"] for run in runs) / len(runs))


def _latency(compared: Comparison, remedy: str) -> str:
    by = compared.compared("rtt-p95").get(remedy)
    return "" if by is None else amount(by, sign=True, metric=METRICS["rtt-p95"])


def _harm(one: Candidate) -> str:
    if one.harm is None:
        return ""
    if one.harm_state is State.EXCLUDED:
        return "no harm"
    size = format_percent(one.harm, sign=True, decimals=0)
    return size if one.harm_state is State.SHOWN else f"undecided ({size})"
