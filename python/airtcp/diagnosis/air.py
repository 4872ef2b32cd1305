"""Airtime of a channel from a monitor capture: by transmitter, with rates and retries."""

from dataclasses import dataclass
from pathlib import Path

from airtcp import _core
from airtcp.core.quantities import format_bit_rate, format_bytes, format_count, format_percent

MIN_AIRTIME = 0.001
"""Minimum share of the airtime for a pair to be listed separately."""
MAX_LINES = 8
MIN_SHARE_OF_SLOW = 0.3
SLOW = 0.3
"""Maximum rate, relative to the mean, of a slow station; with much airtime it slows all others."""


@dataclass(frozen=True)
class AirPair:
    """Frames of one transmitter to one receiver."""

    transmitter: str
    receiver: str
    frames: int
    data_frames: int
    retries: int
    data_bytes: int
    ppdus: int
    airtime_s: float
    unknown: int
    """Frames with a header that does not give their duration."""
    mean_rate_bps: float | None
    """Mean data rate, weighted by bytes."""
    fastest_bps: float | None
    standard: str | None
    signal_dbm: float | None
    """Signal at the monitor."""

    @property
    def retry_share(self) -> float:
        """Share of its data frames that are retries."""
        return self.retries / self.data_frames if self.data_frames else 0.0

    @property
    def frames_a_ppdu(self) -> float:
        """Data frames per transmission: above one if it aggregates."""
        return self.frames / self.ppdus if self.ppdus else 0.0


@dataclass(frozen=True)
class Air:
    """Airtime on a channel."""

    pairs: tuple[AirPair, ...]
    """Pairs that carry data, by airtime."""
    length_s: float
    rest_s: float
    """Airtime of everything else: ACKs, beacons and other management."""
    damaged: int

    @property
    def busy_s(self) -> float:
        """Airtime of all captured frames."""
        return self.rest_s + sum(one.airtime_s for one in self.pairs)

    def share(self, pair: AirPair) -> float:
        """A pair's share of the airtime."""
        return pair.airtime_s / self.busy_s if self.busy_s > 0 else 0.0

    @property
    def sentences(self) -> list[str]:
        """Airtime by transmitter, largest first."""
        if not self.pairs or self.length_s <= 0:
            return []
        frames = sum(one.data_frames for one in self.pairs)
        retries = sum(one.retries for one in self.pairs)
        lines = [
            f"On the air for {_percent(self.busy_s / self.length_s)} of {self.length_s:.1f} s, as "
            f"far as the monitor heard it, without the silence around frames: "
            f"{format_count(frames)} frames of data, {_percent(retries / max(frames, 1))} of them "
            "retries."
        ]
        shown = [one for one in self.pairs if self.share(one) >= MIN_AIRTIME]
        lines += [self._line(one) for one in shown[:MAX_LINES]]
        if len(shown) > MAX_LINES:
            lines.append(f"And {format_count(len(shown) - MAX_LINES)} more pairs of stations.")
        lines += self._slow()
        unknown = sum(one.unknown for one in self.pairs)
        if unknown:
            lines.append(
                f"{format_count(unknown)} frames of data have no rate that tells their duration, "
                "and count for no airtime."
            )
        if self.damaged:
            lines.append(f"{format_count(self.damaged)} frames came damaged, and count for nobody.")
        return lines

    def _line(self, pair: AirPair) -> str:
        parts = [
            f"{pair.transmitter} to {pair.receiver}: {_percent(self.share(pair))} of the airtime",
            f"{format_bytes(pair.data_bytes)} at "
            + ("an unknown rate" if pair.mean_rate_bps is None else f"{_rate(pair)} in the mean"),
            f"{_percent(pair.retry_share)} retries",
        ]
        if pair.frames_a_ppdu >= 1.5:
            parts.append(f"{pair.frames_a_ppdu:.0f} frames an aggregate")
        if pair.signal_dbm is not None:
            parts.append(f"{pair.signal_dbm:.0f} dBm at the monitor")
        return ", ".join(parts) + "."

    def _slow(self) -> list[str]:
        """Stations with a low rate that take much airtime for little data."""
        known = [one for one in self.pairs if one.mean_rate_bps is not None]
        whole = sum(one.data_bytes for one in known)
        airtime = sum(one.airtime_s for one in known)
        if len(known) < 2 or not whole or not airtime:
            return []
        lines = []
        for one in known:
            of_air, of_bytes = one.airtime_s / airtime, one.data_bytes / whole
            if of_air > MIN_SHARE_OF_SLOW and of_bytes < SLOW * of_air:
                lines.append(
                    f"{one.transmitter} to {one.receiver} takes {_percent(of_air)} of the data's "
                    f"airtime for {_percent(of_bytes)} of its bytes: its rate, {_rate(one)}, slows "
                    "all."
                )
        return lines


def _percent(share: float) -> str:
    return format_percent(100 * share, decimals=1 if share < 0.1 else 0)


def _rate(pair: AirPair) -> str:
    return format_bit_rate(pair.mean_rate_bps or 0.0)


def read_air(path: Path) -> Air | None:
    """The airtime in a monitor capture; None if it has no radio headers.

    Raises:
        CaptureError: the capture cannot be read.
    """
    table, length_s, damaged, _ = _core.read_air(path)
    rows = table.rows()
    if not rows:
        return None
    pairs, rest_s = [], 0.0
    for row in rows:
        if row["data_frames"] and row["transmitter"] is not None:
            pairs.append(AirPair(**row))
        else:
            rest_s += row["airtime_s"]
    pairs.sort(key=lambda one: (-one.airtime_s, one.transmitter))
    return Air(tuple(pairs), length_s, rest_s, damaged)
