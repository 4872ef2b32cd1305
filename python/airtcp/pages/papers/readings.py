"""Open points of a paper, and the reading that serves it best, on a page."""

from airtcp.pages.tables import Table
from airtcp.papers.paper import Paper
from airtcp.papers.readings import departures
from airtcp.papers.verdicts_by_reading import VerdictsByReading


def open_points(over: VerdictsByReading) -> Table:
    """Every open point: the question, the values that the text admits, the default and why."""
    rows = [
        (
            point.id,
            point.open,
            ", ".join(point.names),
            point.default,
            _without_marks(point.why),
            _without_marks(point.source),
        )
        for point in over.points
    ]
    return Table(("point", "what is open", "admitted", "default", "why", "source"), rows, 6)


def facts(paper: Paper, over: VerdictsByReading) -> Table:
    """Every fact of the text, whether the default keeps it, and how many readings break it."""
    rows = [
        (
            fact.what,
            "breaks it" if fact.id in over.broken[over.default] else "keeps it",
            f"{over.readings_that_break(fact.id)} of {len(over.broken)}",
            _without_marks(fact.source),
        )
        for fact in paper.file.facts
    ]
    return Table(("the text says", "the default", "readings that break it", "source"), rows, 4)


def _without_marks(text: str) -> str:
    """Removes the marks of code in Markdown."""
    return text.replace("`", "")


def best_reading(over: VerdictsByReading) -> list[str]:
    """The reading that reproduces most claims, and claims that no reading gives."""
    run = len(over.verdicts)
    if run < 2:
        return []
    way, reproduced, _ = over.served(over.best)
    reading = ", ".join(departures(over.points, over.best)) or "the default"
    of_all = (
        f"{run} readings"
        if run >= over.admissible
        else (f"{run} readings run, of {over.admissible}")
    )
    sentences = [
        f"Of {of_all}, {reading} serves the paper best: {way} of "
        f"{len(over.verdicts[over.default])} claims go its way, {reproduced} of them reproduced; "
        f"{over.served(over.default)[0]} do under the default. The verdicts above do not rest on "
        "it."
    ]
    if over.never:
        sentences.append(f"No reading that was run gives {', '.join(over.never)}.")
    return sentences
