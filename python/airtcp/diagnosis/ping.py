"""A ping log: what it says of the link, and which remedies help on it."""

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from airtcp import _core
from airtcp._core import ScenarioError
from airtcp.diagnosis.observed import Reals

FEWEST = 30
LAN_S = 0.001
"""A median round trip below this is that of a wire, or of the machine itself."""
SECONDS = 120
WINDOW = 20
"""A ping does not show the rate: the window, in segments, bounds the flow."""


@dataclass(frozen=True)
class PingLog:
    """The round trips of a log in the order of sending, and how many probes got no answer."""

    path: Path
    rtt_s: Reals
    lost: int

    @property
    def sent(self) -> int:
        """All probes."""
        return len(self.rtt_s) + self.lost

    @property
    def loss_rate(self) -> float:
        """Share of the probes without an answer: a packet or its reply was lost."""
        return self.lost / self.sent

    @property
    def spikes(self) -> int:
        """Round trips of more than three times the median and 100 ms above it."""
        median = float(np.median(self.rtt_s))
        return int(np.count_nonzero(self.rtt_s > max(3 * median, median + 0.1)))

    @cached_property
    def warnings(self) -> list[str]:
        """Signs that the log is not one of a wireless link."""
        median = float(np.median(self.rtt_s))
        if median >= LAN_S:
            return []
        return [
            f"The median round trip is {1e3 * median:.2g} ms: this is a ping within a LAN or the "
            "machine itself. Ping a host beyond the wireless link, from the mobile's side."
        ]

    @cached_property
    def refusal(self) -> str | None:
        """The reason to try nothing on it, and a log that would help; None where all is well."""
        if self.warnings:
            return self.warnings[0]
        if len(self.rtt_s) < FEWEST:
            return (
                f"The log holds {len(self.rtt_s)} round trips, and {FEWEST} are needed: "
                "ping -D -i 0.2 -c 1500 HOST > link.ping takes five minutes."
            )
        return None

    def toml(self) -> str:
        """The log as a scenario: a current Linux sender whose window is bounded."""
        path = str(self.path.absolute()).replace("\\", "\\\\").replace('"', '\\"')
        return "\n".join(
            (
                'name = "link"',
                'description = "The round trips of a ping log"',
                f'duration = "{SECONDS} s"',
                "",
                "[link]",
                f'rtt_log = {{ path = "{path}", start = "random" }}',
                f"loss = {{ rate = {self.loss_rate:.8f} }}",
                "",
                "[tcp]",
                'profile = "linux"',
                f"max_window = {WINDOW}",
                "",
            )
        )


def read_ping(path: str | os.PathLike[str]) -> PingLog:
    """Reads the output of a ping, in any of the forms of `link.rtt_log`.

    Raises:
        ScenarioError: the file cannot be read, or no round trip is in it.
    """
    try:
        rtts_ns, lost = _core.read_rtts(path)
    except ScenarioError as error:
        # The core's words are those of `link.rtt_log.path`, which only takes logs.
        raise ScenarioError(
            f"{path}: is no capture (pcap, pcapng), and as the log of a ping it has a fault: "
            f"{error}"
        ) from None
    return PingLog(Path(path), np.array(rtts_ns, dtype=np.float64) / 1e9, lost)
