"""Runs of the Linux kernel 6.18 at settings that `linux.jsonl` lacks.

Two namespaces, a TUN device in each, and between them one process that read and wrote whole
IP packets: rate counted on them, drop-tail queue of so many packets beside the one being sent,
25 ms each way, losses on packets with data behind the queue, stops from the first packet on. It ran
at real-time priority; a run of which more than a thousandth of the packets left more than 1 ms late
does not count and is not here (median 20 µs late, 99th percentile 70 µs, worst 7 ms). One bulk flow
of 60 s through plain sockets, MTU 1500, timestamps, the kernel's defaults; the default congestion
control of the sender's namespace was Reno, or BBR where that was measured, before the socket was
made, so that nothing but BBR is paced. Counters are those of the sender's namespace.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple


class Run(NamedTuple):
    """One run of 60 s."""

    goodputs_mbps: tuple[float, ...]  # one a flow
    retransmitted: int
    timeouts: int
    undos: int


@dataclass(frozen=True)
class Measured:
    """The kernel's runs at one setting."""

    settings: Mapping[str, str | float | bool]
    runs: tuple[Run, ...]

    def goodput_bps(self, flow: int = 0) -> float:
        """Mean over the runs."""
        return 1e6 * fmean(run.goodputs_mbps[flow] for run in self.runs)

    @property
    def retransmitted(self) -> float:
        """Segments retransmitted, mean over the runs."""
        return fmean(run.retransmitted for run in self.runs)


