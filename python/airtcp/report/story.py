"""The page of the demonstration: a link, what was wrong, what helps, and how to have it."""

from pathlib import Path

from airtcp._core import engine_version
from airtcp.catalogue import BASELINE, deployments, remedies
from airtcp.papers.rules import Verdict
from airtcp.quantities import format_bit_rate, format_count, format_percent
from airtcp.report.pages import rendered, write_text
from airtcp.report.tables import Table
from airtcp.study.compare import ComparedRuns
from airtcp.study.context import context
from airtcp.study.deployment import deployment
from airtcp.study.difference_words import amount
from airtcp.study.metrics import METRICS
from airtcp.study.statistics import Outcome
from airtcp.study.verdict import verdict

_MOST_ROWS = 6
_ELSEWHERE = {
    "sender": "no setting of Linux",
    "receiver": "no setting of Linux",
    "link": "on the link's own devices",
    "access-point": "on the access point",
    "proxy": "on a proxy",
}
"""Where a remedy is had that `airtcp deploy` cannot have on an end of the connections."""


def write_story(
    folder: Path,
    link: ComparedRuns,
    on_newreno: ComparedRuns,
    upload: ComparedRuns,
    kernel: list[str],
    claims: dict[Verdict, int],
) -> Path:
    """Writes index.html; returns its path.

    Args:
        folder: where it goes; the reports it names are in its folders.
        link: every remedy on a recorded link.
        on_newreno: the remedies shown there, on NewReno.
        upload: every remedy on an upload over 802.11b.
        kernel: what this machine's kernel said, or why it was not asked.
        claims: how many of the papers' claims have each verdict.

    Raises:
        OSError: it cannot be written.
    """
    page = rendered(
        "story.html.j2",
        link=link,
        upload=upload,
        context=context,
        symptoms=symptoms,
        verdict=verdict,
        helps=helps_table(link, on_newreno),
        upload_helps=helps_table(upload),
        deployment=deployment,
        kernel=kernel,
        claims=[(str(one), count) for one, count in claims.items() if count],
        number=sum(claims.values()),
        engine_version=engine_version,
    )
    return write_text(folder / "index.html", page)


def symptoms(compared: ComparedRuns) -> str:
    """The baseline's problem, in a sentence."""
    runs = compared.summaries[BASELINE]

    def mean(name: str) -> float:
        return sum(METRICS[name].of(run) or 0.0 for run in runs) / len(runs)

    seconds = runs[0]["duration_s"]
    spurious = ""
    if mean("spurious"):
        spurious = f", of which {format_count(mean('spurious'))} were spurious: nothing was lost"
    return (
        f"In {seconds:g} s it carries {format_bit_rate(mean('goodput'))}, with "
        f"{format_count(mean('timeouts'))} timeouts{spurious}. "
        f"{format_percent(100 * mean('retransmitted'))} of the segments are retransmissions (means "
        "over the seeds)."
    )


def helps_table(compared: ComparedRuns, before: ComparedRuns | None = None) -> Table:
    """The best remedies, their gain, the same on NewReno, and where each is applied."""
    places = {entry["name"]: entry["place"] for entry in remedies()}
    rows = []
    for remedy in compared.shown[:_MOST_ROWS]:
        cells = [compared.row_name(remedy), _gain(compared, remedy)]
        if before is not None:
            cells.append(_gain(before, remedy))
        ways = [part["on_a_host"] for part in deployments(remedy)]
        cells.append("airtcp deploy" if all(ways) else _ELSEWHERE[places[remedy]])
        rows.append(tuple(cells))
    head = ["remedy", "on today's Linux"]
    if before is not None:
        head.append("on NewReno")
    return Table((*head, "how to have it"), rows)


def _gain(compared: ComparedRuns, remedy: str) -> str:
    difference = compared.decisive[remedy]
    match difference.outcome:
        case Outcome.IDENTICAL:
            return "no change"
        case Outcome.NO_DIFFERENCE_SHOWN:
            return f"undecided ({amount(difference, sign=True)})"
        case _:
            floods = ", floods the link" if compared.floods(remedy) else ""
            return f"{amount(difference, sign=True)}{floods}"
