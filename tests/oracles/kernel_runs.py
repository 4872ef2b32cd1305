"""Runs of the Linux kernel 6.18 at settings that `linux.jsonl` lacks.

Two namespaces, a TUN device in each, and between them one process that read and wrote whole
IP packets: rate counted on them, drop-tail queue of `queue` packets besides the one being sent,
25 ms each way, losses on packets with data behind the queue, stops from the first packet on. It ran
at real-time priority; a run of which more than a thousandth of the packets left more than 1 ms late
does not count and is not here (median 20 µs late, 99th percentile 70 µs, worst 7 ms). One bulk flow
of 60 s through plain sockets, MTU 1500, timestamps, the kernel's defaults; the default congestion
control of the sender's namespace was Reno, or BBR where that was measured, before the socket was
made, so that nothing but BBR is paced. Counters are those of the sender's namespace; with stops
they take in one more, which began as the run ended.
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


#: By their properties; rate and delay are the lossy pipe's unless given.
RUNS = {
    "CUBIC, no SACK, 0.1 % loss": Measured(
        {
            "duration": "60 s",
            "tcp.profile": "linux",
            "tcp.sack": False,
            "link.loss.rate": 0.001,
        },
        (
            Run((7.701,), 55, 0, 0),
            Run((8.225,), 41, 0, 0),
            Run((8.550,), 35, 0, 0),
            Run((8.352,), 42, 0, 0),
            Run((8.400,), 36, 0, 0),
            Run((8.029,), 45, 0, 0),
            Run((7.758,), 57, 0, 0),
            Run((7.802,), 47, 0, 0),
        ),
    ),
    "CUBIC, Gilbert-Elliott": Measured(
        {
            "duration": "60 s",
            "tcp.profile": "linux",
            "link.loss.model": "gilbert-elliott",
            "link.loss.good_to_bad": 0.002,
            "link.loss.bad_to_good": 0.2,
        },
        (
            Run((5.522,), 317, 0, 0),
            Run((5.878,), 253, 0, 0),
            Run((6.244,), 341, 0, 0),
            Run((5.572,), 363, 0, 0),
            Run((6.340,), 313, 0, 0),
            Run((5.390,), 293, 0, 0),
            Run((5.624,), 280, 0, 0),
            Run((6.591,), 249, 0, 0),
            Run((5.502,), 296, 0, 0),
        ),
    ),
    "Reno, Gilbert-Elliott": Measured(
        {
            "duration": "60 s",
            "tcp.profile": "linux-reno",
            "link.loss.model": "gilbert-elliott",
            "link.loss.good_to_bad": 0.002,
            "link.loss.bad_to_good": 0.2,
        },
        (
            Run((6.020,), 306, 2, 0),
            Run((6.223,), 443, 0, 0),
            Run((5.521,), 478, 0, 0),
            Run((6.321,), 304, 0, 0),
            Run((5.536,), 293, 0, 0),
            Run((5.714,), 424, 0, 0),
            Run((6.501,), 396, 1, 0),
            Run((5.601,), 300, 0, 0),
        ),
    ),
    "CUBIC against BBR": Measured(
        {
            "duration": "60 s",
            "flows.count": 2,
            "flows.start_spread": "200 ms",
            "flows.tcp": '[{ profile = "linux" }, { profile = "linux-bbr" }]',
        },
        (
            Run((4.708, 4.933), 121, 0, 0),
            Run((5.022, 4.606), 158, 0, 0),
            Run((4.621, 5.015), 172, 0, 0),
            Run((4.745, 4.894), 187, 0, 0),
            Run((4.784, 4.865), 104, 0, 0),
            Run((4.745, 4.903), 162, 0, 0),
        ),
    ),
    "CUBIC, no SACK, 0.05 % loss": Measured(
        {
            "duration": "60 s",
            "tcp.profile": "linux",
            "tcp.sack": False,
            "link.loss.rate": 0.0005,
        },
        (
            Run((9.192,), 38, 0, 0),
            Run((9.480,), 32, 0, 0),
            Run((9.289,), 32, 0, 0),
            Run((9.465,), 41, 0, 0),
            Run((9.475,), 31, 0, 0),
            Run((9.230,), 38, 0, 0),
            Run((9.164,), 32, 0, 0),
        ),
    ),
    "CUBIC, no SACK, 0.2 % loss": Measured(
        {
            "duration": "60 s",
            "tcp.profile": "linux",
            "tcp.sack": False,
            "link.loss.rate": 0.002,
        },
        (
            Run((5.723,), 61, 0, 0),
            Run((5.745,), 97, 1, 0),
            Run((6.012,), 66, 0, 0),
            Run((5.206,), 69, 1, 0),
            Run((5.343,), 68, 0, 0),
            Run((5.546,), 170, 2, 0),
        ),
    ),
    "Reno, no SACK, 5 % loss": Measured(
        {
            "duration": "60 s",
            "tcp.profile": "linux-reno",
            "tcp.sack": False,
            "link.loss.rate": 0.05,
        },
        (
            Run((0.878,), 293, 33, 0),
            Run((0.960,), 269, 21, 1),
            Run((0.846,), 253, 30, 0),
            Run((0.940,), 235, 14, 0),
        ),
    ),
    "CUBIC, 50 Mbit/s, 0.1 % loss": Measured(
        {
            "duration": "60 s",
            "tcp.profile": "linux",
            "link.rate": "50 Mbit/s",
            "link.queue.packets": 250,
            "link.loss.rate": 0.001,
        },
        (
            Run((9.542,), 48, 0, 0),
            Run((9.325,), 48, 0, 0),
            Run((9.736,), 50, 0, 0),
            Run((11.780,), 163, 0, 0),
            Run((9.426,), 52, 0, 0),
            Run((9.386,), 55, 0, 0),
            Run((8.863,), 55, 0, 0),
            Run((11.274,), 44, 0, 0),
            Run((8.994,), 46, 0, 0),
            Run((9.467,), 42, 0, 0),
        ),
    ),
    "BBR, stops": Measured(
        {
            "duration": "60 s",
            "tcp.profile": "linux-bbr",
            "link.stops.every": "5 s",
            "link.stops.length": "600 ms",
        },
        (
            Run((8.375,), 12, 12, 12),
            Run((8.377,), 12, 12, 12),
            Run((8.377,), 12, 12, 12),
        ),
    ),
}
