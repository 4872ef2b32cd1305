"""The price of a congestion control for the flows beside it."""

from dataclasses import dataclass

import numpy as np

from airtcp import _core
from airtcp.diagnosis.check import loaded
from airtcp.diagnosis.link import FittedLink
from airtcp.diagnosis.observed import Observed
from airtcp.diagnosis.ranking import Ranked
from airtcp.diagnosis.scenario import Stack, WrittenLink, modelled
from airtcp.summary import parse_summary

CONTROLS = {"cubic": "linux", "reno": "linux-reno", "bbr": "linux-bbr"}
"""Remedies of which a flow can have one while the flow beside it has another."""
SEEDS = 10
SECONDS = 60.0


@dataclass(frozen=True)
class Fairness:
    """An unchanged flow beside one with the remedy, and beside another unchanged one."""

    remedy: str
    beside_it_bps: float
    beside_its_like_bps: float

    @property
    def sentence(self) -> str:
        """The price for others, in a sentence."""
        share = 100.0 * self.beside_it_bps / self.beside_its_like_bps
        return (
            f"An unchanged flow beside one with {self.remedy} gets {share:.0f} % of what it gets "
            "beside its like."
        )


def fairness(
    link: FittedLink, flow: Observed, stack: Stack, best: Ranked | None
) -> Fairness | None:
    """Two flows share the fitted link; None where the winner is no congestion control."""
    if best is None or best.remedy not in CONTROLS:
        return None
    changed = [f'profile = "{CONTROLS[best.remedy]}"', *stack.lines()[1:]]
    beside_it = _unchanged(link, stack, [changed, stack.lines()])
    beside_its_like = _unchanged(link, stack, [stack.lines(), stack.lines()])
    if beside_its_like == 0:
        return None
    return Fairness(best.remedy, beside_it, beside_its_like)


def _unchanged(link: FittedLink, stack: Stack, tables: list[list[str]]) -> float:
    """The mean goodput of the second of two flows."""
    written = modelled(link, stack, SECONDS)
    flows = ["[flows]", "count = 2", ""]
    for table in tables:
        flows += ["[[flows.tcp]]", *table, ""]
    scenario = loaded(WrittenLink(written.toml + "\n".join(flows), written.files))
    goodputs = []
    for seed in range(1, SEEDS + 1):
        summary = parse_summary(_core.run(scenario, seed).summary())
        goodputs.append(summary["flows"][1]["goodput_bps"])
    return float(np.mean(goodputs))
