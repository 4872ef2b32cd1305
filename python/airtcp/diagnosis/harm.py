"""The cost of the best remedy to an unchanged flow beside it, over the fitted link."""

from airtcp._core import ScenarioError
from airtcp.catalogue import BASELINE
from airtcp.diagnosis.check import loaded
from airtcp.diagnosis.link import FittedLink
from airtcp.diagnosis.scenario import Stack, modelled
from airtcp.diagnosis.trials import Trial
from airtcp.study.competing import competing_plan
from airtcp.study.execute import execute
from airtcp.study.metrics import METRICS
from airtcp.study.statistics import PairedDifference, paired_difference

SEEDS = 10
SECONDS = 60.0


def harm(link: FittedLink, stack: Stack, best: Trial | None) -> PairedDifference | None:
    """The metric `harm` of a comparison over the fitted link, of its best remedy alone.

    None where there is no best remedy, where it acts on the way, which both flows have in common,
    or where the link cannot be shared.

    Raises:
        RunError: a simulation could not be finished.
    """
    if best is None:
        return None
    scenario = loaded(modelled(link, stack, SECONDS))
    try:
        beside = competing_plan(scenario, [best.remedy], range(1, SEEDS + 1))
    except ScenarioError:
        return None  # a flow of its own cannot have it beside another
    if best.remedy not in beside.cells:
        return None
    goodput_of_other = METRICS["harm"].of
    runs = beside.result(execute(beside.plan))
    measured = {
        name: [value for run in runs[name] if (value := goodput_of_other(run)) is not None]
        for name in (BASELINE, best.remedy)
    }
    return paired_difference(measured[BASELINE], measured[best.remedy])
