"""A radio's counters: the output of `iw dev wlan0 station dump` or `link`, without a monitor.

A driver counts sent, retried and failed packets of each station since it associated. It knows
nothing of TCP, and drivers differ in whether an aggregate counts as one. `link` has no counters of
retries and failures.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from airtcp._core import ScenarioError
from airtcp.core.quantities import format_bytes, format_count, format_percent

FEWEST_PACKETS = 1000
"""Minimum number of packets for a share of failures."""
LOSSY = 0.001
"""Minimum share of failed packets that TCP notices as losses."""
BUSY = 0.3
"""Minimum retries per packet that use much airtime, and delay queued packets."""
WEAK_DBM = -74
"""Below it a receiver need not decode 16-QAM in 20 MHz (IEEE 802.11-2020, table 19-23)."""
_BEGINS = re.compile(r"^(?:Station|Connected to) ([0-9a-f:]{17}) \(on ([^)]+)\)", re.MULTILINE)
_MOVED = re.compile(r"^(\d+) bytes \((\d+) packets\)")


@dataclass(frozen=True)
class Station:
    """One station's counters; None if its driver does not print them."""

    address: str
    device: str
    sent_packets: int | None
    sent_bytes: int | None
    received_bytes: int | None
    retries: int | None
    failed: int | None
    """Packets dropped after the last retry."""
    signal_dbm: int | None
    sent_at: str | None
    """The rate and mode of the last transmission, in the driver's notation."""
    received_at: str | None
    connected_s: int | None

    @property
    def failed_share(self) -> float | None:
        """Share of the packets that were dropped; None with too few packets."""
        if self.failed is None or not self.sent_packets or self.sent_packets < FEWEST_PACKETS:
            return None
        return self.failed / self.sent_packets

    @property
    def retries_a_packet(self) -> float | None:
        """Transmissions beyond the first; None with too few packets."""
        if self.retries is None or not self.sent_packets or self.sent_packets < FEWEST_PACKETS:
            return None
        return self.retries / self.sent_packets

    @property
    def is_weak(self) -> bool:
        """Whether its signal allows the slowest modes only."""
        return self.signal_dbm is not None and self.signal_dbm < WEAK_DBM

    @property
    def sentences(self) -> list[str]:
        """Exactly the facts that the counters show."""
        signal = "" if self.signal_dbm is None else f", signal {self.signal_dbm} dBm"
        rates = [
            f"{way} at {rate}"
            for way, rate in (("sent to", self.sent_at), ("received from", self.received_at))
            if rate
        ]
        since = "" if self.connected_s is None else f" in {self.connected_s} s"
        sent, received = format_bytes(self.sent_bytes or 0), format_bytes(self.received_bytes or 0)
        moved = f"{sent} to it and {received} from it{since}"
        lines = [f"{self.address} on {self.device}{signal}: {moved}{'; ' if rates else ''}"]
        lines[0] += f"{', '.join(rates)}."
        if self.is_weak:
            lines.append(
                f"At {self.signal_dbm} dBm a receiver has to decode BPSK and QPSK only: come "
                "nearer, move the access point, or take one more."
            )
        failed, retries = self.failed_share, self.retries_a_packet
        if failed is None and retries is None:
            lines.append("Too few packets, or too few counters, to judge its radio.")
            return lines
        if failed is not None:
            share = format_percent(100 * failed, decimals=2)
            seen = (
                "TCP sees these as losses"
                if failed > LOSSY
                else "further losses of TCP happened elsewhere, or in the other direction"
            )
            packets = format_count(self.sent_packets or 0)
            lines.append(
                f"{format_count(self.failed or 0)} of {packets} packets to it were given up after "
                f"all retries ({share}): {seen}."
            )
        if retries is not None and retries > BUSY:
            lines.append(
                f"{retries:.2f} retries a packet: they take airtime from all stations, and "
                "delay queued packets."
            )
        return lines


