"""The cost of the best remedies to a competing unchanged flow, over the fitted link."""

from dataclasses import replace
from itertools import pairwise

from airtcp._core import ScenarioError
from airtcp.comparison.competing import competing_plan
from airtcp.comparison.execute import execute
from airtcp.comparison.metrics import METRICS
from airtcp.comparison.ranking import State
from airtcp.comparison.ranking.best import is_gentle, rivals_of
from airtcp.comparison.ranking.harm import harm_state
from airtcp.comparison.statistics import ERROR, PairedDifference, paired_difference
from airtcp.core.catalogue import BASELINE
from airtcp.diagnosis.check import loaded
from airtcp.diagnosis.link import FittedLink
from airtcp.diagnosis.scenario import Stack, modelled
from airtcp.diagnosis.trials import Trial, Trials

SEEDS = (10, 20, 40)
"""Seeds of the looks: later looks run only if a large harm is neither shown nor excluded."""
SECONDS = 60.0
MAX_MEASURED = 3
"""Maximum number of remedies measured for harm in addition to the first."""


def with_harms(trials: Trials, link: FittedLink, stack: Stack) -> Trials:
    """The trials with the harm of the best remedies to others, as far as the order depends on it.

    Measures the first; if it harms others much, also the next ones that may replace it.

    Raises:
        RunError: a simulation could not be finished.
    """
    for _ in range(MAX_MEASURED):
        best = trials.winner
        if best is None or best.remedy in trials.harms:
            break
        measured = {best.remedy: harm(link, stack, best)}
        trials = replace(trials, harms=dict(trials.harms) | measured)
        trials = _with_nearly_as_good(trials, link, stack, best.remedy)
    return trials


def _with_nearly_as_good(trials: Trials, link: FittedLink, stack: Stack, first: str) -> Trials:
    """The trials with the harm of the remedies that would be named in place of `first`."""
    known = next(one for one in trials.ranking.candidates if one.remedy == first)
    if is_gentle(known):
        return trials
    rivals = [
        one.remedy
        for one in rivals_of(known, trials.ranking.deployable)
        if one.remedy not in trials.harms
    ]
    measured = {name: harm(link, stack, trials.of(name)) for name in rivals[:MAX_MEASURED]}
    return replace(trials, harms=dict(trials.harms) | measured)


def harm(link: FittedLink, stack: Stack, best: Trial | None) -> PairedDifference | None:
    """The metric `harm` of a comparison over the fitted link, of its best remedy.

    None if there is no best remedy, if it acts on the path, which both flows share, or if the link
    cannot be shared.

    Raises:
        RunError: a simulation could not be finished.
    """
    if best is None:
        return None
    scenario = loaded(modelled(replace(link, beside=None), stack, SECONDS))
    goodput_of_other = METRICS["harm"].of
    measured: dict[str, list[float]] = {BASELINE: [], best.remedy: []}
    found: PairedDifference | None = None
    for begin, end in pairwise((0, *SEEDS)):
        try:
            beside = competing_plan(scenario, [best.remedy], range(begin + 1, end + 1))
        except ScenarioError:
            return None  # a single flow cannot have it while another does not
        if best.remedy not in beside.cells:
            return None
        runs = beside.result(execute(beside.plan))
        for name, kept in measured.items():
            kept += [value for run in runs[name] if (value := goodput_of_other(run)) is not None]
        # The looks share the error evenly (Bonferroni).
        error = ERROR / len(SEEDS)
        found = paired_difference(
            measured[BASELINE], measured[best.remedy], error=error, is_ratio=True
        )
        known = harm_state(found.mean_percent, found.interval_percent, is_exact=found.is_exact)
        if known is not State.UNDECIDED:
            break
    return found
