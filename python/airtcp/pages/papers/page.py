"""The report on the papers: an index, a page per paper and one of all remedies, and data."""

import json
from itertools import islice
from pathlib import Path

from airtcp.comparison.grid import GridResult
from airtcp.pages.drawing import Sheet, draw_all
from airtcp.pages.figures import drawn
from airtcp.pages.papers.cross import cross_of, matrix_figure, pairs_table
from airtcp.pages.papers.sections import figures_of, section_of
from airtcp.pages.plot.matrix import KEY_PERCENT, effect_colour, key_words
from airtcp.pages.plot.style import INK
from airtcp.pages.plot.verdicts import LOOKS, VerdictTiles, look_of
from airtcp.pages.rendering import whole, write_page, write_text
from airtcp.pages.tables import Table, markdown
from airtcp.papers.judgement import Judgement
from airtcp.papers.rules import Verdict


@whole
def write_papers_report(
    judgement: Judgement,
    directory: Path,
    command: str,
    *,
    png: bool = False,
    width: float | None = None,
) -> Path:
    """Writes the pages, papers.json, verdicts.md and every figure; returns index.html's path.

    Raises:
        OSError: the directory cannot be written.
    """
    text = json.dumps(judgement.as_json(), indent=1, ensure_ascii=False)
    write_text(directory / "papers.json", text + "\n")
    write_text(directory / "verdicts.md", verdict_lines(judgement))
    grid, pairs = cross_of(judgement)
    matrix = matrix_figure(grid) if grid is not None else None
    sheets = [Sheet("verdicts", _tiles(judgement))]
    if matrix is not None:
        sheets.append(Sheet(matrix.name, matrix.drawing))
    draw_all(directory, sheets, png=png, width=width)
    groups = [figures_of(paper, judgement.outcomes[paper.name]) for paper in judgement.papers]
    # All in one batch, to share them among processes.
    planned = [figure for both in groups for group in both for figure in group]
    figures = iter(drawn(directory, planned, png=png, width=width))
    sections = [
        section_of(judgement, paper, *(list(islice(figures, len(one))) for one in both))
        for paper, both in zip(judgement.papers, groups, strict=True)
    ]
    pages = [("index", "all claims")]
    pages += [(section.paper.name, section.title) for section in sections]
    if grid is not None:
        pages.append(("cross", "all remedies on all scenarios"))
    shared = {
        "pages": pages,
        "verdicts": [str(verdict) for verdict in Verdict],
        "meanings": [(str(verdict), verdict.meaning) for verdict in Verdict],
        "looks": LOOKS,
        "look_of": look_of,
        "ink": INK,
        "quick": judgement.quick,
        "runs": judgement.runs,
        "png": png,
    }
    for section in sections:
        name = section.paper.name
        write_page(directory, "papers-paper.html.j2", command, name=name, section=section, **shared)
    if grid is not None and matrix is not None:
        write_page(
            directory,
            "papers-cross.html.j2",
            command,
            name="cross",
            matrix=matrix.drawing,
            caption=matrix.caption,
            table=matrix.table,
            groups=_groups(grid),
            key=[(key_words(percent), effect_colour(percent)) for percent in KEY_PERCENT],
            effect_colour=effect_colour,
            pairs=pairs_table(pairs) if pairs else None,
            **shared,
        )
    lines = [line for section in sections for line in section.lines]
    return write_page(
        directory,
        "papers-index.html.j2",
        command,
        name="index",
        sections=sections,
        lines=lines,
        **shared,
    )


def _groups(grid: GridResult) -> list[tuple[str, int]]:
    return [(link.name, len(grid.grid.stacks)) for link in grid.grid.links]


def _tiles(judgement: Judgement) -> VerdictTiles:
    return VerdictTiles(
        tuple(
            (
                paper.short_title,
                tuple(
                    (judged.claim.id, str(judged.outcome))
                    for judged in judgement.claims[paper.name]
                ),
            )
            for paper in judgement.papers
        )
    )


def verdict_lines(judgement: Judgement) -> str:
    """A table in Markdown: number of claims of each paper by verdict."""
    rows = [
        (
            paper.short_title,
            *(
                " ".join(one.claim.id for one in claims if one.outcome is verdict) or "-"
                for verdict in Verdict
            ),
        )
        for paper in judgement.papers
        for claims in [judgement.claims[paper.name]]
    ]
    totals = [str(judgement.count(verdict)) for verdict in Verdict]
    rows.append((f"all {len(judgement.all_claims)}", *totals))
    return markdown(Table(("paper", *map(str, Verdict)), rows))
