"""Traces of the remedies' mechanisms in a run, as numbers that a test can compare."""

import json
from functools import cached_property
from typing import Any

import polars as pl

from airtcp import _core
from airtcp._core import Scenario

MSS = 1448
PROBES = ["cwnd", "ssthresh", "rto", "srtt", "in_flight", "queue", "aggregate", "airtime"]


class Counters:
    """A run of a scenario with seed 1, and its counters."""

    def __init__(self, scenario: Scenario) -> None:
        self.run = _core.run(
            scenario,
            1,
            probes=PROBES,
            probe_interval_s=0.005,
            events=True,
            packets=True,
            air=True,
        )
        self.summary: dict[str, Any] = json.loads(self.run.summary())

    def total(self, counter: str) -> float:
        """A counter of the summary, over all flows."""
        return float(sum(flow[counter] or 0 for flow in self.summary["flows"]))

    @cached_property
    def samples(self) -> pl.DataFrame:
        """The probes."""
        return pl.DataFrame(self.run.samples())

    @cached_property
    def packets(self) -> pl.DataFrame:
        """The segments of both ends."""
        return pl.DataFrame(self.run.packets())

    @cached_property
    def data(self) -> pl.DataFrame:
        """The segments of the senders that carry data, first transmissions and others."""
        return self.packets.filter(pl.col("is_data") & (pl.col("bytes") > 0))

    @cached_property
    def acks(self) -> pl.DataFrame:
        """The acknowledgments of the receivers."""
        return self.packets.filter(~pl.col("is_data") & (pl.col("flags") == "ACK"))

    @cached_property
    def kinds(self) -> tuple[float, ...]:
        """Retransmissions by trigger."""
        return tuple(
            self.total(name)
            for name in (
                "segments_retransmitted",
                "fast_retransmits",
                "timeouts",
                "tail_probes",
                "recoveries_taken_back",
            )
        )

    @property
    def segments_an_ack(self) -> float:
        """Full segments that arrive for each acknowledgment, over the second half of a run."""
        half = self.summary["duration_s"] / 2
        data = self.data.filter(pl.col("time_s") > half).height
        return data / max(1, self.acks.filter(pl.col("time_s") > half).height)

    @property
    def window(self) -> list[float]:
        """The congestion window over time."""
        return self.samples["cwnd_bytes"].to_list()

    @property
    def in_flight(self) -> float:
        """The most data in flight, in bytes."""
        return float(self.samples["in_flight_bytes"].max() or 0)

    @property
    def first_flight(self) -> int:
        """Data segments that leave before the first acknowledgment of data comes back."""
        first = self.acks.filter(pl.col("acknowledges") > 1)["time_s"].min()
        return self.data.filter(pl.col("time_s") < first).height

    @property
    def clocked(self) -> float:
        """The share of data that leaves in the instant at which an acknowledgment arrives."""
        arrivals = self.acks["time_s"].unique().implode()
        return self.data.filter(pl.col("time_s").is_in(arrivals)).height / self.data.height

    @property
    def queue(self) -> float:
        """The mean number of packets that wait for the link."""
        return float(self.samples["queue_packets"].mean() or 0)

    @property
    def events(self) -> dict[str, int]:
        """Events by kind."""
        counts = pl.DataFrame(self.run.events())["event"].value_counts()
        return {str(kind): count for kind, count in counts.rows()}

    @property
    def agents(self) -> int:
        """Events of the access point's agents."""
        return pl.DataFrame(self.run.agents()).height

    @property
    def frames(self) -> pl.DataFrame:
        """Transmissions on the air."""
        return pl.DataFrame(self.run.frames())
