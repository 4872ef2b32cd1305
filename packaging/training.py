"""The runs that a profile-guided build is trained on.

    python packaging/training.py FOLDER     runs them with the airtcp that this Python finds

Every shipped scenario runs, and every TCP profile with and without losses. Seeds and durations are
not those that `benches/instructions.py` counts, so that a program is not counted on its training.
One processor does all, so that the profile is the same each time: `diagnose` has a thread for each
processor, and threads that count in the same place at once lose counts.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SEED = 1009
"""Of every run: no count and no test has it."""
PROFILES = (
    *("tahoe", "reno", "newreno", "sack", "ns2-newreno", "linux-2.4", "linux", "linux-reno"),
    *("linux-bbr", "linux-6.12", "linux-6.1", "linux-5.10"),
)
"""The profiles of TCP; a test compares them with the core's."""
LOSSES = (0.0, 0.01)


@dataclass(frozen=True)
class Run:
    """A run of a shipped scenario."""

    scenario: str
    seconds: int
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def keys(self) -> dict[str, str]:
        """All keys that it sets."""
        return {"duration": f"{self.seconds} s", **self.settings}


def _pipes() -> Iterator[Run]:
    """The pipe with each profile, and with an ACK for each segment as well as for two."""
    for profile in PROFILES:
        for loss in LOSSES:
            yield Run("lossy-pipe", 13, {"tcp.profile": profile, "link.loss.rate": str(loss)})
    for loss in LOSSES:
        keys = {"tcp.profile": "sack", "tcp.delayed_ack.segments": "1"}
        yield Run("lossy-pipe", 13, keys | {"link.loss.rate": str(loss)})


RUNS = (
    *_pipes(),
    *(
        Run(name, 7)
        for name in (
            *("arq-download", "cell", "cellular", "dumbbell", "far-laptop", "geo-satellite"),
            *("laptop-upload", "lte", "lte-train", "lte-upload", "nr", "nr-router", "ping"),
            *("satellite-upload", "selective-repeat", "slow-station", "starlink", "two-wlans"),
            *("wifi-suspension", "wlan-bursts", "wlan-chain", "wlan-clients", "wlan-upload"),
        )
    ),
    Run("lte-iot", 150),
    # Channels of 80 MHz carry most packets a second.
    *(Run(name, 3) for name in ("crowded-cell", "household", "laptop-download")),
    Run("laptop-download", 3, {"flows.direction": "up", "tcp.profile": "sack"}),
)
"""Runs of the engine."""


def scenario(name: str) -> Path:
    """The file of a shipped scenario."""
    return ROOT / "scenarios" / f"{name}.toml"


_LOSSES = ("--set", "duration=7 s", "--set", "link.loss.rate=0.01", "--set", "tcp.profile=linux")
_SEED = ("--seed", str(SEED))
COMMANDS = (
    (
        *("run", str(scenario("lossy-pipe")), *_SEED, *_LOSSES, "--probe", "cwnd"),
        *("--pcap", "flow.pcapng", "--events", "events.csv", "--qlog", "flow.qlog"),
    ),
    (
        *("run", str(scenario("laptop-upload")), *_SEED, "--set", "duration=3 s"),
        *("--probe", "cwnd", "--events", "events.csv", "--frames", "frames.csv"),
    ),
    ("diagnose", "flow.pcapng", "--seeds", "1", "--max-cpu", "3600"),
    (
        "diagnose",
        str(ROOT / "recordings" / "wifi-spikes.ping"),
        "--seeds",
        "2",
        "--max-cpu",
        "3600",
    ),
    (
        *("compare", str(scenario("lossy-pipe")), *_LOSSES, "--seeds", "2", "--max-seeds", "2"),
        *("--jobs", "1", "--no-horizon", "--no-harm"),
    ),
)
"""Commands that record, read and rank; run one after the other in one folder."""


@contextmanager
def one_processor() -> Iterator[None]:
    """Has this process, and any that it starts meanwhile, run on one processor."""
    if not hasattr(os, "sched_setaffinity"):
        # Only Linux; elsewhere `diagnose` has one thread.
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def main() -> None:
    """Trains the core that this Python finds."""
    with one_processor():
        _train()


def _train() -> None:
    (folder,) = (Path(word) for word in sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    from airtcp import _core

    for run in RUNS:
        loaded = _core.Scenario.load(scenario(run.scenario), list(run.keys.items()))
        _core.run_many([(loaded, SEED)], 1)
    for command in COMMANDS:
        subprocess.run(
            [sys.executable, "-m", "airtcp", *command],
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
        )


if __name__ == "__main__":
    main()
