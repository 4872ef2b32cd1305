"""Harm of a remedy to flows without it: an unchanged flow competes with one that has it.

The last flow of a scenario, or a second one with the same path, keeps the TCP as written. Its
goodput in competition with flows that have a remedy is compared with its goodput in competition
with unchanged flows, seed by seed: a remedy that takes more from it than an unchanged flow would is
harmful in the sense of Ware et al. ("Beyond Jain's Fairness Index", HotNets 2019).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from airtcp._core import Scenario, ScenarioError
from airtcp.comparison.execute import Results
from airtcp.comparison.plan import Plan, PlannedCell, seeded_cells
from airtcp.core.bpf import is_bpf
from airtcp.core.catalogue import BASELINE, remedies
from airtcp.core.registered import is_python
from airtcp.core.summary import RunSummary

_AT_AN_END = {"sender", "receiver"}


@dataclass(frozen=True)
class CompetingPlan:
    """Runs with an unchanged flow, for each remedy that acts at an end of a connection."""

    cells: Mapping[str, tuple[PlannedCell, ...]]
    """By remedy, in the order of the seeds; "baseline" has unchanged flows only."""
    refused: Mapping[str, str]
    """Remedies that one flow cannot have without the others, and why."""

    @property
    def plan(self) -> Plan:
        """The cells as a plan, seed by seed."""
        return Plan(cell for pair in zip(*self.cells.values(), strict=True) for cell in pair)

    def result(self, results: Results) -> dict[str, list[RunSummary]]:
        """The runs by remedy, in the order of the seeds; empty if there is no plan."""
        return {
            remedy: [results[cell.key].summary for cell in cells]
            for remedy, cells in self.cells.items()
        }


def competing_plan(
    written: Scenario, names: Sequence[str], seeds: Sequence[int], where: str = ""
) -> CompetingPlan:
    """The plan of the runs with an unchanged flow.

    Args:
        written: the scenario without the remedies.
        names: the remedies; remedies of a link, an access point or a proxy are refused, since all
            flows that pass have them.
        seeds: the seeds.
        where: name of the scenario in progress and errors, if there are several.
    """
    try:
        shared = written.with_unchanged_flow()
    except ScenarioError as error:
        return CompetingPlan({}, dict.fromkeys(names, str(error)))
    refused: dict[str, str] = {}
    variants = {BASELINE: shared}
    for name in names:
        if is_at_an_end(name):
            variants[name] = shared.with_remedies(name)
        else:
            refused[name] = "it acts on the way, where all flows pass"
    if len(variants) == 1:
        return CompetingPlan({}, refused)
    scenario_hash = shared.hash()
    cells = {
        name: seeded_cells(
            scenario_hash,
            variant,
            name,
            seeds,
            ", ".join(filter(None, (where, f"{name} against an unchanged flow"))),
        )
        for name, variant in variants.items()
    }
    return CompetingPlan(cells, refused)


def is_at_an_end(remedy: str) -> bool:
    """Whether every part of a combination acts at the sender or the receiver."""
    places = {entry["name"]: entry["place"] for entry in remedies()}
    parts = (part for part in remedy.split("+") if not (is_bpf(part) or is_python(part)))
    names = (part.partition(":")[0].strip() for part in parts)
    return all(places.get(name) in _AT_AN_END for name in names)
