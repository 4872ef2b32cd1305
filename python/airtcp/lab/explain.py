"""One timeout: the surrounding packets, and an explanation."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from airtcp import _core
from airtcp._core import Scenario, ScenarioError, Table
from airtcp.lab.play import MAX_WALL_S
from airtcp.lab.requests import Explain
from airtcp.lab.sources import CheckedScenario, Sources
from airtcp.lab.times import seconds_of

MAX_PACKETS = 1500
"""Maximum number of packets sent to the page, the nearest to the timeout."""

_STEP_S = 1.0
_NEAR_S = 1e-3
_MAX_LOOK_BACK_S = 30.0
_UNTIL_KNOWN_S = 70.0
"""Time after a timeout within which it may prove spurious: beyond the longest RTO."""
Row = dict[str, Any]
"""A row of one of the core's tables, by column."""
_DETAIL = re.compile(r"after (.+), sent ([0-9]+) times")


@dataclass(frozen=True)
class Timeout:
    """A timeout, from its event."""

    time_s: float
    offset: int
    rto_s: float
    sent: int
    """Previous transmissions of the segment."""


@dataclass(frozen=True)
class Surroundings:
    """The recording around a timeout, for its flow only."""

    packets: list[Row]
    events: list[Row]
    samples: list[Row]
    spurious: bool


def explain(sources: Sources, request: Explain) -> dict[str, Any]:
    """The packets around a run's timeout nearest to a given time, and sentences.

    Raises:
        ScenarioError: the link is invalid, or there is no timeout at that time.
    """
    chosen = sources.scenario(request.source, request.settings, request.remedy)
    timeout = _timeout(chosen, request)
    around = _surroundings(chosen.scenario, request, timeout)
    fates = _fates(around)
    return {
        "time_s": timeout.time_s,
        "offset": timeout.offset,
        "spurious": around.spurious,
        "sentences": sentences(timeout, around),
        "packets": _rows(timeout, around, fates),
    }


def _stretches(running: _core.Running, from_s: float, until_s: float) -> Iterator[_core.Stretch]:
    """Advances a run by one second of virtual time.

    Raises:
        RunError: it takes too long.
    """
    begun = time.monotonic()
    while from_s < until_s:
        if time.monotonic() - begun > MAX_WALL_S:
            raise _core.RunError(
                f"this timeout takes longer than {MAX_WALL_S:g} s to reach: choose an earlier one"
            )
        from_s = min(from_s + _STEP_S, until_s)
        yield running.advance(from_s)


def _timeout(chosen: CheckedScenario, request: Explain) -> Timeout:
    """The flow's timeout nearest to the requested time."""
    running = _core.Running(chosen.scenario, request.seed, events=True)
    found: list[Timeout] = []
    end_s = min(request.time_s + _NEAR_S, chosen.duration_s)
    for stretch in _stretches(running, 0.0, end_s):
        for row in _of_flow(stretch.events(), request.flow):
            if row["event"] != "timeout":
                continue
            detail = _DETAIL.fullmatch(row["detail"] or "")
            rto_s = seconds_of(detail[1]) if detail else None
            if detail and rto_s:
                found.append(Timeout(row["time_s"], row["offset"], rto_s, int(detail[2])))
    nearest = min(found, key=lambda one: abs(one.time_s - request.time_s), default=None)
    if nearest is None or abs(nearest.time_s - request.time_s) > _NEAR_S:
        raise ScenarioError(
            f"time_s = {request.time_s}: flow {request.flow} has no timeout then with this link, "
            "remedy and seed"
        )
    return nearest


def _surroundings(scenario: Scenario, request: Explain, timeout: Timeout) -> Surroundings:
    interval_s = max(1e-3, timeout.time_s / 100_000)
    running = _core.Running(
        scenario,
        request.seed,
        probes=("cwnd", "srtt", "rto"),
        probe_interval_s=interval_s,
        events=True,
        packets=True,
    )
    back_s = min(max(3 * timeout.rto_s, 0.5), _MAX_LOOK_BACK_S)
    ahead_s = min(max(timeout.rto_s, 0.3), 3.0)
    from_s, until_s = max(0.0, timeout.time_s - back_s), timeout.time_s + ahead_s
    for _ in _stretches(running, 0.0, from_s):
        pass  # discards the recording before the window
    window = running.advance(until_s)
    events = _of_flow(window.events(), request.flow)
    spurious = _says_spurious(events, timeout)
    if not spurious and not window.finished:
        for later in _stretches(running, until_s, timeout.time_s + _UNTIL_KNOWN_S):
            spurious = _says_spurious(_of_flow(later.events(), request.flow), timeout)
            if spurious or later.finished:
                break
    packets, samples = (
        _of_flow(rows, request.flow) for rows in (window.packets(), window.samples())
    )
    return Surroundings(packets, events, samples, spurious)


def _of_flow(rows: Table, flow: int) -> list[Row]:
    return [row for row in rows.rows() if row["flow"] == flow]


def _says_spurious(events: list[Row], timeout: Timeout) -> bool:
    return any(
        row["event"] == "spurious-timeout"
        and abs(row["time_s"] - timeout.time_s) < 1e-6
        and row["offset"] == timeout.offset
        for row in events
    )


