"""Logs of ping over links whose every fault is known, written as iputils writes them with -D."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from random import Random

Span = tuple[float, float]
"""Begin and length, in seconds."""


@dataclass(frozen=True)
class PingedLink:
    """A link as a ping meets it: everything a function of the time at which a probe is sent."""

    delay: Callable[[float, Random], float] = lambda _at, random: 0.02 + 0.002 * random.random()
    stops: tuple[Span, ...] = ()
    """Probes or replies meanwhile wait for the end."""
    gaps: tuple[Span, ...] = ()
    """Probes sent meanwhile are lost."""
    loss: float = 0.0

    def log(self, seconds: float, interval: float = 0.2, seed: int = 1) -> str:
        """The output of `ping -D`, with answers in the order in which they come."""
        random = Random(seed)
        replies = []
        count = round(seconds / interval)
        for number in range(count):
            sent = number * interval
            rtt = self.delay(sent, random)
            if random.random() < self.loss or _in(self.gaps, sent):
                continue
            stop = _in(self.stops, sent) or _in(self.stops, sent + rtt)
            if stop:
                rtt = max(rtt, sum(stop) - sent + 0.001)
            replies.append((sent + rtt, number + 1, rtt))
        replies.sort()
        lines = ["PING 192.0.2.1 (192.0.2.1) 1472(1500) bytes of data."]
        lines += [
            f"[{1_700_000_000 + came:.6f}] 1480 bytes from 192.0.2.1: icmp_seq={number} ttl=55 "
            f"time={_time(1e3 * rtt)} ms"
            for came, number, rtt in replies
        ]
        lost = 100 * (1 - len(replies) / count)
        lines += [
            "",
            "--- 192.0.2.1 ping statistics ---",
            f"{count} packets transmitted, {len(replies)} received, {lost:g}% packet loss, "
            f"time {1e3 * (count - 1) * interval:.0f}ms",
        ]
        return "\n".join(lines) + "\n"

    def write(self, path: Path, seconds: float, interval: float = 0.2, seed: int = 1) -> Path:
        """The log in a file."""
        path.write_text(self.log(seconds, interval, seed))
        return path


def _time(ms: float) -> str:
    """As iputils writes it: three digits, from 100 ms on whole milliseconds."""
    decimals = 3 if ms < 1 else 2 if ms < 10 else 1 if ms < 100 else 0
    return f"{ms:.{decimals}f}"


def _in(spans: Iterable[Span], at: float) -> Span | None:
    return next((span for span in spans if span[0] <= at < sum(span)), None)


def regular(every: float, length: float, seconds: float, first: float | None = None) -> list[Span]:
    """Spans at regular times."""
    begins, at = [], every if first is None else first
    while at < seconds:
        begins.append((at, length))
        at += every
    return begins


def at_random(every: float, length: float, seconds: float, seed: int = 3) -> list[Span]:
    """Spans at random times, with exponential times between them."""
    random, at, spans = Random(seed), 0.0, []
    while (at := at + random.expovariate(1 / every)) < seconds:
        spans.append((at, length))
        at += length
    return spans
