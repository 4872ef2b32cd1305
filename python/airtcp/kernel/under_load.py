"""The kernel's measurements of probes under load, with the names and arithmetic of a run."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import cast

from airtcp.kernel.runs import Measurement
from airtcp.measure.responsiveness import foreign_rpm, rpm

FIELDS = (
    *("ping_p50_ms", "ping_p95_ms", "ping_p99_ms", "ping_lost"),
    *("exchange_p50_ms", "exchange_p95_ms", "exchange_p99_ms"),
    *("rpm_foreign", "rpm_own", "rpm"),
)
"""The fields of a run's `under_load` that kernel runs have, too."""


def probes_of(run: Measurement) -> dict[str, float | None] | None:
    """The probes' measurements in one run of the kernel; None if no probes ran."""
    probes = run.get("under_load")
    if probes is None:
        return None
    pings = probes["pings_ms"]
    answered = sorted(ping for ping in pings if ping is not None)
    exchanges = probes["exchanges"]
    whole = sorted(sum(one["parts_ms"]) for one in exchanges)
    tcp, tls, http = (
        [one["parts_ms"][part] for one in exchanges if len(one["parts_ms"]) > part]
        for part in range(3)
    )
    own_ms = run.get("own_rtt_ms")
    foreign = foreign_rpm(tcp, http, tls) if exchanges and tls else None
    own = 60_000 / own_ms if own_ms and exchanges else None
    return {
        "ping_p50_ms": _quantile(answered, 50),
        "ping_p95_ms": _quantile(answered, 95),
        "ping_p99_ms": _quantile(answered, 99),
        "ping_lost": 1 - len(answered) / len(pings) if pings else None,
        "exchange_p50_ms": _quantile(whole, 50),
        "exchange_p95_ms": _quantile(whole, 95),
        "exchange_p99_ms": _quantile(whole, 99),
        "rpm_foreign": foreign,
        "rpm_own": own,
        "rpm": rpm(foreign, own),
    }


def mean_of_probes(
    runs: Sequence[Measurement], simulated: Sequence[Mapping[str, object]], field: str
) -> tuple[float | None, float | None]:
    """The mean of a field over the kernel's runs, and over the simulated ones."""
    found = [probes_of(run) for run in runs]
    real = [one[field] for one in found if one is not None]
    theirs = [cast(Mapping[str, float | None], run["under_load"])[field] for run in simulated]
    return _mean(real), _mean(theirs)


def has_probes(runs: Sequence[Measurement]) -> bool:
    """Whether probes ran under load in these runs."""
    return any(run.get("under_load") is not None for run in runs)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _quantile(ascending: Sequence[float], percent: int) -> float | None:
    """By nearest rank, as in `airtcp run`."""
    rank = -(-len(ascending) * percent // 100)
    return ascending[rank - 1] if rank else None
