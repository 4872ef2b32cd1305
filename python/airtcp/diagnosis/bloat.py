"""Bufferbloat out of a file's figures: the round trip without load and under it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from airtcp.core.quantities import format_bit_rate
from airtcp.core.recordings.recording import DOWN, UP, Figures, Recording
from airtcp.diagnosis.latency import LARGE_RATIO, LARGE_S
from airtcp.diagnosis.seconds import seconds_words

SHAPED = 0.95
"""Share of the measured goodput to which a shaper before the queue is set: some 8 % below the link,
headers counted, so that packets wait in the shaper and not in the modem."""
_LOADS = {UP: ("An upload", "upload"), DOWN: ("A download", "download")}


@dataclass(frozen=True)
class Bloat:
    """A queue that is too long, in one direction; or in both, of traffic both ways at once."""

    direction: str | None
    idle_s: float
    loaded_s: float
    goodput_bps: float | None
    """The rate of that direction as the file counts it; None without one that is the link's."""

    @property
    def added_s(self) -> float:
        """The wait in the queue."""
        return self.loaded_s - self.idle_s

    @property
    def is_large(self) -> bool:
        """Whether people and protocols notice it, as of a capture's round trips."""
        return self.added_s >= LARGE_S and self.loaded_s >= LARGE_RATIO * self.idle_s

    @property
    def sentence(self) -> str:
        """The finding in words."""
        load, traffic = _LOADS.get(self.direction or "", ("Load", "link"))
        rate = "" if self.goodput_bps is None else f" of {format_bit_rate(self.goodput_bps)}"
        return (
            f"{load} raises the round trip from {seconds_words(self.idle_s)} to "
            f"{seconds_words(self.loaded_s)}: packets wait {seconds_words(self.added_s)} in the "
            f"queue of the {traffic}{rate} (bufferbloat)."
        )

    @property
    def shaped(self) -> str | None:
        """The remedy that shapes to just below the rate, by name; None without the rate."""
        if self.goodput_bps is None:
            return None
        return f"cake:rate={SHAPED * self.goodput_bps / 1e3:.0f}"


def bloats(recordings: Sequence[Recording]) -> list[Bloat]:
    """The queues that are too long, by decreasing wait.

    A file without round trips under load, or without a lower one to compare them with, has none.
    """
    found = [one for recording in recordings for one in _of(recording)]
    return sorted((one for one in found if one.is_large), key=lambda one: -one.added_s)


def _of(recording: Recording) -> Iterator[Bloat]:
    figures = recording.figures
    idle_s = _idle_s(figures)
    if idle_s is None:
        return
    goodput = {one.direction: one.counted_bps for one in recording.rates if one.is_links}
    by_direction = {UP: figures.loaded_up_rtt_s, DOWN: figures.loaded_down_rtt_s}
    for direction, loaded_s in by_direction.items():
        if loaded_s is not None:
            yield Bloat(direction, idle_s, loaded_s, goodput.get(direction))
    if figures.loaded_rtt_s is not None and not any(by_direction.values()):
        one_way = next(iter(goodput)) if len(goodput) == 1 else None
        rate = goodput.get(one_way) if one_way else None
        yield Bloat(one_way, idle_s, figures.loaded_rtt_s, rate)


def _idle_s(figures: Figures) -> float | None:
    """The round trip without load; else the least under load, which is at least as long."""
    if figures.idle_rtt_s is not None:
        return figures.idle_rtt_s
    return figures.least_loaded_rtt_s


def shaper_advice(bloat: Bloat, link: Path, settings: Mapping[str, object] | None) -> str | None:
    """A sentence on CAKE at the router before the queue, with its effect on two seeds of the link.

    Args:
        bloat: the queue.
        link: the scenario of the file's link, with data in the queue's direction.
        settings: of the scenario's keys.

    Returns:
        None without a rate to shape to, or where CAKE changes nothing.
    """
    from airtcp.comparison.calmest import LATENCY
    from airtcp.comparison.compare import run_comparison
    from airtcp.comparison.words import amount

    remedy = bloat.shaped
    if remedy is None:
        return None
    compared = run_comparison(link, (remedy,), seeds=2, settings=settings, metric=LATENCY)
    delay = compared.compared(LATENCY)[remedy]
    goodput = compared.compared("goodput")[remedy]
    if delay.mean >= 0:
        return None
    rate = remedy.removeprefix("cake:rate=") + "kbit"
    device = "an ifb device that gets what arrives" if bloat.direction == DOWN else "its WAN device"
    return (
        f"On the router before that queue, `tc qdisc replace dev DEV root cake bandwidth {rate}` "
        f"(DEV is {device}) changes the 95th percentile of the round trip by "
        f"{amount(delay, sign=True)} and goodput by {amount(goodput, sign=True)} over this link "
        "(n=2); lower the rate until the delay under load stays low."
    )
