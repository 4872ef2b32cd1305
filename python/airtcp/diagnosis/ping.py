"""A ping log: what it says of the link, and which remedies help on it."""

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from airtcp import _core
from airtcp._core import Scenario, ScenarioError
from airtcp.diagnosis.observed import Reals
from airtcp.diagnosis.ranking import DRAWS, Ends

FEWEST = 30
LAN_S = 0.001
"""A median round trip below this is that of a wire, or of the machine itself."""
SECONDS = 60
WINDOWS = (16, 64)
"""A ping does not show the rate: the flow is bounded by one window or another, in segments."""
SEED = 16


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

    def ends(self) -> Ends:
        """Scenarios of the recorded round trips; the loss is drawn from what the log allows.

        A probe crosses the link twice and data once, but which way lost it does not show: all of
        it is taken for the data's.
        """
        random = np.random.default_rng(SEED)
        # Jeffreys' prior, with which intervals are neither too long nor too short.
        answered = len(self.rtt_s)
        losses = random.beta(self.lost + 0.5, answered + 0.5, DRAWS) if self.lost else [0.0] * DRAWS
        drawn = tuple(
            tuple(self.scenario(window, float(loss)) for loss in losses) for window in WINDOWS
        )
        words = f"the rate, which a ping does not show (windows of {WINDOWS[0]} and {WINDOWS[1]})"
        return Ends(words, drawn)

    def scenario(self, window: int, loss: float) -> Scenario:
        """The recorded link under a current Linux sender whose window is bounded."""
        return Scenario.parse(self.toml(window, loss), "link.toml", os.curdir)

    def toml(self, window: int, loss: float) -> str:
        """The same as text."""
        path = str(self.path.absolute()).replace("\\", "\\\\").replace('"', '\\"')
        return "\n".join(
            (
                'name = "link"',
                'description = "The round trips of a ping log"',
                f'duration = "{SECONDS} s"',
                "",
                "[link]",
                f'rtt_log = {{ path = "{path}", start = "random" }}',
                f"loss = {{ rate = {loss:.8f} }}",
                "",
                "[tcp]",
                'profile = "linux"',
                f"max_window = {window}",
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
