"""The true fate of every packet of a recorded case."""

import json
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl
from cases import Case
from pcapng import joined, only_port, out_of_order

from airtcp import _core

MIN_S = 0.08
"""Shorter stops are below the resolution that a diagnosis claims."""


MAX_JOINED = 8
JOINED_WITHIN_NS = 50_000
LATE_EVERY = 23


@dataclass(frozen=True)
class Truth:
    """The emulator's table and the kernel's counters for a capture."""

    case: Case
    folder: Path

    @property
    def sender_side(self) -> Path:
        """The capture at the host that sent."""
        return self._as_asked("server.pcapng" if self.case.download else "stations.pcapng")

    @property
    def receiver_side(self) -> Path:
        """The capture at the host that received."""
        return self._as_asked("stations.pcapng" if self.case.download else "server.pcapng")

    def _as_asked(self, name: str) -> Path:
        """A capture processed as its case requires: once, and stored next to the recorded one."""
        recorded = self.folder / name
        if not (self.case.is_hidden or self.case.file):
            return recorded
        path = self.folder / f"asked-{name}"
        if not path.exists():
            if self.case.is_hidden:
                shutil.copy(recorded, path)
                only_port(path, _largest(recorded))
            elif self.case.file == "offload":
                joined(recorded, path, MAX_JOINED, JOINED_WITHIN_NS)
            else:
                out_of_order(recorded, path, LATE_EVERY)
        return path

    @cached_property
    def data(self) -> pl.DataFrame:
        """Every packet of the connection on the way of the data, in the order of sending.

        An attempt to connect before the other end listened is a separate flow.
        """
        way = "down" if self.case.download else "up"
        packets = pl.read_csv(self.folder / "packets.csv", infer_schema_length=None)
        packets = packets.filter((pl.col("way") == way) & pl.col("tcp"))
        sizes = packets.group_by("flow").agg(pl.col("bytes").sum()).sort("bytes")
        return packets.filter(pl.col("flow") == sizes["flow"][-1])

    @cached_property
    def _lost_acks_ns(self) -> pl.Series:
        """Times at which ACKs of the connection reached the link that lost them."""
        back = "up" if self.case.download else "down"
        packets = pl.read_csv(self.folder / "packets.csv", infer_schema_length=None)
        is_ack = (pl.col("way") == back) & pl.col("tcp") & (pl.col("flow") == self.data["flow"][0])
        return packets.filter(is_ack & pl.col("fate").is_in(["lost", "dropped"]))["arrived_ns"]

    def lost_acks(self, first: int, last: int) -> int:
        """The number of ACKs lost between two transmissions, given as places in `data`."""
        arrived = self.data["arrived_ns"]
        if last >= len(arrived):
            return 0
        return self._lost_acks_ns.is_between(arrived[first], arrived[last]).sum()

    @cached_property
    def counters(self) -> dict[str, int]:
        """The counters of the sender's kernel."""
        counters: dict[str, int] = json.loads((self.folder / "kernel.json").read_text())
        return counters

    @cached_property
    def refused(self) -> set[tuple[int, int | None]]:
        """First byte and TSval of missing segments that arrived, but were refused.

        A late segment has an older timestamp than later arrivals, and is dropped as if it were of
        an old connection (RFC 7323 §5, PAWS; Linux tolerates one tick). The receiver's last
        acknowledgment shows the missing range, and echoes the timestamp of the comparison.
        """
        read = _core.read_capture(self.receiver_side)
        arrivals = pl.DataFrame(read.segments()).select("time_ns", "start", "timestamp")
        acks = pl.DataFrame(read.acks()).select("time_ns", "ack", "timestamp_echo")
        known = arrivals.join_asof(acks, on="time_ns", strategy="backward").drop_nulls()
        older = (
            pl.col("timestamp_echo").cast(pl.Int64) - pl.col("timestamp").cast(pl.Int64)
        ) % 2**32
        refused = known.filter((older > 1) & (older < 2**31) & (pl.col("ack") <= pl.col("start")))
        return set(refused.select("start", "timestamp").iter_rows())

    def fates(self, segments: pl.DataFrame) -> pl.DataFrame:
        """Transmissions with `fate` and `is_needless`: every byte of it had arrived or would.

        `index` of a transmission is its place among all packets of its way.
        """
        fates = self.data["fate"].to_list()
        rows = []
        arriving: dict[int, int] = {}
        highest = 0
        longest = self.case.sender.longest
        columns = segments.select("index", "start", "end", "timestamp", "size")
        for index, start, end, timestamp, size in columns.iter_rows():
            fate = fates[index] if index < len(fates) else "under way"
            if longest and size > longest and fate == "delivered":
                fate = "swallowed"
            if fate == "delivered" and (start, timestamp) in self.refused:
                fate = "refused"
            # A range above everything received needs no search.
            needless = end <= highest and _covered(arriving, start, end)
            if fate == "delivered":
                _cover(arriving, start, end)
                highest = max(highest, end)
            rows.append((fate, needless))
        return segments.with_columns(
            pl.Series("fate", [fate for fate, _ in rows], pl.String),
            pl.Series("is_needless", [needless for _, needless in rows], pl.Boolean),
        )

    @cached_property
    def lost_of_link(self) -> tuple[int, int]:
        """Packets that the link lost, and packets that no queue dropped."""
        passed = self.data.filter(pl.col("fate") != "dropped")
        return passed.filter(pl.col("fate") == "lost").height, passed.height

    def stops(self, segments: pl.DataFrame, shortest_s: float = MIN_S) -> list[tuple[float, float]]:
        """Starts and lengths in seconds of the capture, while data was sent."""
        settings = self.case.settings
        file = self.folder / "stops.csv"
        if file.exists():
            listed = pl.read_csv(file)
            found = [(start / 1e3, length / 1e3) for start, length in listed.iter_rows()]
        elif settings.get("link.stops.process") == "periodic":
            every = seconds_of(settings["link.stops.every"])
            length = seconds_of(settings["link.stops.length"])
            found = [(every * number, length) for number in range(1, 40)]
        else:
            return []
        # The capture's clock begins with its first packet, the emulator's with its start.
        first = segments.row(0, named=True)
        sent = self.data["arrived_ns"][first["index"]] / 1e9
        offset = first["time_ns"] / 1e9 - sent
        begun, ended = first["time_ns"] / 1e9, segments["time_ns"].max() / 1e9  # type: ignore[operator]
        shifted = [(start + offset, length) for start, length in found]
        return [
            (start, length)
            for start, length in shifted
            if length >= shortest_s and start > begun + 0.2 and start + length < ended
        ]


def _largest(capture: Path) -> int:
    """The place, from 0, at which the flow with most bytes begins."""
    flows = pl.DataFrame(_core.read_capture(capture).flows())
    return int(flows.sort("bytes")["number"][-1]) - 1


def seconds_of(text: str) -> float:
    """A time of a scenario in seconds."""
    number, unit = text.split()
    return float(number) * {"s": 1.0, "ms": 1e-3, "us": 1e-6}[unit]


def bits_of(text: str) -> float:
    """A rate of a scenario in bits a second."""
    number, unit = text.split()
    return float(number) * {"Mbit/s": 1e6, "kbit/s": 1e3}[unit]


def _cover(arriving: dict[int, int], start: int, end: int) -> None:
    """Records a range; ranges are those of segments, which seldom differ from the first time."""
    arriving[start] = max(end, arriving.get(start, 0))


def _covered(arriving: dict[int, int], start: int, end: int) -> bool:
    """Noted ranges hold all of this one."""
    at = start
    while at < end:
        reached = arriving.get(at, 0)
        if reached <= at:
            # A retransmission may begin within an original (RFC 9293 allows another cut).
            within = [stop for begin, stop in arriving.items() if begin < at < stop]
            if not within:
                return False
            reached = max(within)
        at = reached
    return True
