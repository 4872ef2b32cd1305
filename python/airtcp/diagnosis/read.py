"""Reads captures through the core, with their tables as Polars frames."""

import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

import polars as pl

from airtcp import _core
from airtcp.diagnosis.acking import habit
from airtcp.diagnosis.air import Air, read_air
from airtcp.diagnosis.capture import AtSender, Capture, Facts, Refusal, host_of
from airtcp.diagnosis.quic import QuicFlow, read_quic

QUEUE_LOSSES = ("tail-drop", "aqm", "policer")
"""Losses caused by a queue or a policer without a radio."""
SORTED_WITHIN_S = 0.5
"""Maximum displacement of a packet that the core sorts."""
MIN_BACK = 0.01
"""Minimum bytes of a flow in the opposite direction, as a share of the flow's: acknowledgments have
about two per cent.
"""
MIN_BURSTS_BACK = 0.001
"""The same for data that may delay acknowledgments in bursts."""
MAX_BURSTS_BACK = 3
"""Maximum number of such flows: each is another pass over the capture."""
MAX_BESIDE = 7
"""Maximum number of other flows of a capture that are read, too."""
FEWEST_OF_QUIC = 100
"""Minimum number of datagrams for QUIC to be reported."""
MIN_BESIDE = 0.02
"""Minimum size, relative to the chosen flow, of a flow that matters."""
_READING = 0.1
"""Reading's share of a diagnosis, for progress."""


def read_capture(
    path: str | os.PathLike[str],
    flow: int | None,
    view: str | None,
    progress: Callable[[float, str], object] | None = None,
) -> Capture:
    """Reads a capture and one of its flows in depth.

    Raises:
        CaptureError: it cannot be read, or lacks the flow.
    """
    size = Path(path).stat().st_size if Path(path).is_file() else 0

    def told(bytes_: int, packets: int) -> None:
        if progress:
            share = min(bytes_ / size, 1.0) if size else 0.0
            progress(_READING * share, f"{packets:,} packets")

    def from_core() -> _core.Capture:
        return _core.read_capture(path, flow, view, progress=told)

    # A file never blocks, and the core checks for Ctrl-C between its packets.
    read = from_core() if Path(path).is_file() else _waited_for(from_core)
    summary: dict[str, Any] = json.loads(read.summary())
    flows = pl.DataFrame(read.flows())
    refusals: list[Refusal] = summary["refusals"]
    warnings = tuple(_warnings(path, summary["capture"]))
    quic, air = _beside_tcp(Path(path), summary["capture"])
    if summary["flow"] is None:
        return Capture(Path(path), None, refusals, flows, warnings=warnings, quic=quic, air=air)
    labels = _dated(pl.DataFrame(read.labels()), summary["flow"]["number"], summary["capture"])
    segments = _segments(read.segments())
    acks = pl.DataFrame(read.acks())
    return Capture(
        Path(path),
        _facts(summary["flow"], summary["capture"]),
        refusals,
        flows,
        segments,
        acks,
        labels,
        pl.DataFrame(read.hazard()),
        _at_sender(read, summary["flow"], segments, acks),
        tuple(_others(path, flows, summary["flow"], view)),
        _back(path, flows, summary["flow"]),
        _arrivals_back(path, flows, summary["flow"]),
        warnings,
        quic,
        air,
        # A pipe cannot be read a second time.
        read.annotate if Path(path).is_file() else None,
    )


def _beside_tcp(path: Path, whole: dict[str, Any]) -> tuple[QuicFlow | None, Air | None]:
    """Further parts of a capture, read in a second pass."""
    if not path.is_file():
        return None, None
    others: dict[str, int] = whole["others"]
    quic = read_quic(path) if others.get("QUIC", 0) >= FEWEST_OF_QUIC else None
    on_air = whole["radio_frames"][0] or any("802.11" in name for name, n in others.items() if n)
    return quic, read_air(path) if on_air else None


_Read = TypeVar("_Read")
_WAKES_EVERY_S = 0.1


