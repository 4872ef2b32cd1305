"""Seeds on links without randomness."""

from airtcp._core import Scenario

PERTURBATION = 0.005
"""Relative change of such a link per seed (`perturb`): no link is known more precisely, and one
phase of its packets at a queue is not representative.
"""


def perturbed(scenario: Scenario) -> Scenario:
    """The scenario, perturbed by each seed if all seeds would otherwise give the same run."""
    return scenario.perturbed(PERTURBATION) if scenario.is_same_for_every_seed else scenario
