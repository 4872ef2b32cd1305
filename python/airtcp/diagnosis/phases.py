"""The phases of a path that changes, each with its rate, delay, losses and limit."""

import math
from dataclasses import dataclass

import numpy as np

from airtcp.diagnosis.observed import FLOOR_S, Observed, Reals
from airtcp.diagnosis.rate import HIGH_QUANTILE, WINDOW_S
from airtcp.diagnosis.stops import StopProcess

QUEUE_PACKETS = 2.5
"""Minimum queueing delay in packet times; less could be the hosts' delay."""
MOSTLY = 0.5
"""Minimum share of the round trips with a queue for a full link."""
STOPPED = 0.1
"""Minimum share of the time for stops to be the limit."""
MATHIS = 1.22
"""The constant of Mathis et al., Computer Communication Review 27 (1997), for periodic losses."""


@dataclass(frozen=True)
class PhaseLabel:
    """A period with one path."""

    from_s: float
    """Seconds from the first packet of the capture."""
    until_s: float
    base_rtt_s: float
    median_rtt_s: float | None
    """None without a round trip in the phase."""
    goodput_bps: float
    rate_bps: float
    """Delivery of the busiest tenth of quarter seconds, in bits of IP packets a second: a lower
    bound of the link's rate.
    """
    sent: int
    """Data transmissions."""
    lost: int
    limit: str
    """The limit of the flow, in words."""

    @property
    def loss_rate(self) -> float:
        """Share of lost transmissions, by any cause."""
        return self.lost / self.sent if self.sent else 0.0


def phase_labels(flow: Observed, stops: StopProcess) -> tuple[PhaseLabel, ...]:
    """The phases of a flow; empty if the path does not change."""
    if not flow.phases:
        return ()
    begins = [max(begin, flow.begun_s) for begin, _ in flow.phases]
    spans = zip(begins, [*begins[1:], flow.ended_s], strict=True)
    return tuple(
        _label(flow, stops, begin, end, base)
        for (begin, end), (_, base) in zip(spans, flow.phases, strict=True)
        if end > begin
    )


def _label(
    flow: Observed, stops: StopProcess, begin: float, end: float, base_s: float
) -> PhaseLabel:
    within = (flow.sent_s >= begin) & (flow.sent_s < end)
    sampled = within & flow.sampled
    sent, lost = int(within.sum()), int((within & flow.lost).sum())
    came = (flow.ack_s >= begin) & (flow.ack_s < end)
    goodput_bps = 8.0 * float(flow.newly[came].sum()) / (end - begin)
    rate_bps = _busiest_bps(flow, begin, end)
    return PhaseLabel(
        begin,
        end,
        base_s,
        float(np.median(flow.rtt_s[sampled])) if sampled.any() else None,
        goodput_bps,
        rate_bps,
        sent,
        lost,
        _limit(flow, stops, begin, end, base_s, rate_bps),
    )


def _busiest_bps(flow: Observed, begin: float, end: float) -> float:
    """Delivery of the busiest tenth of windows; the mean in a phase shorter than two of them."""
    count = max(1, int((end - begin) / WINDOW_S))
    edges: Reals = np.linspace(begin, end, count + 1)
    at = np.interp(edges, flow.ack_s, flow.delivered)
    carried = 8.0 * np.diff(at) / np.diff(edges)
    return float(np.quantile(carried, HIGH_QUANTILE))


def _limit(
    flow: Observed, stops: StopProcess, begin: float, end: float, base_s: float, rate_bps: float
) -> str:
    stopped = sum(
        max(0.0, min(end, one.start_s + one.length_s) - max(begin, one.start_s))
        for one in stops.stops
    )
    if stopped > STOPPED * (end - begin):
        return "the link stalls"
    within = (flow.sent_s >= begin) & (flow.sent_s < end)
    queueing = flow.queueing_s[within & flow.sampled]
    packet_s = 8.0 * flow.full_size / rate_bps if rate_bps > 0 else math.inf
    if len(queueing) and np.mean(queueing > max(FLOOR_S, QUEUE_PACKETS * packet_s)) >= MOSTLY:
        return "link full"
    losses = int((within & flow.lost).sum())
    if losses:
        share = losses / int(within.sum())
        most_bps = MATHIS * 8.0 * flow.full_size / (base_s * math.sqrt(share))
        if most_bps < 2 * rate_bps:
            return "losses"
    return "the window or the application"
