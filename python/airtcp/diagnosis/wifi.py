"""A Wi-Fi link that aggregates, as keys of a scenario.

A capture away from the radio only shows when aggregates arrived: a mode of half the rate, one frame
in ten damaged and another station on the channel give the same bytes a second. So a link is
identified by its delivery, and by the length and frequency of its bursts.
"""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from airtcp.diagnosis import bounds

DATA_SUBCARRIERS = {
    "802.11n": {20: 52, 40: 108},
    "802.11ac": {20: 52, 40: 108, 80: 234, 160: 468},
    "802.11ax": {20: 234, 40: 468, 80: 980, 160: 1960},
}
"""Data subcarriers by channel width in MHz (IEEE 802.11 tables 19-6, 21-5 and 27-13)."""
BITS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 4.5, 5.0, 6.0, 20 / 3, 7.5, 25 / 3)
"""Data bits per subcarrier and stream by modulation and coding scheme (ibid. §§19.5, 21.5, 27.5).
"""
SYMBOL_US = {"802.11n": 4.0, "802.11ac": 4.0, "802.11ax": 13.6}
"""With a guard interval of 800 ns."""
GUARD = "800 ns"
AIR_S = 0.4e-3
"""The radio's part of the minimum round trip: a single frame each way, with its ACK."""
PACING_SHIFT = 7
"""A Linux sender on Wi-Fi paces in bursts of 8 ms, as mac80211 requests."""
FAST_BPS = 500e6
"""Rate above which a wired link of 1 Gbit/s beyond the radio would sometimes be the bottleneck."""


@dataclass(frozen=True)
class Mode:
    """A modulation mode."""

    standard: str
    width_mhz: int
    streams: int
    mcs: int

    @property
    def bps(self) -> float:
        """Bits a second while a frame's data is on the air."""
        bits = DATA_SUBCARRIERS[self.standard][self.width_mhz] * BITS[self.mcs] * self.streams
        return 1e6 * bits / SYMBOL_US[self.standard]

    @property
    def words(self) -> str:
        """Approximately as drivers print it."""
        streams = "stream" if self.streams == 1 else "streams"
        return (
            f"{self.standard}, {self.bps / 1e6:.0f} Mbit/s ({self.width_mhz} MHz, {self.streams} "
            f"{streams}, MCS {self.mcs})"
        )

    def lines(self) -> list[str]:
        """Keys of `[wlan]`."""
        return [
            f'standard = "{self.standard}"',
            f'channel_width = "{self.width_mhz} MHz"',
            f"spatial_streams = {self.streams}",
            f"mcs = {self.mcs}",
            f'guard_interval = "{GUARD}"',
        ]


def _ladder() -> Iterator[Mode]:
    """Modes of real devices, each some tenths faster than the previous one."""
    yield from (Mode("802.11n", 20, 1, mcs) for mcs in (0, 1, 2, 3, 4, 5, 7))
    yield from (Mode("802.11n", 20, 2, mcs) for mcs in (4, 5, 6, 7))
    yield from (Mode("802.11n", 40, 2, mcs) for mcs in (4, 5, 7))
    yield from (Mode("802.11ac", 80, 2, mcs) for mcs in (4, 5, 7, 9))
    yield from (Mode("802.11ax", 80, 2, mcs) for mcs in (9, 11))
    yield from (Mode("802.11ax", 160, 2, mcs) for mcs in (7, 9, 11))


LADDER = tuple(sorted(_ladder(), key=lambda mode: mode.bps))
"""By rate. A rate is represented by the slowest standard that has it."""


def mode_near(bps: float) -> int:
    """The index in `LADDER` of the slowest mode with that rate, or of the fastest mode."""
    return min(bisect_left([mode.bps for mode in LADDER], bps), len(LADDER) - 1)


@dataclass(frozen=True)
class Wifi:
    """A station, the access point and the other stations on the channel."""

    mode: Mode
    damaged: float
    """Share of the frames of an aggregate that are damaged."""
    others: int
    """Number of other stations, each with a transfer in the same direction."""
    is_download: bool
    wired_delay_s: float
    """One-way delay of the wired path beyond the access point."""
    fifo_packets: int | None = None
    """Packets in a single shared queue, as in drivers without Linux's per-station queues; None for
    per-station queues.
    """

    def lines(self) -> list[str]:
        """The tables of the channel and of the wired path."""
        queue = (
            []
            if self.fifo_packets is None
            else [
                'scheduler = "fifo"',
                f"queue = {{ packets = {bounds.packets(self.fifo_packets)} }}",
            ]
        )
        damaged = [f"loss = {{ rate = {self.damaged:.4f} }}"] if self.damaged > 0 else []
        rate = "10 Gbit/s" if self.mode.bps > FAST_BPS else "1 Gbit/s"
        return [
            "[wlan]",
            *self.mode.lines(),
            *queue,
            *damaged,
            "",
            "[wired]",
            f'rate = "{rate}"',
            f'delay = "{bounds.delay(self.wired_delay_s)}"',
            "",
        ]

    def flow_lines(self) -> list[str]:
        """Keys of `[flows]` for the flow and the other stations' flows, which no remedy changes."""
        direction = "down" if self.is_download else "up"
        lines = [f"count = {1 + self.others}", f'direction = "{direction}"']
        return [*lines, f"unchanged = {self.others}"] if self.others else lines

    @property
    def words(self) -> str:
        """The fitted parameters, as part of a sentence."""
        parts = [f"a Wi-Fi link that aggregates, as {self.mode.words}"]
        if self.damaged > 0:
            parts.append(f"{100 * self.damaged:.0f} % of its frames damaged")
        if self.others:
            stations = "station" if self.others == 1 else "stations"
            parts.append(f"{self.others} more {stations} on the channel")
        parts.append("data to the station" if self.is_download else "data from the station")
        if self.fifo_packets is not None:
            parts.append(f"one queue of {self.fifo_packets} packets for all")
        return ", ".join(parts)
