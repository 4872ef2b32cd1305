"""Effect of settings beyond the readings: one row per setting, one column per gain."""

from dataclasses import dataclass

from airtcp.papers.estimates import gain_text
from airtcp.papers.outcomes import Outcomes
from airtcp.papers.paper import Paper, Sensitivity


@dataclass(frozen=True)
class SensitivityTable:
    """Gains in words; the first row is the paper's."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def sensitivity_tables(paper: Paper, outcomes: Outcomes) -> list[SensitivityTable]:
    """All sensitivity tables of a paper."""
    return [_table(paper, spec, outcomes) for spec in paper.file.sensitivities]


def _table(paper: Paper, spec: Sensitivity, outcomes: Outcomes) -> SensitivityTable:
    experiment = paper.experiment(spec.experiment)
    rows: list[tuple[str, ...]] = [("the paper", *(gain.paper or "-" for gain in spec.gains))]
    for place in experiment.axis(spec.axis).places:
        cells = []
        for gain in spec.gains:
            at = {**gain.at, spec.axis: place}
            ours = outcomes.gain(experiment, gain.measure, at, gain.baseline, gain.treated)
            cells.append(gain_text(ours) if ours else "n/a")
        rows.append((str(place), *cells))
    columns = ("read", *(gain.title for gain in spec.gains))
    return SensitivityTable(spec.title, columns, tuple(rows))
