"""Upper bound of the goodput over the link, for any TCP."""

from dataclasses import dataclass

from airtcp.diagnosis.check import loaded, simulated
from airtcp.diagnosis.link import FittedLink
from airtcp.diagnosis.observed import Observed
from airtcp.diagnosis.scenario import flooded
from airtcp.diagnosis.wifi import Wifi

WORTH = 0.05
"""Minimum share above the flow's goodput that is worth a change."""
FLOODED_S = 2.0


@dataclass(frozen=True)
class Ceiling:
    """The goodput of a flow and its upper bound, in payload bits a second."""

    goodput_bps: float
    most_bps: float
    is_known: bool = True
    """Whether the link's rate is known; otherwise `most_bps` is an upper bound of it."""
    is_shared: bool = False
    """Whether cross traffic uses the link, too; `most_bps` is then its remaining capacity."""

    @property
    def gain_percent(self) -> float:
        """The largest gain that the link permits, in per cent of the goodput."""
        return 100.0 * (self.most_bps / self.goodput_bps - 1.0) if self.goodput_bps > 0 else 0.0

    @property
    def is_reached(self) -> bool:
        """Whether no remedy for TCP is worth deploying."""
        return self.goodput_bps >= (1 - WORTH) * self.most_bps


def carried_bps(wifi: Wifi) -> float:
    """Payload bits a second of datagrams that saturate the radio.

    Raises:
        RunError: the simulation could not be finished.
    """
    scenario = loaded(flooded(wifi, FLOODED_S))
    outcome = simulated(scenario, 1, FLOODED_S)
    return outcome.goodput_bps


def ceiling(link: FittedLink, flow: Observed) -> Ceiling:
    """The link's rate while it works, minus its losses and the headers."""
    if link.wifi is not None:
        return Ceiling(flow.goodput_bps, max(carried_bps(link.wifi), flow.goodput_bps))
    stopped = sum(stop.length_s for stop in link.stops.stops) / flow.seconds
    most = link.most_bps * (1 - min(stopped, 1.0)) * (1 - link.loss.rate) / flow.overhead
    others_bps = link.beside.cross_bps / flow.overhead if link.beside else 0.0
    return Ceiling(
        flow.goodput_bps,
        max(most - others_bps, flow.goodput_bps),
        link.rate.bounds is None,
        link.is_shared or link.beside is not None,
    )
