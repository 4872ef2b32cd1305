"""Reads captures through the core."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

import numpy as np

from airtcp import _core
from airtcp.diagnosis.acking import habit
from airtcp.diagnosis.air import Air, read_air
from airtcp.diagnosis.capture import AtSender, Capture, Facts, host_of
from airtcp.diagnosis.quic import QuicFlow, read_quic
from airtcp.diagnosis.tables import Flow, Tables, acks_of, segments_of, tables_of

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
    has_flow = summary["flow"] is not None
    tables = tables_of(read, has_flow=has_flow)
    quic, air = _beside_tcp(Path(path), summary["capture"])
    known = Capture(
        Path(path),
        None,
        summary["refusals"],
        tables,
        warnings=tuple(_warnings(path, summary, tables)),
        quic=quic,
        air=air,
        begun_ns=summary["capture"]["start_ns"],
        read=read,
    )
    if not has_flow:
        return known
    return replace(
        known,
        facts=_facts(summary["flow"], summary["capture"]),
        at_sender=_at_sender(read, summary["flow"], tables),
        others=tuple(_others(path, tables, summary["flow"], view)),
        back=_back(path, tables, summary["flow"]),
        back_ns=_arrivals_back(path, tables, summary["flow"]),
        # A pipe cannot be read a second time.
        annotate=read.annotate if Path(path).is_file() else None,
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
    # Polars, if imported, handles the signal and restarts system calls: Python only notices it
    # when it wakes.
    while thread.is_alive():
        thread.join(_WAKES_EVERY_S)
    return done.result()


def _warnings(
    path: str | os.PathLike[str], summary: dict[str, Any], tables: Tables
) -> Iterator[str]:
    whole = summary["capture"]
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
    flow = summary["flow"]
    if flow is not None and flow["cut_after_ns"] is not None:
        seen = tables.flow(flow["number"])
        until_ns = flow["cut_after_ns"]
        rest = datetime.fromtimestamp((whole["start_ns"] + until_ns) // 10**9, UTC)
        yield (
            f"{path}: the first {until_ns / 1e9 - seen.start_s:.1f} s of the {seen.duration_s:.1f} "
            f"s of flow {flow['number']} are diagnosed, as many packets as there is room for; for "
            f"the rest: editcap -A {rest:%Y-%m-%dT%H:%M:%SZ} {path} rest.pcap"
        )


def _at_sender(read: _core.Capture, flow: dict[str, Any], tables: Tables) -> AtSender | None:
    if flow["view"] == "sender":
        return AtSender(tables.segments, tables.acks, flow["timeouts"])
    if flow["at_sender"] is None:
        return None
    return AtSender(
        segments_of(read.segments(at_sender=True)),
        acks_of(read.acks(at_sender=True)),
        flow["at_sender"]["timeouts"],
    )


def _others(
    path: str | os.PathLike[str], tables: Tables, chosen: dict[str, Any], view: str | None
) -> Iterator[AtSender]:
    """Flows in the same direction at the same time as the chosen one; each is read separately."""
    if chosen["view"] != "sender" or not Path(path).is_file():
        return
    own = tables.flow(chosen["number"])
    near = [one for one in _meanwhile(tables, own, MIN_BESIDE) if one.data_from == own.data_from]
    for one in near[:MAX_BESIDE]:
        if (seen := _as_sender(path, one.number, view)) is not None:
            yield seen


def _back(path: str | os.PathLike[str], tables: Tables, chosen: dict[str, Any]) -> AtSender | None:
    """The largest flow from a captured receiver to the host of the chosen flow's sender."""
    if chosen["view"] != "receiver" or not Path(path).is_file():
        return None
    own = tables.flow(chosen["number"])
    ends = sorted((host_of(own.client), host_of(own.server)))
    for one in _meanwhile(tables, own, MIN_BACK):
        same_ends = sorted((host_of(one.client), host_of(one.server))) == ends
        if same_ends and host_of(one.from_) != host_of(own.from_):
            return _as_sender(path, one.number, "sender")
    return None


def _arrivals_back(
    path: str | os.PathLike[str], tables: Tables, chosen: dict[str, Any]
) -> tuple[int, ...]:
    """Arrivals of other data at the host of a captured sender, in order."""
    if chosen["view"] != "sender" or not Path(path).is_file():
        return ()
    host = host_of(chosen["data_from"])
    near = _meanwhile(tables, tables.flow(chosen["number"]), MIN_BURSTS_BACK)
    towards = [one.number for one in near if host_of(one.to) == host]
    arrivals = [
        _core.read_capture(path, number, "receiver").segments().wholes("time_ns")
        for number in towards[:MAX_BURSTS_BACK]
    ]
    return tuple(np.sort(np.concatenate(arrivals)).tolist()) if arrivals else ()


def _meanwhile(tables: Tables, own: Flow, share: float) -> Sequence[Flow]:
    """Other flows at the time of this one, with at least this share of its bytes, largest first."""
    least = share * own.bytes
    near = [
        one
        for one in tables.flows
        if one.number != own.number
        and one.bytes >= least
        and one.start_s < own.end_s
        and one.end_s > own.start_s
    ]
    return sorted(near, key=lambda one: -one.bytes)


def _as_sender(path: str | os.PathLike[str], number: int, view: str | None) -> AtSender | None:
    """Another flow of the capture, read separately; None if this is not its sender's view."""
    read = _core.read_capture(path, number, view)
    flow = json.loads(read.summary())["flow"]
    acks, segments = acks_of(read.acks()), segments_of(read.segments())
    if flow["view"] != "sender" or not len(segments) or not len(acks):
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
