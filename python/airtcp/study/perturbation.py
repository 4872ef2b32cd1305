"""Seeds on links on which nothing is random."""

from airtcp._core import Scenario

PERTURBATION = 0.005
"""The share by which each seed changes such a link (`perturb`): no link is known better, and one
phase of its packets at a queue is not an answer."""


def perturbed(scenario: Scenario) -> Scenario:
    """The scenario, changed a little by each seed where every seed would be the same run."""
    return scenario.perturbed(PERTURBATION) if scenario.is_same_for_every_seed else scenario
