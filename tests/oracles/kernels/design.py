"""The settings at which kernels and simulation are compared, by a design.

Each factor takes each of its levels equally often, in an order independent of the other factors'.
No setting was chosen by hand, and none was taken out.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

Level = TypeVar("Level")

COUNT = 300
SEEDS = (1, 2)

_PROFILES = {"cubic": "linux", "reno": "linux-reno", "bbr": "linux-bbr"}
_PACKET_BYTES = 1500

_CONTROLS = ("cubic", "reno", "bbr")
_RATES_MBPS = (1, 2, 5, 10, 20)
_ROUND_TRIPS_MS = (10, 30, 60, 100, 200, 300)
_LOSSES = (0.0, 0.001, 0.005, 0.01, 0.02, 0.05)
_QUEUES_BDP = (0.25, 0.5, 1.0, 2.0, 4.0)
_DISCIPLINES = ("drop-tail",) * 7 + ("codel",) * 2 + ("fq-codel",)
_OPTIONS = ("sack, timestamps",) * 5 + ("timestamps",) * 2 + ("sack",) * 2 + ("neither",)
_DELAYS = ("steady",) * 6 + ("spikes",) * 2 + ("jitter", "reordering")
_SECONDS = (1, 2, 4)
_MIN_ROUND_TRIPS = 6
"""A transfer lasts at least so many round trips."""


@dataclass(frozen=True)
class Setting:
    """One setting: the levels of its factors."""

    number: int
    control: str
    rate_mbps: int
    round_trip_ms: int
    loss: float
    queue_packets: int
    discipline: str
    options: str
    delay: str
    seconds: float

    @property
    def words(self) -> str:
        """The setting in a line."""
        return (
            f"{self.number}: {self.control}, {self.rate_mbps} Mbit/s, {self.round_trip_ms} ms, "
            f"{100 * self.loss:g} % loss, {self.discipline} of {self.queue_packets}, "
            f"{self.options}, {self.delay} delay, {self.seconds:g} s"
        )

    @property
    def settings(self) -> dict[str, object]:
        """The setting as keys of scenarios/lossy-pipe.toml."""
        has_sack = self.options.startswith("sack")
        has_timestamps = self.options.endswith("timestamps")
        found: dict[str, object] = {
            "duration": f"{self.seconds * 1000:.0f} ms",
            "link.rate": f"{self.rate_mbps} Mbit/s",
            "link.delay": f"{self.round_trip_ms / 2:g} ms",
            "link.loss.rate": self.loss,
            "link.queue.packets": self.queue_packets,
            "tcp.profile": _PROFILES[self.control],
            "tcp.max_window": "unlimited",
            "tcp.sack": has_sack,
            "tcp.timestamps": has_timestamps,
            "tcp.mss": 1448 if has_timestamps else 1460,
        }
        if not has_sack:
            found["tcp.dsack"] = False
        if self.discipline != "drop-tail":
            found["link.aqm.discipline"] = self.discipline
        if self.delay == "spikes":
            # A receiver that sleeps: packets due meanwhile arrive all at once.
            found["link.stops.process"] = "periodic"
            found["link.stops.every"] = "900 ms"
            found["link.stops.length"] = "250 ms"
            found["link.stops.packets"] = "held"
        elif self.delay == "jitter":
            found["link.jitter.mean"] = f"{self.round_trip_ms / 20:g} ms"
            found["link.jitter.shape"] = "exponential"
        elif self.delay == "reordering":
            found["link.late.share"] = 0.01
            found["link.late.by"] = f"{self.round_trip_ms / 5:g} ms"
        return found


def settings() -> list[Setting]:
    """All settings, in the order in which they are run."""
    controls = _spread("control", _CONTROLS)
    rates = _spread("rate", _RATES_MBPS)
    round_trips = _spread("round trip", _ROUND_TRIPS_MS)
    losses = _spread("loss", _LOSSES)
    queues = _spread("queue", _QUEUES_BDP)
    disciplines = _spread("discipline", _DISCIPLINES)
    options = _spread("options", _OPTIONS)
    delays = _spread("delay", _DELAYS)
    seconds = _spread("seconds", _SECONDS)
    found = []
    for number in range(COUNT):
        rate, round_trip = rates[number], round_trips[number]
        bdp_packets = rate * 1e6 * round_trip / 1e3 / 8 / _PACKET_BYTES
        found.append(
            Setting(
                number=number,
                control=controls[number],
                rate_mbps=rate,
                round_trip_ms=round_trip,
                loss=losses[number],
                queue_packets=max(4, round(queues[number] * bdp_packets)),
                discipline=disciplines[number],
                options=options[number],
                delay=delays[number],
                seconds=max(seconds[number], _MIN_ROUND_TRIPS * round_trip / 1e3),
            )
        )
    return found


def _spread(factor: str, levels: Sequence[Level]) -> list[Level]:
    """A level for each setting: each equally often, in an order drawn from the factor's name."""
    order = sorted(range(COUNT), key=lambda number: _drawn(f"{factor} {number}"))
    found = [levels[0]] * COUNT
    for place, number in enumerate(order):
        found[number] = levels[place * len(levels) // COUNT]
    return found


def _drawn(words: str) -> bytes:
    return hashlib.sha256(words.encode()).digest()
