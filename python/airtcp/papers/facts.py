"""Facts that a paper's text states in addition to its numbers: `[[fact]]` in its `paper.toml`.

A fact is a qualitative observation of the authors: "no spurious timeouts at 5 %". A reading that
breaks one is not the authors' setup.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct, field

from airtcp.papers import estimates
from airtcp.papers.experiment import Datum, Experiment, Value
from airtcp.papers.outcomes import Outcomes
from airtcp.papers.rules import sign_of


class Fact(Struct, frozen=True, forbid_unknown_fields=True):
    """A measurement with bounds at a point, or one that rises or falls along an axis.

    `at_least` and `at_most` are in the measure's unit. `source` is the section, with the sentence.
    """

    id: str
    what: str
    source: str
    experiment: str
    measure: str
    at: dict[str, Value] = field(default_factory=dict)
    at_least: float | None = None
    at_most: float | None = None
    along: str = ""
    places: list[Value] = field(default_factory=list)
    direction: Literal["", "rises", "falls"] = ""

    def data(self, _experiment: Experiment) -> Iterator[Datum]:
        """The measurements that it refers to."""
        for move in [{self.along: place} for place in self.places] if self.along else [{}]:
            yield Datum(self.measure, {**self.at, **move})


def broken_facts(
    facts: Sequence[Fact], experiments: Mapping[str, Experiment], outcomes: Outcomes
) -> tuple[str, ...]:
    """The ids of the facts broken by the runs of a reading."""
    return tuple(
        fact.id for fact in facts if _is_broken(fact, experiments[fact.experiment], outcomes)
    )


def _is_broken(fact: Fact, experiment: Experiment, outcomes: Outcomes) -> bool:
    measured = [outcomes.values(experiment, *datum) for datum in fact.data(experiment)]
    series = [values for values in measured if values]
    if len(series) < len(measured):
        return True
    if fact.along:
        ends = estimates.step(series[0], series[-1])
        return sign_of(ends) != (1 if fact.direction == "rises" else -1)
    (values,) = series
    mean = estimates.level(values)
    # Beyond a bound with the whole interval: an undetermined value breaks nothing.
    too_low = fact.at_least is not None and mean.value + mean.error_bar < fact.at_least
    too_high = fact.at_most is not None and mean.value - mean.error_bar > fact.at_most
    return too_low or too_high
