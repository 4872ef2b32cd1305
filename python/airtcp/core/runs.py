"""One run of one scenario, and its results."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypedDict, cast

from airtcp import _core
from airtcp._core import Scenario, ScenarioError, Table
from airtcp.core.as_csv import Column, columns_of, csv_of
from airtcp.core.extras import required
from airtcp.core.frames import frame_of
from airtcp.core.loading import load_scenario, remedy_names
from airtcp.core.shown import InNotebook, figure, view
from airtcp.core.summary import RunSummary, parse_summary

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from airtcp.core.bpf import Own
    from airtcp.core.control import Factory


class ControlMessage(TypedDict):
    """A line printed by a congestion control in BPF."""

    time_s: float
    text: str


class ControlReport(TypedDict):
    """The congestion control of one flow, in BPF or Python."""

    flow: int
    counters: dict[str, int]
    """Its global integers by name, in Python whole numbers among its attributes; an element of an
    array is `name[0]`."""
    messages: list[ControlMessage]
    """Lines printed by `bpf_printk`."""
    instructions: int
    """BPF instructions that it executed; 0 for a control in Python."""
    zero_windows: int
    """How often it set a window of 0 segments, where 1 was used."""
    zero_thresholds: int
    """How often it set a slow-start threshold of 0 segments."""


class _Result(Protocol):
    """A finished run: its summary as JSON, and its tables."""

    def summary(self) -> str: ...
    def controls(self) -> str: ...
    def samples(self) -> Table: ...
    def events(self) -> Table: ...
    def frames(self) -> Table: ...
    def agents(self) -> Table: ...
    def rtts(self) -> Table: ...
    def packets(self) -> Table: ...
    def pings(self) -> Table: ...


class _DetachedResult:
    """A finished run that was copied or came from another process."""

    def __init__(self, result: _Result) -> None:
        self._summary = result.summary()
        self._controls = result.controls()
        self._tables: dict[str, Table] = {name: getattr(result, name)() for name in _TABLES}

    def summary(self) -> str:
        return self._summary

    def controls(self) -> str:
        return self._controls

    def samples(self) -> Table:
        return self._tables["samples"]

    def events(self) -> Table:
        return self._tables["events"]

    def frames(self) -> Table:
        return self._tables["frames"]

    def agents(self) -> Table:
        return self._tables["agents"]

    def rtts(self) -> Table:
        return self._tables["rtts"]

    def packets(self) -> Table:
        return self._tables["packets"]

    def pings(self) -> Table:
        return self._tables["pings"]


def _printed(controls: Sequence[ControlReport]) -> list[dict[str, object]]:
    """A row of the events for each message."""
    return [
        {
            "time_s": message["time_s"],
            "flow": one["flow"],
            "event": "printed",
            "detail": message["text"],
        }
        for one in controls
        for message in one["messages"]
    ]


def _columns_with_printed(events: Table, controls: Sequence[ControlReport]) -> list[Column]:
    """The columns of the events with the printed ones, in order of time."""
    columns, rows = columns_of(events), _printed(controls)
    # A run without events lacks these, too.
    if not rows or not len(events):
        return columns
    every = [
        (name, kind, [*values, *(row.get(name) for row in rows)]) for name, kind, values in columns
    ]
    (times,) = (values for name, _, values in every if name == "time_s")
    order = sorted(range(len(times)), key=times.__getitem__)
    return [(name, kind, [values[row] for row in order]) for name, kind, values in every]


def _with_printed(events: "pl.DataFrame", controls: Sequence[ControlReport]) -> "pl.DataFrame":
    """The events with the printed ones, in order of time."""
    rows = _printed(controls)
    if not rows or events.is_empty():
        return events
    required("polars")
    import polars as pl

    names = pl.col("event").cast(pl.String)
    plain = pl.Schema(events.schema)
    plain["event"] = pl.String()
    printed = pl.DataFrame([{**dict.fromkeys(plain), **row} for row in rows], schema=plain)
    every = pl.concat([events.with_columns(names), printed])
    return every.sort("time_s", maintain_order=True).cast({"event": pl.Categorical})


_TABLES = ("samples", "events", "frames", "agents", "rtts", "packets", "pings")


@dataclass(frozen=True, eq=False)
class Run(InNotebook):
    """A finished run.

    `summary` is the object that `airtcp run --json` prints. `samples` has one row per instant and
    flow: `time_s`, `flow` and a column per probe, and is empty without probes. `events` has one row
    per event: `time_s`, `flow`, `event` and the event's details.
    """

    scenario: Scenario
    result: _Result = field(repr=False)

    @cached_property
    def summary(self) -> RunSummary:
        """Totals and one entry per flow."""
        return parse_summary(self.result.summary())

    @cached_property
    def controls(self) -> list[ControlReport]:
        """Counters and messages of controls in BPF or Python, one entry for each such flow."""
        return cast(list[ControlReport], json.loads(self.result.controls()))

    @cached_property
    def counters(self) -> "pl.DataFrame":
        """Counters of controls in BPF or Python: `flow`, and a column for each counter."""
        required("polars")
        import polars as pl

        rows = [{"flow": one["flow"], **one["counters"]} for one in self.controls]
        return pl.DataFrame(rows, schema_overrides={"flow": pl.UInt32}, infer_schema_length=None)

    @cached_property
    def samples(self) -> "pl.DataFrame":
        """Samples of the probes."""
        return frame_of(self.result.samples())

    @cached_property
    def events(self) -> "pl.DataFrame":
        """Events: losses, timeouts, retransmissions, and lines printed by controls in BPF."""
        return _with_printed(frame_of(self.result.events()), self.controls)

    @cached_property
    def frames(self) -> "pl.DataFrame":
        """Transmissions on a medium; empty unless the run was made with `air`.

        Columns: `medium`, `station` (0 is the access point), `start_s`, `end_s`, `frame`, `flow`,
        `attempt`, `fate`.
        """
        return frame_of(self.result.frames())

    @cached_property
    def agents(self) -> "pl.DataFrame":
        """Events of agents at the access point; empty unless the run was made with `air`.

        Columns: `time_s`, `flow`, `event`, and for judged acknowledgments `path_delay_ms`,
        `threshold_ms`, `delay_ms`, `held_ms`, `spike`.
        """
        return frame_of(self.result.agents())

    @cached_property
    def rtts(self) -> "pl.DataFrame":
        """Every round-trip time measured by senders; empty unless the run was made with `rtts`.

        Columns: `time_s`, `flow`, `rtt_ms`. As CSV it is the input of `link.rtt_log.path`.
        """
        return frame_of(self.result.rtts())

    @cached_property
    def packets(self) -> "pl.DataFrame":
        """Segments at the data sender; empty unless the run was made with `packets`.

        Columns: `time_s`, `flow`, `is_data`, `offset`, `bytes`, `is_retransmission`,
        `acknowledges`, `sack`, `flags`. Offsets count bytes of the stream from 0.
        """
        return frame_of(self.result.packets())

    @cached_property
    def pings(self) -> "pl.DataFrame":
        """Every ping, flow by flow; empty unless the run was made with `pings`.

        Columns: `sent_s`, `flow`, `number` from 0, `arrived_s` and `answered_s`, null if it never
        was, and `lost`: "request", "answer" or null.
        """
        return frame_of(self.result.pings())

    def arrow(self, table: str) -> Table:
        """One of the tables as the core has it, by name: `samples`, `events`, and so on.

        It exports Arrow's C stream, which Polars, pandas, DuckDB and pyarrow take, and has columns
        for NumPy. Its events lack the lines printed by controls in BPF.

        Raises:
            ValueError: no such table.
        """
        if table not in _TABLES:
            raise ValueError(f"{table!r}: expected one of {', '.join(_TABLES)}")
        rows: Table = getattr(self.result, table)()
        return rows

    def columns(self, table: str) -> list[Column]:
        """The columns of a table, each with its name, its type and its values; without Polars.

        Raises:
            ValueError: no such table.
        """
        rows = self.arrow(table)
        is_events = table == "events"
        return _columns_with_printed(rows, self.controls) if is_events else columns_of(rows)

    def csv(self, table: str) -> str:
        """A table as CSV, as `airtcp run` writes it: `samples`, `events`, and so on.

        Raises:
            ValueError: no such table, or it has a column of lists, which CSV lacks.
        """
        return csv_of(self.columns(table))

    def plot(self, flow: int = 0) -> "Figure":
        """The window, the timers and the goodput of one flow against time.

        Raises:
            ValueError: the run lacks the probes of the figure; give
                `probes=airtcp.TIMELINE_PROBES` to `airtcp.run`.
        """
        return figure(self, flow)

    def picture(self, kind: str) -> "Figure":
        """A picture of the run: one of the kinds in `airtcp.pages.plot.pictures.PICTURES`.

        Raises:
            ValueError: no such kind, or the run lacks its content.
        """
        drawn: Figure = view(self, "picture", kind)
        return drawn

    @property
    def title(self) -> str:
        """The remedies of the run, or "as written"."""
        return " + ".join(self.summary["remedies"]) or "as written"

    def __eq__(self, other: object) -> bool:
        """Runs are equal if the same happened in the same scenario."""
        if not isinstance(other, Run):
            return NotImplemented
        return self.scenario.hash() == other.scenario.hash() and self.summary == other.summary

    def __hash__(self) -> int:
        return hash(self.summary["digest"])

    def __reduce__(self) -> "tuple[type[Run], tuple[Scenario, _Result]]":
        return Run, (self.scenario, _DetachedResult(self.result))


def run(
    scenario: Scenario | str | os.PathLike[str],
    seed: int = 1,
    settings: Mapping[str, object] | None = None,
    remedies: Sequence[str] | str = (),
    probes: Sequence[str] = (),
    *,
    bpf: "Own" = None,
    control: "Factory | None" = None,
    probe_interval_s: float | None = None,
    events: bool = True,
    air: bool = False,
    rtts: bool = False,
    packets: bool = False,
    pings: bool = False,
    pcap: str | os.PathLike[str] | None = None,
    qlog: str | os.PathLike[str] | None = None,
    replay: str | os.PathLike[str] | None = None,
    progress: Callable[[float], object] | None = None,
) -> Run:
    """Runs a scenario once; the same arguments give the same run, bit for bit, everywhere.

    Args:
        scenario: a path, TOML text, or a `Scenario` (see `load_scenario`).
        seed: the source of every random draw, 0 to 2^64 - 1.
        settings: dotted key to value, applied before the scenario is checked.
        remedies: names from `airtcp list remedies`, applied together; or a single name.
        probes: variables to sample, for example "cwnd"; see `airtcp.probes()`.
        bpf: a congestion control for the kernel's BPF, `my.bpf.o` or `my.bpf.c`, with values of its
            constants after a colon if wanted, `my.bpf.o:beta=3`.
        control: a congestion control in Python: a class with the methods of `airtcp.Control`.
        probe_interval_s: seconds of virtual time between samples; None takes the core's default.
        events: whether to keep the table of events.
        air: whether to keep the tables of frames on the air and of agents' actions.
        rtts: whether to keep every round-trip time measured by senders.
        packets: whether to keep every segment that leaves or reaches the data sender.
        pings: whether to keep every ping of flows and of probes under load.
        pcap: a file to write the segments to, for Wireshark.
        qlog: a file to write the events to, as qlog.
        replay: a folder to write `scenario.toml` to, with the link's stops and losses as lists: it
            gives the same run, and for other remedies the same link.
        progress: called regularly with the elapsed share of virtual time, 0 to 1.

    Raises:
        ScenarioError: the scenario, a setting, a remedy or a probe is wrong.
        RunError: the run could not be finished, for example because a file cannot be written, or
            `control` raised an exception, which is the cause.
    """
    if not 0 <= seed < 2**64:
        raise ScenarioError(f"seed {seed}: expected a whole number from 0 to 2^64 - 1")
    if bpf is not None:
        from airtcp.core.bpf import with_own

        remedies = with_own(remedy_names(remedies), bpf)
    if control is not None:
        from airtcp.core.registered import remedy as control_remedy

        remedies = [*remedy_names(remedies), control_remedy(control)]
    loaded = load_scenario(scenario, settings, remedies)
    result = _core.run(
        loaded,
        seed,
        probes=list(probes),
        probe_interval_s=probe_interval_s,
        events=events,
        air=air,
        rtts=rtts,
        packets=packets,
        pings=pings,
        pcap=pcap,
        qlog=qlog,
        replay=replay,
        progress=progress,
    )
    return Run(loaded, result)
