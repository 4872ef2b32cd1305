"""Losses that are not a full queue's: at random, or in bursts."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc
from scipy.stats import beta

from airtcp.diagnosis.observed import Flags, Observed

LAGS = 3
SURE = 0.001
"""Losses close to each other are bursts where chance brings as many this seldom."""
FEWEST = 10
"""Losses without which bursts are not looked for."""


@dataclass(frozen=True)
class Bursts:
    """A Gilbert-Elliott channel without losses in its good state: chances a packet."""

    good_to_bad: float
    bad_to_good: float
    loss_in_bad: float


@dataclass(frozen=True)
class Loss:
    """Losses of the link, of all that is sent over it."""

    sent: int
    lost: int
    bursts: Bursts | None
    """None where losses are independent, as far as they show."""

    @property
    def rate(self) -> float:
        """Chance that a packet is lost."""
        return self.lost / self.sent if self.sent else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the rate for independent losses (Clopper and Pearson 1934)."""
        if not self.sent:
            return 0.0, 1.0
        low = beta.ppf(0.025, self.lost, self.sent - self.lost + 1) if self.lost else 0.0
        high = beta.ppf(0.975, self.lost + 1, self.sent - self.lost)
        return float(low), float(high if self.lost < self.sent else 1.0)


def fitted_loss(flow: Observed) -> Loss:
    """The losses of a flow, those of full queues left out."""
    return loss_of((flow.lost & ~flow.dropped)[~flow.dropped])


def loss_of(lost: Flags) -> Loss:
    """The process behind a series of packets, of which some were lost."""
    sent, count = len(lost), int(lost.sum())
    if count < FEWEST:
        return Loss(sent, count, None)
    series = lost.astype(np.float64)
    mean = count / sent
    close = sum(float((series[lag:] * series[:-lag]).sum()) for lag in range(1, LAGS + 1))
    expected = LAGS * sent * mean * mean
    # The chance of n neighbours or more, Poisson with that mean: P(X >= n) = P(n, mean).
    chance = float(gammainc(close, expected)) if close > 0 else 1.0
    return Loss(sent, count, _moments(series, mean) if chance < SURE else None)


def _moments(series: NDArray[np.float64], mean: float) -> Bursts | None:
    """Gilbert-Elliott by mean and autocovariance.

    With h the loss in the bad state, B its share of the time and L = 1 - p - r, the mean is h B and
    the autocovariance at lag k is h^2 B (1 - B) L^k.
    """
    centred = series - mean
    n = len(series)
    covariance = [float((centred[lag:] * centred[:-lag]).sum()) / n for lag in range(1, LAGS + 1)]
    early, late = covariance[0] + covariance[1], covariance[1] + covariance[2]
    if early <= 0:
        return None
    stay = float(np.clip(late / early, 0.0, 0.999))
    if stay == 0.0 or covariance[0] <= 0:
        return None
    # Fitted to all three lags, weighted alike.
    powers = np.array([stay**lag for lag in range(1, LAGS + 1)])
    amplitude = float(np.dot(powers, covariance) / np.dot(powers, powers))
    share_bad = 1.0 / (1.0 + amplitude / mean**2)
    in_bad = mean / share_bad
    if in_bad > 1.0:
        in_bad, share_bad = 1.0, mean
    return Bursts((1.0 - stay) * share_bad, (1.0 - stay) * (1.0 - share_bad), in_bad)
