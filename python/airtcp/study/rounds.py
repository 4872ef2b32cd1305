"""A comparison in rounds: more seeds until what matters is decided, or a bound is reached."""

import time
from collections.abc import Callable
from dataclasses import replace

from airtcp.study.compare import ComparedRuns
from airtcp.study.comparison_plan import ComparisonPlan
from airtcp.study.sequential import Rounds


def in_rounds(
    planned_for: Callable[[int], ComparisonPlan],
    outcome: Callable[[ComparisonPlan, float], ComparedRuns],
    rounds: Rounds,
) -> ComparedRuns:
    """Runs look after look; seeds that are finished are not run again.

    Args:
        planned_for: plans a number of seeds.
        outcome: runs a plan; its intervals miss with the error given.
        rounds: the design and its bounds.
    """
    looks = rounds.looks
    begun = time.process_time()
    for look, seeds in enumerate(looks):
        compared = outcome(planned_for(seeds), rounds.error(look))
        if seeds == looks[-1]:
            why = f"{seeds} seeds were run, the most (--max-seeds)"
            break
        if not compared.decisive or compared.is_decided:
            return compared
        # What is stored already costs nothing, so the share of new seeds is an upper bound.
        spent_s = time.process_time() - begun
        following_s = spent_s * (looks[look + 1] - seeds) / seeds
        if spent_s + following_s > rounds.most_cpu_s:
            why = (
                f"{looks[look + 1]} seeds would take more than {rounds.most_cpu_s:g} s of "
                "processor time (--max-cpu)"
            )
            break
    return compared if compared.is_decided else replace(compared, stopped=why)
