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
from airtcp.comparison.execute import Results
from airtcp.comparison.plan import Observation, PlannedCell
from airtcp.core.net import find_program
from airtcp.core.shipped import find
from airtcp.kernel.refusal import reason

_ATTEMPTS = 3
"""Maximum number of attempts for a run during which the machine did not keep up."""

_BAD_REQUEST = 2


class Verdicts(TypedDict):
    """Losses of one number n as classified by a congestion control."""

    lost: int
    """n, where 4 means 4 or more, and 0 timeouts."""
    radio: int
    congestion: int


class Exchange(TypedDict):
    """A probe connection under load, with one exchange."""

    parts_ms: list[float]
    """Handshake, TLS round trip, request; for an unfinished part the time so far."""
    is_finished: bool


class UnderLoad(TypedDict):
    """Measurements of probes under load."""

    pings_ms: list[float | None]
    """Round trips of echo requests; None without an answer."""
    exchanges: list[Exchange]


class QueueCounts(TypedDict):
    """Counters of one of the kernel's queueing disciplines."""

    passed: int
    dropped: int
    """Includes acknowledgments that later ones cover (ACK filter)."""
    marked: int
    acks_dropped: int


class Measurement(TypedDict):
    """The report of `airtcp-net measure` on a run."""

    congestion_control: str
    steps: list[str]
    """Deployment steps of the remedies, in a user's words."""
    instead: list[str]
    """Differences from the remedy, if the kernel has only a similar one."""
    goodput_bps: float
    retransmissions: int
    timeouts: int
    undos: int
    verdicts: list[Verdicts]
    """Losses by number and by the verdict of a congestion control that classifies them."""
    rtt_p50_ms: NotRequired[float | None]
    """Median round-trip time of the data packets, measured at the sender as `airtcp run` does; None
    without any, absent from runs stored before this was measured.
    """
    rtt_p95_ms: NotRequired[float | None]
    """Their 95th percentile."""
    delay_p50_ms: NotRequired[float | None]
    """Median of the data packets' delays from sender to receiver."""
    delay_p95_ms: NotRequired[float | None]
    """Their 95th percentile."""
    counted: NotRequired[QueueCounts]
    """Counters of the kernel's discipline before the link, if there was one."""
    ack_counted: NotRequired[QueueCounts]
    """Counters of the discipline before the link's other direction."""
    under_load: NotRequired[UnderLoad]
    own_rtt_ms: NotRequired[float]
    """Mean of the shortest 95 % of the load's round trips, if probes ran under load."""
    srtt_ms: float
    """The sender's smoothed round-trip time at the end."""
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
    """Lateness of the emulator in `runs`, at least one."""
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
    """Mean deviation of the link's round trips, for remedies that are a multiple of it."""
    discipline: str = ""
    """The kernel's queueing discipline before the link, as tc(8) writes it; the link's queue if
    empty.
    """
    ack_discipline: str = ""
    """The same for the direction of the acknowledgments."""

    @property
    def words(self) -> str:
        """Settings of the run in the cell's key, apart from scenario, seed and remedy."""
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


def measurements(cells: Sequence[PlannedCell], found: Results) -> tuple[Measurement, ...]:
    """The kernel's runs of these cells, in order."""
    return tuple(measurement(found[cell.key].summary_json) for cell in cells)


def settings_of(settings: Mapping[str, object] | None) -> tuple[tuple[str, str], ...]:
    """Settings in the command line's syntax."""
    return tuple(
        (key, str(value).lower() if isinstance(value, bool) else str(value))
        for key, value in (settings or {}).items()
    )


def readable_path(source: str | os.PathLike[str]) -> str:
    """The path of a scenario, for another program to read.

    Raises:
        ScenarioError: it is standard input or literal text.
    """
    path = os.fspath(source)
    if path == "-" or "\n" in path:
        raise ScenarioError("verify: the scenario has to be a file, which airtcp-net reads again")
    return str(find(path, "scenarios"))


def check(run: KernelRun) -> None:
    """Asks whether this kernel can make a run; returns at once.

    Raises:
        ScenarioError: the request cannot be met; gives the reason.
    """
    command = run.command(find_program(), 1)
    done = subprocess.run([*command, "--check"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ScenarioError(reason(done.stderr))


def _measured(run: KernelRun, _scenario: Scenario, seed: int) -> str:
    """Repeats a run on the kernel until it keeps up.

    Raises:
        ScenarioError: the request cannot be met; gives the reason.
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
        "packets were more than 1 ms late; run fewer other programs, lower --jobs, or a slower link"
    )
