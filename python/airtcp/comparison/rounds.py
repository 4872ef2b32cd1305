"""A comparison in rounds: adds seeds until the answer is decided, or a bound is reached."""

from collections.abc import Callable
from dataclasses import replace

from airtcp.comparison.budget import Budget, FirstSeedError, OutOfBudgetError
from airtcp.comparison.compared import Comparison
from airtcp.comparison.comparison_plan import ComparisonPlan
from airtcp.comparison.sequential import Rounds

SHARE = 0.75
"""Share of the processor time for the rounds; the rest is for the harm and the horizon of their
findings.
"""

Outcome = Callable[[ComparisonPlan, float], Comparison]


def in_rounds(
    planned_for: Callable[[int], ComparisonPlan], outcome: Outcome, rounds: Rounds, budget: Budget
) -> Comparison:
    """Runs look after look; finished seeds are not rerun.

    Args:
        planned_for: plans a number of seeds.
        outcome: runs a plan; its intervals miss with the given error.
        rounds: the design and the maximum of seeds.
        budget: the processor time; `SHARE` of it is for the rounds.

    Raises:
        RunError: the budget is not enough for one seed.
    """
    looks = rounds.looks
    most_s = SHARE * budget.most_cpu_s
    compared = _first_seed(planned_for, outcome, rounds, budget)
    before = 1
    for look, seeds in enumerate(looks):
        # Stored runs cost nothing, so this is an upper bound.
        seed_s = budget.spent_s / before
        if budget.spent_s + seed_s * (seeds - before) > most_s:
            fewer = before + int(max(most_s - budget.spent_s, 0.0) / seed_s) if look == 0 else 0
            if fewer > before:
                compared = _looked(planned_for, outcome, rounds, 0, fewer) or compared
            return _stopped(compared, f"{seeds} seeds would take more than {budget.words}")
        found = _looked(planned_for, outcome, rounds, look, seeds)
        if found is None:
            return _stopped(compared, f"{seeds} seeds take more than {budget.words}")
        compared, before = found, seeds
        if not compared.decisive or compared.is_decided:
            return compared
    return _stopped(compared, f"{looks[-1]} seeds were run, the most (--max-seeds)")


def _first_seed(
    planned_for: Callable[[int], ComparisonPlan], outcome: Outcome, rounds: Rounds, budget: Budget
) -> Comparison:
    """Runs one seed, which gives the duration of the first round."""
    found = _looked(planned_for, outcome, rounds, 0, 1)
    if found is None:
        remedies = len(planned_for(1).variants) - 1
        raise FirstSeedError(
            f"one seed of {remedies} {'remedy' if remedies == 1 else 'remedies'} takes more than "
            f"{budget.words}"
        )
    return found


def _looked(
    planned_for: Callable[[int], ComparisonPlan],
    outcome: Outcome,
    rounds: Rounds,
    look: int,
    seeds: int,
) -> Comparison | None:
    """The comparison on `seeds` seeds; None if the budget ended it."""
    try:
        return outcome(planned_for(seeds), rounds.error(look))
    except OutOfBudgetError:
        return None


def _stopped(compared: Comparison, why: str) -> Comparison:
    return compared if compared.is_decided else replace(compared, stopped=why)
