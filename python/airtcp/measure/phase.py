"""One phase of a measurement: the link idle, or loaded in one direction."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from airtcp.measure.bounds import Budget, now
from airtcp.measure.load import Way
from airtcp.measure.probes import Samples
from airtcp.measure.responsiveness import (
    INTERVAL_S,
    INTERVALS,
    MAX_CONNECTIONS,
    foreign_rpm,
    is_stable,
    own_rpm,
    rpm,
)
from airtcp.measure.source import RunningLoad, Source

Tell = Callable[[float, str], object]
"""Called with the finished share of the phase and a few words."""


@dataclass(frozen=True)
class Times:
    """Quantiles of times in milliseconds; None without any."""

    count: int
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    min_ms: float | None


@dataclass(frozen=True)
class Phase:
    """Results of a phase."""

    way: str
    """"idle", "down" or "up"."""
    seconds: float
    ping: Times
    ping_lost: float | None
    handshake: Times
    exchange: Times
    failed: int
    goodput_bps: float | None = None
    """Goodput over the intervals that count; None without load."""
    connections: int = 0
    own: Times | None = None
    """Times of requests multiplexed with the load."""
    rpm_foreign: float | None = None
    rpm_own: float | None = None
    rpm: float | None = None
    confidence: str | None = None
    """"high" if goodput and responsiveness were stable, "medium" if they were not, "low" if there
    was too little time to decide (draft-ietf-ippm-responsiveness).
    """

    probes: tuple[tuple[float, float | None], ...] = ()
    """Time of each ping, in seconds since the first, and its round trip in milliseconds; None
    without an answer.
    """

    def as_json(self) -> dict[str, object]:
        """All fields except the individual probes."""
        found = asdict(self)
        del found["probes"]
        return found


def times(values: Sequence[float]) -> Times:
    """The quantiles of some times (nearest rank)."""
    ordered = sorted(values)

    def rank(percent: int) -> float | None:
        return ordered[-(-len(ordered) * percent // 100) - 1] if ordered else None

    return Times(len(ordered), rank(50), rank(95), rank(99), ordered[0] if ordered else None)


def idle(source: Source, budget: Budget, seconds: float, tell: Tell) -> Phase:
    """Measures the idle link with probes."""
    begun = now()
    probes = source.probes(budget)
    try:
        while (passed := now() - begun) < seconds:
            tell(passed / seconds, "idle")
            if budget.wait(min(0.1, seconds - passed)):
                break
        ended = now()
    finally:
        probes.end()
    return _of_samples("idle", ended - begun, probes.samples, since=begun)


def loaded(source: Source, way: Way, budget: Budget, seconds: float, tell: Tell) -> Phase:
    """Fills the link in one direction.

    Adds a connection each second until goodput is stable, then until responsiveness is, or the time
    is over.

    Raises:
        OSError: a connection of the load failed, or no connection could be opened.
    """
    begun = now()
    load, probes = source.load(way, budget, seconds), source.probes(budget)
    goodputs: list[float] = []
    responsiveness: list[float] = []
    saturated_at: float | None = None
    is_sure = False
    counted, counted_at = 0, begun
    try:
        load.add()
        begun_connections = 1
        while (passed := now() - begun) < seconds and not is_sure:
            tell(passed / seconds, _words(way, load, goodputs))
            if budget.wait(min(0.1, seconds - passed)):
                break
            if load.error is not None:
                raise load.error
            if now() - counted_at < INTERVAL_S:
                continue
            total, at = load.delivered, now()
            goodputs.append(8 * (total - counted) / (at - counted_at))
            counted, counted_at = total, at
            if saturated_at is None:
                if is_stable(goodputs):
                    saturated_at = at
                elif begun_connections < MAX_CONNECTIONS:
                    load.add()
                    begun_connections += 1
            else:
                found = _rpm(probes.samples, load, at - INTERVALS * INTERVAL_S, at)
                responsiveness.append(found[2] or 0.0)
                is_sure = is_stable(responsiveness)
        if not load.connections and not budget.stopped.is_set():
            raise TimeoutError("timed out")
        ended, total = now(), load.delivered
        # Only the last intervals count: earlier ones show the load's growth.
        since = max(begun, ended - INTERVALS * INTERVAL_S)
        if saturated_at is not None:
            since = min(since, saturated_at)
        # Before the load ends, and its unanswered requests with it.
        foreign, own, both = _rpm(probes.samples, load, since, ended)
    finally:
        load.end()
        probes.end()
    probed = _of_samples(way.value, ended - begun, probes.samples, since)
    counting = goodputs[-max(INTERVALS, round(ended - since)) :]
    confidence = "low" if len(goodputs) < INTERVALS else "high" if is_sure else "medium"
    whole = 8 * total / (ended - begun) if ended > begun else 0.0
    return Phase(
        **{
            **probed.__dict__,
            "goodput_bps": sum(counting) / len(counting) if counting else whole,
            "connections": load.connections,
            "own": times([took for at, took in load.round_trips if at >= since]),
            "rpm_foreign": foreign,
            "rpm_own": own,
            "rpm": both,
            "confidence": confidence,
        }
    )


def _words(way: Way, load: RunningLoad, goodputs: Sequence[float]) -> str:
    rate = f", {goodputs[-1] / 1e6:.1f} Mbit/s" if goodputs else ""
    return f"loaded {way}, {load.connections} connections{rate}"


def _rpm(
    samples: Samples, load: RunningLoad, since: float, at: float
) -> tuple[float | None, float | None, float | None]:
    opening, asking = samples.opening_since, samples.asking_since
    foreign = foreign_rpm(
        counting(samples.handshakes, [opening] if opening else [], since, at),
        counting(samples.exchanges, [asking] if asking else [], since, at),
        counting(samples.tls, [], since, at),
    )
    own = own_rpm(counting(load.round_trips, load.waiting, since, at))
    return foreign, own, rpm(foreign, own)


def counting(
    found: Sequence[tuple[float, float]], waiting: Sequence[float], since: float, at: float
) -> list[float]:
    """Times of requests answered between two times, and of unanswered ones that have waited longer.

    Without the latter a link would be the more responsive the more of its answers never come.
    """
    answered = [took for begun, took in list(found) if since <= begun + took / 1e3 <= at]
    longest = max(answered, default=0.0)
    ages = [1e3 * (at - begun) for begun in waiting]
    return answered + [age for age in ages if age > longest]


def _after(found: Sequence[tuple[float, float]], since: float) -> list[float]:
    return [took for at, took in list(found) if at >= since]


def _of_samples(way: str, seconds: float, samples: Samples, since: float) -> Phase:
    answers = dict(samples.pings)
    sent = list(samples.pings_sent)
    return Phase(
        way,
        seconds,
        times(_after(samples.pings, since)),
        1 - len(answers) / len(sent) if sent else None,
        times(_after(samples.handshakes, since)),
        times(_after(samples.exchanges, since)),
        samples.failed,
        probes=tuple((left - sent[0], answers.get(left)) for left in sent),
    )
