"""Results in a notebook: sentences, a table and a figure, as a fragment of HTML."""

from airtcp.comparison.grid import GridResult
from airtcp.comparison.ranking import Candidate, Ranking
from airtcp.core.quantities import format_percent
from airtcp.diagnosis.ping_result import PingDiagnosis
from airtcp.diagnosis.result import Diagnosis
from airtcp.pages.diagnosis import pictures_of_capture, pictures_of_ping
from airtcp.pages.diagnosis_tables import link_table, trials_table
from airtcp.pages.grid import effect_matrix, effects, headline
from airtcp.pages.notebook import as_fragment
from airtcp.pages.plot.gains import Gain, Gains
from airtcp.pages.tables import Table, goodput_table

_MAX_ROWS = 12
"""Maximum number of remedies that the fragment of a ranking shows."""


def of_diagnosis(diagnosis: Diagnosis) -> str:
    """The answer of a capture, the remedies or else the fitted link, and the first figure."""
    table = None
    if diagnosis.trials is not None:
        table = trials_table(diagnosis.trials, excluded=False)
    elif diagnosis.link is not None:
        table = link_table(diagnosis.link)
    picture = next(iter(pictures_of_capture(diagnosis)), None)
    return as_fragment(diagnosis.sentences, table, picture, "round trips of the flow over time")


def of_ping(diagnosis: PingDiagnosis) -> str:
    """The answer of a ping log, the remedies if tried, and its round trips."""
    comparison = diagnosis.comparison
    table = goodput_table(comparison) if comparison else None
    picture = next(iter(pictures_of_ping(diagnosis.log, diagnosis.events)), None)
    return as_fragment(diagnosis.sentences, table, picture, "round trip of each probe over time")


def of_grid(result: GridResult) -> str:
    """The answer of a study, and each remedy's effect on every link and stack."""
    drawing = effect_matrix(result)
    return as_fragment([headline(result)], effects(result), drawing, "effects of the remedies")


def of_ranking(ranking: Ranking) -> str:
    """The remedies of a ranking, the best first."""
    shown = ranking.candidates[:_MAX_ROWS]
    spots = ranking.reach.spots
    rows = [
        (one.remedy, one.state.value, "yes" if one.is_deployable(spots) else "no", _gain(one))
        for one in shown
    ]
    table = Table(("remedy", "state", "yours to deploy", "gain, 95 %"), rows, 3)
    best = ranking.best
    first = f"Best: {best.remedy}." if best else "No remedy is shown to help."
    rest = len(ranking.candidates) - len(shown)
    sentences = [first, f"{rest} more are not shown."] if rest else [first]
    gains = tuple(Gain(one.remedy, one.gain, one.interval) for one in shown)
    return as_fragment(sentences, table, Gains(gains) if gains else None, "gain of each remedy")


def _gain(one: Candidate) -> str:
    percent = format_percent(one.gain, sign=True)
    if one.interval is None:
        return percent
    low, high = (format_percent(end, sign=True) for end in one.interval)
    return f"{percent} ({low} to {high})"
