"""A slow way back: acknowledgments queue on their own path, and pace the sender.

On an asymmetric line the acknowledgments of a fast download can fill the upload (RFC 3449 §2). The
receiver's timestamps tell when each left, so that its wait on the way back shows without a capture
there.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from airtcp.core.quantities import format_bit_rate, format_percent
from airtcp.diagnosis.capture import Capture
from airtcp.diagnosis.findings.finding import CaptureFinding
from airtcp.diagnosis.findings.other_way import ACK_BYTES
from airtcp.diagnosis.latency import Latency
from airtcp.diagnosis.observed import Observed
from airtcp.diagnosis.seconds import seconds_words

TICKS_S = (1e-6, 1e-3, 4e-3, 1e-2)
"""Ticks of the clocks of timestamps; coarser ones show no queue."""
MAX_TICK_RATIO = 1.5
"""Maximum ratio of the mean time of a tick to the clock's: a queue that grows stretches it."""
MAX_DRIFT = 2e-4
"""Maximum relative difference of two clocks."""
FEWEST_ACKS = 200
MIN_WAIT_S = 0.02
"""Minimum median wait, well above the coarsest tick."""
MIN_SHARE = 0.5
"""Minimum share of the queueing delay that is on the way back."""
SAME_GAP = 0.15
MIN_SAME = 0.5
"""Minimum share of the gaps between acknowledgments within `SAME_GAP` of their median: a full
queue sends them one after the other.
"""

Reals = NDArray[np.float64]


@dataclass(frozen=True)
class WayBack:
    """The path of the acknowledgments."""

    wait_s: float
    """Median wait of an acknowledgment in its queue."""
    gap_s: float
    """Median gap between acknowledgments that waited."""
    same: float
    """Share of these gaps near the median."""

    @property
    def bps(self) -> float:
        """Rate of the path, from the gap."""
        return 8.0 * ACK_BYTES / self.gap_s


def way_back(acks: pl.DataFrame) -> WayBack | None:
    """The path of the acknowledgments of a flow; None if their timestamps show no clock."""
    pure = acks.filter((pl.col("payload") == 0) & pl.col("timestamp").is_not_null())
    if len(pure) < FEWEST_ACKS:
        return None
    came = pure["time_ns"].to_numpy() / 1e9
    # Timestamps wrap at 2^32 (RFC 7323 §5.2).
    values = np.unwrap(pure["timestamp"].to_numpy().astype(np.float64), period=2.0**32)
    ticks = values[-1] - values[0]
    if ticks <= 0 or came[-1] <= came[0]:
        return None
    rough = (came[-1] - came[0]) / ticks
    tick = min(TICKS_S, key=lambda one: abs(np.log(rough / one)))
    if not 1 / MAX_TICK_RATIO <= rough / tick <= MAX_TICK_RATIO:
        return None
    waits = _without_drift(came, came - tick * (values - values[0]))
    waited = waits > 0.5 * float(np.median(waits))
    gaps = np.diff(came)[waited[1:] & waited[:-1]]
    gaps = gaps[gaps > 0]
    if len(gaps) < FEWEST_ACKS // 2:
        return None
    gap = float(np.median(gaps))
    same = float(np.mean(np.abs(gaps / gap - 1.0) <= SAME_GAP))
    return WayBack(float(np.median(waits)), gap, same)


def _without_drift(came: Reals, offsets: Reals) -> Reals:
    """Delays above the shortest, with the clocks' drift taken out of the shortest."""
    fifth = max(1, len(came) // 5)
    first, last = int(np.argmin(offsets[:fifth])), -fifth + int(np.argmin(offsets[-fifth:]))
    seconds = came[last] - came[first]
    drift = (offsets[last] - offsets[first]) / seconds if seconds > 0 else 0.0
    if abs(drift) > MAX_DRIFT:
        drift = 0.0
    level = offsets - drift * (came - came[0])
    return np.asarray(level - level.min())


def slow_return(capture: Capture, flow: Observed, waits: Latency) -> CaptureFinding | None:
    """The finding; None if acknowledgments hardly wait, or not in a queue of their own."""
    facts = capture.facts
    if facts is None or facts["view"] != "sender":
        return None
    back = way_back(capture.acks)
    queueing_s = waits.median_s - waits.base_s
    if back is None or back.wait_s < MIN_WAIT_S or back.same < MIN_SAME:
        return None
    share = back.wait_s / queueing_s if queueing_s > 0 else 0.0
    if share < MIN_SHARE:
        return None
    sentence = (
        f"A slow way back: acknowledgments wait {seconds_words(back.wait_s)} in the median on a "
        f"return path of about {format_bit_rate(back.bps)}, which paces the flow at "
        f"{format_bit_rate(flow.goodput_bps)}. An ACK filter where they queue (CAKE's ack-filter), "
        "or fewer of them, is the remedy."
    )
    evidence = (
        f"By the receiver's timestamps {format_percent(min(100.0, 100 * share), decimals=0)} of "
        "the queueing delay is on the way back, and "
        f"{format_percent(100 * back.same, decimals=0)} of the acknowledgments that waited come "
        f"{1000 * back.gap_s:.3g} ms after the one before: one after the other from a queue that "
        "is not empty.",
        f"The rate assumes {ACK_BYTES} bytes for an acknowledgment, without link headers.",
        "Neither the round trip nor the spacing of the acknowledgments tells of the data's "
        "direction here: no link is fitted.",
    )
    return CaptureFinding("slow-return", sentence, evidence, ("ack-filter", "ack-rate"))
