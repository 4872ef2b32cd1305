"""Runs of this machine's kernel over an emulated link, as cells of a study."""

import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import NotRequired, TypedDict, cast

from airtcp._core import RunError, Scenario, ScenarioError
from airtcp.net import find_program
from airtcp.shipped import find
from airtcp.study.plan import Observation

_ATTEMPTS = 3
"""A run during which the machine did not keep up is repeated; this many attempts in all."""

_BAD_REQUEST = 2


class Verdicts(TypedDict):
    """Losses of one number n that a congestion control has judged."""

    lost: int
    """n, where 4 stands for more too, and 0 for timeouts."""
    radio: int
    congestion: int


class Exchange(TypedDict):
    """A connection beside the load, with one exchange."""

    parts_ms: list[float]
    """Handshake, TLS's round trip, the request's; the last one of those that were not finished is
    the time so far."""
    is_finished: bool


class Beside(TypedDict):
    """What was measured beside the load."""

    pings_ms: list[float | None]
    """Round trips of echo requests; None without an answer."""
    exchanges: list[Exchange]


class QueueCounts(TypedDict):
    """What a queueing discipline of the kernel has counted."""

    passed: int
    dropped: int
    """Acknowledgments that later ones cover among them."""
    marked: int
    acks_dropped: int


class Measurement(TypedDict):
    """The report of `airtcp-net measure` on a run."""

    congestion_control: str
    steps: list[str]
    """Deployment of the remedies, in a user's words."""
    instead: list[str]
    """Difference from the remedy, where it is only the nearest thing."""
    goodput_bps: float
    retransmissions: int
    timeouts: int
    undos: int
    verdicts: list[Verdicts]
    """Losses by their number and the verdict of a congestion control that judges them."""
    rtt_p50_ms: NotRequired[float | None]
    """Median of the data packets' round trips, measured beside the sender as `airtcp run` does;
    None without any, absent from runs that were kept before this was measured."""
    rtt_p95_ms: NotRequired[float | None]
    """Their 95th percentile."""
    delay_p50_ms: NotRequired[float | None]
    """Median of the data packets' delays from sender to receiver."""
    delay_p95_ms: NotRequired[float | None]
    """Their 95th percentile."""
    counted: NotRequired[QueueCounts]
    """What the kernel's discipline before the link has counted, if there was one."""
    ack_counted: NotRequired[QueueCounts]
    """The same of the one before the link's other direction."""
    beside: NotRequired[Beside]
    own_rtt_ms: NotRequired[float]
    """Mean of the shortest 95 % of the load's round trips, where something ran beside it."""
    srtt_ms: float
    """The smoothed round trip that the sender believes at the end."""
    rttvar_ms: float
    """Its mean deviation."""
    late_median_ms: float
    late_p99_ms: float
    late_worst_ms: float
    late_share: float
    in_time: bool
    kernel: str


class Lateness(TypedDict):
    """Lateness of the emulator in several runs, in milliseconds."""

    median_ms: float
    """Median of the runs' medians."""
    p99_ms: float
    """Median of their 99th percentiles."""
    worst_ms: float


def lateness(runs: Sequence[Measurement]) -> Lateness:
    """Lateness of the emulator in `runs`, of which there is one at least."""
    return {
        "median_ms": median(run["late_median_ms"] for run in runs),
        "p99_ms": median(run["late_p99_ms"] for run in runs),
        "worst_ms": max(run["late_worst_ms"] for run in runs),
    }


@dataclass(frozen=True)
class KernelRun:
    """Settings of a run on the kernel."""

    source: str
    """The path of the scenario."""
    settings: tuple[tuple[str, str], ...]
    remedy: str
    """Empty for the baseline."""
    deviation_ms: float | None = None
    """The mean deviation of the link's round trips, for remedies that are a factor of it."""
    discipline: str = ""
    """The kernel's queueing discipline before the link, as tc(8) writes it; the link's own queue if
    empty."""
    ack_discipline: str = ""
    """The same for the direction that acknowledgments take."""

    @property
    def words(self) -> str:
        """What a cell's key says of the run beside its scenario, seed and remedy."""
        deviation = self.deviation_ms
        return (
            ("" if deviation is None else f" deviation {deviation:.6f} ms")
            + (f" discipline {self.discipline}" if self.discipline else "")
            + (f" ack discipline {self.ack_discipline}" if self.ack_discipline else "")
        )

    def command(self, program: str, seed: int) -> list[str]:
        """The command that makes the run."""
        command = [program, "measure", self.source, "--seed", str(seed)]
        for key, value in self.settings:
            command += ["--set", f"{key}={value}"]
        if self.remedy:
            command += ["--remedy", self.remedy]
        if self.deviation_ms is not None:
            command += ["--deviation", f"{self.deviation_ms:.6f}"]
        if self.discipline:
            command += ["--discipline", self.discipline]
        if self.ack_discipline:
            command += ["--ack-discipline", self.ack_discipline]
        return command


def kernel_observation(run: KernelRun) -> Observation:
    """The way to run a cell on this kernel: its release is part of the cell's key."""
    name = f"kernel {platform.release()}{run.words}"
    return Observation(name, partial(_measured, run))


def measurement(summary_json: str) -> Measurement:
    """A stored run of the kernel."""
    return cast(Measurement, json.loads(summary_json))


def settings_of(settings: Mapping[str, object] | None) -> tuple[tuple[str, str], ...]:
    """Settings as the command line writes them."""
    return tuple(
        (key, str(value).lower() if isinstance(value, bool) else str(value))
        for key, value in (settings or {}).items()
    )


def readable_path(source: str | os.PathLike[str]) -> str:
    """The path of a scenario that another program can read.

    Raises:
        ScenarioError: it is standard input, or a text.
    """
    path = os.fspath(source)
    if path == "-" or "\n" in path:
        raise ScenarioError("verify: the scenario has to be a file, which airtcp-net reads again")
    return str(find(path, "scenarios"))


def check(run: KernelRun) -> None:
    """Asks whether this kernel can make a run, which takes no time.

    Raises:
        ScenarioError: the request cannot be met; says why.
    """
    command = run.command(find_program(), 1)
    done = subprocess.run([*command, "--check"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ScenarioError(reason(done.stderr))


def _measured(run: KernelRun, _scenario: Scenario, seed: int) -> str:
    """Runs the kernel until a run was in time.

    Raises:
        ScenarioError: the request cannot be met; says why.
        RunError: the machine did not keep up in any attempt, or the program failed.
    """
    command = run.command(find_program(), seed)
    late = 0.0
    for _ in range(_ATTEMPTS):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == _BAD_REQUEST:
            raise ScenarioError(reason(done.stderr))
        if done.returncode != 0:
            raise RunError(
                f"airtcp-net measure ended with {done.returncode}: {reason(done.stderr)}"
            )
        found = measurement(done.stdout)
        if found["in_time"]:
            return done.stdout.strip()
        late = found["late_share"]
    raise RunError(
        f"this machine did not keep up in {_ATTEMPTS} runs: in the last, {100 * late:.2f} % of the "
        "packets were more than 1 ms late; run less beside it, lower --jobs, or a slower link"
    )


def reason(stderr: str) -> str:
    """The reason that airtcp-net gives, the last line of what it prints."""
    lines = stderr.strip().splitlines()
    return lines[-1].removeprefix("airtcp-net: ") if lines else "no reason was given"