@dataclass(frozen=True)
class Stations:
    """The stations of a device."""

    stations: tuple[Station, ...]

    @property
    def headline(self) -> str:
        """The one-sentence answer."""
        told = [one for one in self.stations if one.failed_share is not None]
        lossy = [one for one in told if (one.failed_share or 0.0) > LOSSY]
        if not told and (weak := _weakest(self.stations)):
            return (
                f"The signal of {weak.address} is weak ({weak.signal_dbm} dBm), so that the radio "
                "is slow; its losses are not counted, or of too few packets."
            )
        if all(one.failed is None and one.retries is None for one in self.stations):
            device = self.stations[0].device
            return (
                "There are no counters of retries and losses here: "
                f"iw dev {device} station dump > stations.txt."
            )
        if not told:
            return "Too few packets were sent to any station to judge its radio."
        if not lossy:
            return (
                f"{_without_losses(told)}: losses happen elsewhere, or in the direction towards it."
            )
        worst = max(lossy, key=lambda one: one.failed_share or 0.0)
        share = format_percent(100 * (worst.failed_share or 0.0), decimals=2)
        seen = f"The radio to {worst.address} gives up {share} of its packets, which TCP sees lost"
        return (
            f"{seen}; its signal is weak ({worst.signal_dbm} dBm)." if worst.is_weak else f"{seen}."
        )

    @property
    def sentences(self) -> list[str]:
        """The whole answer, the headline first."""
        lines = [self.headline]
        for one in self.stations:
            lines += one.sentences
        lines.append(
            "These counters run since each station associated, and cover only the direction to "
            "it; drivers differ in whether an aggregate counts as one packet. No remedy is ranked "
            "from them: capture the transfer (`airtcp diagnose --advise`)."
        )
        return lines


def _without_losses(stations: Sequence[Station]) -> str:
    """What else slows radios that gave up hardly any packet: retries, or a weak signal."""
    hardly = "gave up hardly any packet"
    busiest = max(stations, key=lambda one: one.retries_a_packet or 0.0)
    retries = busiest.retries_a_packet or 0.0
    if retries > BUSY:
        delayed = f"needs {retries:.2f} retries a packet, which delay those queued"
        return f"The radio to {busiest.address} {delayed}, but {hardly}"
    if weakest := _weakest(stations):
        signal = f"The signal of {weakest.address} is weak ({weakest.signal_dbm} dBm)"
        return f"{signal} and its radio slow, but it {hardly}"
    return f"The radio {hardly}"


def _weakest(stations: Sequence[Station]) -> Station | None:
    """The station with the weakest of weak signals."""
    weak = (one for one in stations if one.is_weak)
    return min(weak, key=lambda one: one.signal_dbm or 0, default=None)


def is_station_dump(text: str) -> bool:
    """Whether a text begins like the output of `iw dev DEV station dump` or `link`."""
    return _BEGINS.match(text.lstrip()) is not None


def parsed(text: str, source: str) -> Stations:
    """The stations of a dump.

    Raises:
        ScenarioError: it holds no station.
    """
    found = tuple(_stations(text))
    if not found:
        raise ScenarioError(f"{source}: holds no station: expected `iw dev wlan0 station dump`")
    return Stations(found)


def _stations(text: str) -> Iterator[Station]:
    begins = list(_BEGINS.finditer(text))
    for place, begin in enumerate(begins):
        end = begins[place + 1].start() if place + 1 < len(begins) else len(text)
        lines = (line.split(":", 1) for line in text[begin.end() : end].splitlines() if ":" in line)
        keys = {key.strip(): value.strip() for key, value in lines}
        # In the output of `link`, a line for each direction.
        for way in ("rx", "tx"):
            if moved := _MOVED.match(keys.get(way.upper(), "")):
                keys |= {f"{way} bytes": moved[1], f"{way} packets": moved[2]}

        def whole(key: str, keys: dict[str, str] = keys) -> int | None:
            number = re.match(r"-?\d+", keys.get(key, ""))
            return int(number[0]) if number else None

        yield Station(
            address=begin[1],
            device=begin[2],
            sent_packets=whole("tx packets"),
            sent_bytes=whole("tx bytes"),
            received_bytes=whole("rx bytes"),
            retries=whole("tx retries"),
            failed=whole("tx failed"),
            signal_dbm=whole("signal"),
            sent_at=keys.get("tx bitrate") or None,
            received_at=keys.get("rx bitrate") or None,
            connected_s=whole("connected time"),
        )
