"""Losses not caused by a full queue: random, or in bursts."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from airtcp._core import beta_quantile, gamma_share
from airtcp.diagnosis.observed import Flags, Observed

LAGS = 3
SURE = 0.001
"""Maximum probability of as many close losses by chance, for losses to count as bursts."""
FEWEST = 10
"""Minimum number of losses for a search for bursts."""


@dataclass(frozen=True)
class Bursts:
    """A Gilbert-Elliott channel without losses in its good state: probabilities per packet."""

    good_to_bad: float
    bad_to_good: float
    loss_in_bad: float

    @property
    def inflation(self) -> float:
        """Variance of the mean, relative to that of independent losses of the same rate."""
        leaving = self.good_to_bad + self.bad_to_good
        share_bad = self.good_to_bad / leaving if leaving > 0 else 0.0
        mean = self.loss_in_bad * share_bad
        if not 0.0 < mean < 1.0:
            # What never or always comes does not vary.
            return 1.0
        # The autocovariance at lag k, summed over all k.
        at_lags = self.loss_in_bad**2 * share_bad * (1.0 - share_bad) * (1.0 - leaving) / leaving
        return 1.0 + 2.0 * max(0.0, at_lags) / (mean * (1.0 - mean))


@dataclass(frozen=True)
class Loss:
    """Losses of the link among all packets sent over it."""

    sent: int
    lost: int
    bursts: Bursts | None
    """None if losses are independent, as far as they show."""

    @property
    def rate(self) -> float:
        """Probability that a packet is lost."""
        return self.lost / self.sent if self.sent else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the rate (Clopper and Pearson 1934).

        Losses in bursts carry less information than the same number of independent ones: they count
        as those of fewer packets, such that independent losses would vary as much (Korn and
        Graubard 1998).
        """
        if not self.sent:
            return 0.0, 1.0
        sent = self.sent if self.bursts is None else self.sent / self.bursts.inflation
        lost = self.rate * sent
        low = beta_quantile(lost, sent - lost + 1, 0.025) if lost else 0.0
        high = beta_quantile(lost + 1, sent - lost, 0.975) if lost < sent else 1.0
        return low, high


def fitted_loss(flow: Observed) -> Loss:
    """The loss process of a flow, from packets sent while the queue was not full.

    Losses at a full queue are all attributed to the queue, the link's included: counting the
    delivered packets there would make the link seem better than it is.
    """
    return loss_of(flow.lost[flow.shows_link])


def loss_of(lost: Flags) -> Loss:
    """The loss process of a series of packets."""
    sent, count = len(lost), int(lost.sum())
    if count < FEWEST:
        return Loss(sent, count, None)
    series = lost.astype(np.float64)
    mean = count / sent
    close = sum(float((series[lag:] * series[:-lag]).sum()) for lag in range(1, LAGS + 1))
    expected = LAGS * sent * mean * mean
    # Probability of n neighbours or more, Poisson with that mean: P(X >= n) = P(n, mean).
    chance = gamma_share(close, expected) if close > 0 else 1.0
    return Loss(sent, count, _moments(series, mean) if chance < SURE else None)


def _moments(series: NDArray[np.float64], mean: float) -> Bursts | None:
    """Fits Gilbert-Elliott by mean and autocovariance.

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
    # Fitted to all three lags, with equal weights.
    powers = np.array([stay**lag for lag in range(1, LAGS + 1)])
    amplitude = float(np.dot(powers, covariance) / np.dot(powers, powers))
    share_bad = 1.0 / (1.0 + amplitude / mean**2)
    in_bad = mean / share_bad
    if in_bad > 1.0:
        in_bad, share_bad = 1.0, mean
    return Bursts((1.0 - stay) * share_bad, (1.0 - stay) * (1.0 - share_bad), in_bad)