def _waited_for(read: Callable[[], _Read]) -> _Read:
    """Reads from a pipe in a separate thread, so that this one can handle Ctrl-C meanwhile."""
    done: Future[_Read] = Future()

    def run() -> None:
        try:
            done.set_result(read())
        except BaseException as error:
            done.set_exception(error)

    # A daemon: a pipe without a writer would otherwise keep the program alive.
    thread = Thread(target=run, daemon=True)
    thread.start()
    # Polars handles the signal and restarts system calls: Python only notices it when it wakes.
    while thread.is_alive():
        thread.join(_WAKES_EVERY_S)
    return done.result()


def _warnings(path: str | os.PathLike[str], whole: dict[str, Any]) -> Iterator[str]:
    if whole["damage"] is not None:
        yield f"{path}: {whole['damage']}; the part before it is diagnosed"
    elif whole["is_cut"]:
        yield f"{path}: ends in the middle of a packet; the part before it is diagnosed"
    step_s = whole["longest_step_back_ns"] / 1e9
    if whole["steps_back"] and step_s <= SORTED_WITHIN_S:
        yield (
            f"{path}: packets stand out of order in the file, by up to {1e3 * step_s:.1f} ms, and "
            "were sorted by their times"
        )


def _dated(labels: pl.DataFrame, flow: int, whole: dict[str, Any]) -> pl.DataFrame:
    """Labels with their flow and the time of day, to find matching entries in other logs."""
    begun = pl.lit(whole["start_ns"], dtype=pl.Int64)
    at = (begun + pl.col("time_ns")).cast(pl.Datetime("ns", "UTC"))
    number = pl.lit(flow, dtype=pl.UInt32)
    return labels.select(number.alias("flow"), at.alias("time_utc"), pl.all())


def _segments(table: _core.Table) -> pl.DataFrame:
    """Data transmissions, with drops by a queue or a policer marked."""
    return (
        pl.DataFrame(table)
        # The SYN carries no data, and has a round trip without serialization of data.
        .filter(pl.col("end") > pl.col("start"))
        .with_columns(dropped=pl.col("lost") & pl.col("loss").is_in(QUEUE_LOSSES).fill_null(False))
    )


def _at_sender(
    read: _core.Capture, flow: dict[str, Any], segments: pl.DataFrame, acks: pl.DataFrame
) -> AtSender | None:
    if flow["view"] == "sender":
        return AtSender(segments, acks, flow["timeouts"])
    if flow["at_sender"] is None:
        return None
    return AtSender(
        _segments(read.segments(at_sender=True)),
        pl.DataFrame(read.acks(at_sender=True)),
        flow["at_sender"]["timeouts"],
    )


def _others(
    path: str | os.PathLike[str], flows: pl.DataFrame, chosen: dict[str, Any], view: str | None
) -> Iterator[AtSender]:
    """Flows in the same direction at the same time as the chosen one; each is read separately."""
    if chosen["view"] != "sender" or not Path(path).is_file():
        return
    (way,) = flows.filter(pl.col("number") == chosen["number"])["data_from"]
    near = _meanwhile(flows, chosen, MIN_BESIDE).filter(pl.col("data_from") == way)
    for number in near.top_k(MAX_BESIDE, by="bytes")["number"]:
        if (seen := _as_sender(path, number, view)) is not None:
            yield seen


def _back(
    path: str | os.PathLike[str], flows: pl.DataFrame, chosen: dict[str, Any]
) -> AtSender | None:
    """The largest flow from a captured receiver to the host of the chosen flow's sender."""
    if chosen["view"] != "receiver" or not Path(path).is_file():
        return None
    (own,) = flows.filter(pl.col("number") == chosen["number"]).iter_rows(named=True)
    ends = sorted(host_of(own[end]) for end in ("client", "server"))
    near = _meanwhile(flows, chosen, MIN_BACK).sort("bytes", descending=True)
    for one in near.iter_rows(named=True):
        same_ends = sorted(host_of(one[end]) for end in ("client", "server")) == ends
        if same_ends and host_of(one[one["data_from"]]) != host_of(own[own["data_from"]]):
            return _as_sender(path, one["number"], "sender")
    return None


