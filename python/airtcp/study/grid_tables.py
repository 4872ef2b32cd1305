"""A grid's results as tables in Markdown, for docs and reports."""

from airtcp.quantities import format_bit_rate
from airtcp.study.grid import GridResult, text_of


def effect_table(result: GridResult) -> str:
    """Remedies down, link and stack across: the paired difference in goodput, in per cent."""
    columns = [
        (link.name, stack.name) for link in result.grid.links for stack in result.grid.stacks
    ]
    lines = [
        "| remedy | " + " | ".join(f"{link}, {stack}" for link, stack in columns) + " |",
        "|---|" + "---:|" * len(columns),
        "| *baseline* | "
        + " | ".join(format_bit_rate(result.baselines[column]) for column in columns)
        + " |",
    ]
    by = {(entry.link, entry.stack, entry.remedy): entry for entry in result.entries}
    for remedy in result.grid.remedies:
        cells = [text_of(by[(*column, remedy)]) for column in columns]
        lines.append(f"| {remedy} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def judges(result: GridResult) -> bool:
    """Whether any sender judged losses."""
    return any(entry.radio_events + entry.congestion_events for entry in result.entries)


def score_table(result: GridResult) -> str:
    """For each link and remedy, the shares of radio and of congestion losses judged right."""
    lines = [
        "| link | stack | classifier | radio losses judged right "
        "| congestion losses judged right |",
        "|---|---|---|---:|---:|",
    ]
    for entry in result.entries:
        if entry.radio_events + entry.congestion_events == 0:
            continue
        radio = _share(entry.radio_right, entry.radio_events)
        congestion = _share(entry.congestion_right, entry.congestion_events)
        lines.append(f"| {entry.link} | {entry.stack} | {entry.remedy} | {radio} | {congestion} |")
    return "\n".join(lines) + "\n"


def _share(right: float | None, events: int) -> str:
    return "n/a" if right is None else f"{100 * right:.0f} % of {events}"
