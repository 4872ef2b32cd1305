"""Responsiveness in round trips a minute (draft-ietf-ippm-responsiveness, with and without TLS).

`crates/sim/src/result/responsiveness.rs` has the same arithmetic for simulated links, with TLS.
"""

from collections.abc import Sequence
from statistics import fmean, pstdev

KEPT = 0.95
"""TMP: the share of the samples that the trimmed mean keeps."""
INTERVALS = 4
"""MAD: number of intervals of a moving average, and of moving averages that have to agree."""
INTERVAL_S = 1.0
"""ID."""
TOLERANCE = 0.05
"""SDT: maximum difference of the moving averages."""
MAX_CONNECTIONS = 16
"""MNP: maximum number of connections of the load."""


def trimmed_mean(values: Sequence[float]) -> float | None:
    """The mean of the lowest 95 % (nearest rank); None without any."""
    kept = -(-len(values) * 95 // 100)
    return fmean(sorted(values)[:kept]) if kept else None


def foreign_rpm(
    tcp_ms: Sequence[float], http_ms: Sequence[float], tls_ms: Sequence[float] = ()
) -> float | None:
    """Responsiveness on connections other than the load's: handshakes and exchanges weigh alike.

    Args:
        tcp_ms: times of TCP's handshakes.
        http_ms: times of exchanges.
        tls_ms: times of a round trip of TLS's handshakes; empty without TLS.
    """
    means = [trimmed_mean(tcp_ms), trimmed_mean(http_ms)]
    if tls_ms:
        means.append(trimmed_mean(tls_ms))
    known = [mean for mean in means if mean is not None]
    if len(known) < len(means):
        return None
    return 60_000 / max(fmean(known), 1e-6)


def own_rpm(http_ms: Sequence[float]) -> float | None:
    """Responsiveness on the load's connections."""
    http = trimmed_mean(http_ms)
    return None if http is None else 60_000 / max(http, 1e-6)


def rpm(foreign: float | None, own: float | None) -> float | None:
    """The mean of both."""
    return None if foreign is None or own is None else (foreign + own) / 2


def is_stable(series: Sequence[float]) -> bool:
    """Whether the last moving averages of a series differ by the tolerance at most."""
    if len(series) < 2 * INTERVALS - 1:
        return False
    averages = [
        fmean(series[end - INTERVALS : end])
        for end in range(len(series) - INTERVALS + 1, len(series) + 1)
    ]
    return averages[-1] > 0 and pstdev(averages) <= TOLERANCE * averages[-1]