def _arrivals_back(
    path: str | os.PathLike[str], flows: pl.DataFrame, chosen: dict[str, Any]
) -> tuple[int, ...]:
    """Arrivals of other data at the host of a captured sender, in order."""
    if chosen["view"] != "sender" or not Path(path).is_file():
        return ()
    host = host_of(chosen["data_from"])
    near = _meanwhile(flows, chosen, MIN_BURSTS_BACK).sort("bytes", descending=True)
    towards = [
        one["number"]
        for one in near.iter_rows(named=True)
        if host_of(one["server" if one["data_from"] == "client" else "client"]) == host
    ]
    arrivals = [
        pl.DataFrame(_core.read_capture(path, number, "receiver").segments())["time_ns"]
        for number in towards[:MAX_BURSTS_BACK]
    ]
    return tuple(pl.concat(arrivals).sort().to_list()) if arrivals else ()


def _meanwhile(flows: pl.DataFrame, chosen: dict[str, Any], share: float) -> pl.DataFrame:
    """Other flows at the time of the chosen one, with at least this share of its bytes."""
    ends_s = pl.col("start_s") + pl.col("duration_s")
    (own,) = flows.filter(pl.col("number") == chosen["number"]).iter_rows(named=True)
    least = share * own["bytes"]
    meanwhile = (pl.col("start_s") < own["start_s"] + own["duration_s"]) & (ends_s > own["start_s"])
    return flows.filter(
        (pl.col("number") != own["number"]) & (pl.col("bytes") >= least) & meanwhile
    )


def _as_sender(path: str | os.PathLike[str], number: int, view: str | None) -> AtSender | None:
    """Another flow of the capture, read separately; None if this is not its sender's view."""
    read = _core.read_capture(path, number, view)
    flow = json.loads(read.summary())["flow"]
    acks = pl.DataFrame(read.acks())
    segments = _segments(read.segments())
    if flow["view"] != "sender" or segments.is_empty() or acks.is_empty():
        return None
    return AtSender(segments, acks, flow["timeouts"])


def _facts(flow: dict[str, Any], whole: dict[str, Any]) -> Facts:
    # At the receiver no answer shows a queue: the inferred sender's view shows more.
    shared = flow["at_sender"] or flow
    # Inferred times are as coarse as the sender's clock, and hide some waits.
    held = max(flow, shared, key=lambda view: view["small_writes"]["waits"])
    if 2 * shared["small_writes"]["waits"] >= held["small_writes"]["waits"]:
        held = shared
    lone_ns = flow["lone_ack_delay_ns"]
    return Facts(
        flow=flow["number"],
        view=flow["view"],
        is_view_certain=flow["is_view_certain"],
        sender=flow["data_from"],
        receiver=flow["data_to"],
        sack=flow["sack"],
        timestamps=flow["timestamps"],
        retransmitted=flow["retransmitted"],
        needless=flow["needless"],
        timeouts=flow["timeouts"],
        timeouts_spurious=flow["timeouts_spurious"],
        shares=held["shares"],
        seconds=held["seconds"],
        under_way_s=held["under_way_s"],
        phases=shared["phases"],
        small_writes=held["small_writes"],
        overtaken=flow["overtaken"],
        zero_windows=flow["zero_windows"],
        last=tuple(flow["last"]),
        acking=habit(
            flow["acks_by_segments"],
            None if lone_ns is None else lone_ns / 1e9,
            flow["compressed_acks"],
            flow["acks"],
        ),
        shows_tail_drop=shared["shows_tail_drop"],
        queues=shared["queues"] | {"marked": flow["queues"]["marked"]},
        acks=flow["acks"],
        acks_lost=flow["acks_lost"],
        radio_frames=tuple(whole["radio_frames"]),
        other_bytes=flow["other_bytes"],
        other_repeats=flow["other_repeats"],
    )
