"""Compares long transfers limited by random losses with formulas for their rate.

Mathis, Semke, Mahdavi & Ott, "The macroscopic behavior of the TCP congestion avoidance algorithm",
CCR 27(3), 1997, eq. 3, and Padhye, Firoiu, Towsley & Kurose, "Modeling TCP throughput", SIGCOMM
1998, eq. 30. `b` is the number of segments an ACK is for.
"""

from collections.abc import Callable
from math import sqrt

import pytest

from .conftest import Goodputs, Settings

MSS_BITS = 1448 * 8
# Not a divisor of the minimum RTO: where two round trips are just the timeout, the third duplicate
# ACK of a small window and the timer fall in one instant, which no formula has in mind.
RTT_S = 0.094
# Minimum RTO; with so little variance in the round-trip time it is the RTO.
T0_S = 0.2
TOLERANCE = 0.15


def mathis_bps(loss: float, b: int) -> float:
    """MSS/RTT · C/√p with C = √(3/2b)."""
    return MSS_BITS / RTT_S * sqrt(3 / (2 * b)) / sqrt(loss)


def padhye_bps(loss: float, b: int) -> float:
    """The full model's approximation, window not limited by the receiver."""
    no_timeouts = RTT_S * sqrt(2 * b * loss / 3)
    timeouts = T0_S * min(1, 3 * sqrt(3 * b * loss / 8)) * loss * (1 + 32 * loss**2)
    return MSS_BITS / (no_timeouts + timeouts)


@pytest.mark.parametrize("b", [1, 2])
@pytest.mark.parametrize("loss", [0.001, 0.002, 0.005, 0.01, 0.02])
@pytest.mark.parametrize("formula", [mathis_bps, padhye_bps])
def test_rate_under_random_loss(
    goodputs: Callable[[Settings, int], Goodputs],
    formula: Callable[[float, int], float],
    loss: float,
    b: int,
) -> None:
    settings: Settings = {
        "duration": "900 s",
        # So fast and with so long a queue that nothing is dropped or waits.
        "link.rate": "10 Gbit/s",
        "link.delay": "47 ms",
        "link.queue.packets": 1_000_000,
        "link.loss.rate": loss,
        "tcp.profile": "sack",
        "tcp.window_growth": "acknowledgments",
        "tcp.min_rto": "200 ms",
        "tcp.delayed_ack.segments": b,
        "tcp.initial_window": 10,
    }
    name = formula.__name__.removesuffix("_bps").capitalize()
    # The first seconds of slow start are among them: long runs, so that they do not count.
    goodputs(settings, 10).assert_near(
        formula(loss, b), TOLERANCE, f"{name}, loss {loss:.1%}, b = {b}"
    )