def _fates(around: Surroundings) -> dict[tuple[int, float], str]:
    """For the offset and time of each lost transmission: its outcome."""
    sent: dict[int, list[float]] = {}
    for row in around.packets:
        if row["is_data"] and row["bytes"] > 0:
            sent.setdefault(row["offset"], []).append(row["time_s"])
    fates: dict[tuple[int, float], str] = {}
    for row in _losses(around.events):
        # Copies are lost in the order in which they were sent.
        for time_s in sent.get(row["offset"], ()):
            if time_s <= row["time_s"] and (row["offset"], time_s) not in fates:
                fates[row["offset"], time_s] = str(row["event"])
                break
    return fates


def _losses(events: list[Row]) -> list[Row]:
    return [row for row in events if row["event"] in ("link-loss", "queue-drop")]


def _rows(
    timeout: Timeout, around: Surroundings, fates: dict[tuple[int, float], str]
) -> list[list[Any]]:
    """The packets nearest to the timeout: time, kind, offset or acknowledged offset, note."""
    rows = []
    previous = None
    for row in around.packets:
        note = ""
        if row["is_data"]:
            kind = "retransmission" if row["is_retransmission"] else "data"
            fate = fates.get((row["offset"], row["time_s"]))
            note = {"link-loss": "lost by the link", "queue-drop": "queue full"}.get(fate or "", "")
            where = row["offset"]
        else:
            where = row["acknowledges"]
            kind = "duplicate ACK" if where == previous and row["bytes"] == 0 else "ACK"
            previous = where
            note = f"SACK {row['sack']}" if row["sack"] else ""
        flags = row["flags"] if row["flags"] not in ("ACK", "PSH|ACK") else ""
        words = " ".join(filter(None, (note, flags)))
        rows.append([round(row["time_s"], 6), kind, where, row["bytes"], words])
    middle = sum(1 for row in rows if row[0] <= timeout.time_s)
    first = max(0, min(middle - MAX_PACKETS // 2, len(rows) - MAX_PACKETS))
    return rows[first : first + MAX_PACKETS]


def sentences(timeout: Timeout, around: Surroundings) -> list[str]:
    """The events in order."""
    at_s = timeout.time_s
    before = [
        row
        for row in around.packets
        if row["is_data"]
        and row["offset"] <= timeout.offset < row["offset"] + row["bytes"]
        and row["time_s"] < at_s
    ]
    acks = [row for row in around.packets if not row["is_data"]]
    said = [
        f"At {at_s:.4f} s the retransmission timer expired for the segment at byte "
        f"{timeout.offset}, after an RTO of {_ms(timeout.rto_s)}."
    ]
    if before:
        last_s = before[-1]["time_s"]
        number = {1: "once", 2: "twice"}.get(timeout.sent, f"{timeout.sent} times")
        said.append(
            f"It had been sent {number}, the last time at {last_s:.4f} s, "
            f"{_ms(at_s - last_s)} before."
        )
    said.append(_fate(timeout, around, before, acks))
    arrived = [row["time_s"] for row in acks if row["time_s"] < at_s]
    if arrived:
        said.append(f"The last ACK before it had arrived {_ms(at_s - arrived[-1])} earlier.")
    said += _price(at_s, around)
    return said


def _fate(timeout: Timeout, around: Surroundings, before: list[Row], acks: list[Row]) -> str:
    """Whether the segment was lost, and where; otherwise the arrival of its ACK."""
    if around.spurious:
        text = "It was spurious: an ACK of a copy sent before the timer expired was to come."
        arrived = (
            row["time_s"]
            for row in acks
            if row["time_s"] >= timeout.time_s and (row["acknowledges"] or 0) > timeout.offset
        )
        ack_s = next(arrived, None)
        if ack_s is not None:
            text += f" The ACK came {_ms(ack_s - timeout.time_s)} after the timer."
        return text
    starts = {row["offset"] for row in before}
    lost = [
        row
        for row in _losses(around.events)
        if row["offset"] in starts and row["time_s"] <= timeout.time_s
    ]
    if not lost:
        return "It was not spurious: no ACK of a copy sent before it was to come."
    where = "the link lost it" if lost[-1]["event"] == "link-loss" else "it found the queue full"
    return f"It was not spurious: at {lost[-1]['time_s']:.4f} s {where}."


def _price(at_s: float, around: Surroundings) -> list[str]:
    """The timeout's effect on the window, and the retransmissions after it."""
    said = []
    windows = [row for row in around.samples if row["cwnd_bytes"] is not None]
    before = [row["cwnd_bytes"] for row in windows if row["time_s"] < at_s]
    after = [row["cwnd_bytes"] for row in windows if row["time_s"] >= at_s]
    if before and after:
        said.append(
            f"The congestion window went from {before[-1] / 1e3:.1f} kB to {after[0] / 1e3:.1f} kB."
        )
    again = sum(
        row["is_data"] and row["is_retransmission"] and row["time_s"] >= at_s
        for row in around.packets
    )
    if again:
        end_s = max(row["time_s"] for row in around.packets)
        said.append(
            f"In the {_ms(end_s - at_s)} after it {again} "
            f"{'segment was' if again == 1 else 'segments were'} retransmitted."
        )
    return said


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.3f} s"
