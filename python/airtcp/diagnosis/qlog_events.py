"""Events of a qlog, of every draft from draft-marx-qlog-main-schema-00 to the IETF's.

Drafts 00 to 02 write an event as a list of values with names in `event_fields`, packet numbers as
text, times in the unit of `configuration`, and a packet's size within its header. Later ones write
a map per event. Programs also differ in the place of a packet's number: in its header, or (aioquic,
picoquic and others) next to its type.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_RECORD = "\x1e"
_SPACES = frozenset({"1rtt", "onertt", "short"})
"""Names in drafts for packets of an established connection."""
_TIME_UNITS_S = {"us": 1e-6, "ms": 1e-3, "ns": 1e-9, "s": 1.0}
_TIMES = ("time", "relative_time", "delta_time")
MAX_RANGE = 10_000_000
"""Maximum range of packet numbers; longer ones are an error in the file."""


@dataclass(frozen=True)
class Event:
    """An event of a packet with application data."""

    time_s: float
    name: str
    """Without its category: `packet_sent`, `packet_received`, `packet_lost`."""
    number: int | None
    """The packet number, if logged."""
    bytes: float
    """The packet's length; 0 if not logged."""
    frames: tuple[str, ...]
    """Types of its frames in lower case."""
    acknowledged: tuple[tuple[int, int], ...]
    """Ranges of packet numbers in its ACK frames, both ends included."""


class NoQlogError(Exception):
    """The text is not a qlog; the message continues "FILE: "."""


def is_qlog(first: str) -> bool:
    """Whether a text begins like a qlog."""
    bare = first.lstrip("\ufeff" + _RECORD + " \r\n\t")
    return bare.startswith("{") and "qlog" in first


def events_of(text: str) -> Iterator[Event]:
    """The events of the first trace that has some.

    Raises:
        NoQlogError: not JSON, whole or sequential (RFC 7464 or one record per line), or a value has
            a type that no draft permits.
    """
    try:
        trace, records = _trace_of(text.removeprefix("\ufeff"))
        yield from _events(trace, records)
    except (ValueError, TypeError, AttributeError, KeyError, IndexError, RecursionError) as error:
        raise NoQlogError(
            f"is no qlog, whole or sequential JSON ({type(error).__name__}: {error}): write it "
            "again, and copy it when the connection has ended"
        ) from None


def _trace_of(text: str) -> tuple[Mapping[str, Any], list[Any]]:
    """The fields common to all events, and the events."""
    pieces = text.split(_RECORD) if _RECORD in text else text.splitlines()
    if _RECORD in text or _is_lines(pieces):
        records = _records([piece for piece in pieces if piece.strip()])
        head = records[0] if records and isinstance(records[0], dict) else {}
        return head.get("trace") or {}, records
    whole = json.loads(text)
    traces = whole.get("traces") or []
    with_events = [one for one in traces if isinstance(one, dict) and one.get("events")]
    if not with_events:
        return {}, []
    return with_events[0], with_events[0]["events"]


def _records(pieces: Sequence[str]) -> list[Any]:
    """The record of each piece.

    The last one may be cut off, where the program still wrote or was ended: RFC 7464 §2.3 has the
    others kept.
    """
    records = [json.loads(piece) for piece in pieces[:-1]]
    try:
        return [*records, *map(json.loads, pieces[-1:])]
    except json.JSONDecodeError:
        if len(records) < 2:
            raise
        return records


def _is_lines(pieces: Sequence[str]) -> bool:
    """Whether each line is a separate record."""
    first = next((one for one in pieces if one.strip()), "")
    try:
        return isinstance(json.loads(first), dict) and len(pieces) > 1
    except ValueError:
        return False


def _events(trace: Mapping[str, Any], records: Sequence[Any]) -> Iterator[Event]:
    common = trace.get("common_fields") or {}
    fields = [str(one).lower() for one in trace.get("event_fields") or ()]
    unit_s = _TIME_UNITS_S.get((trace.get("configuration") or {}).get("time_units", "ms"), 1e-3)
    time_format = str(common.get("time_format", ""))
    is_delta = "previous" in time_format or time_format == "delta" or "delta_time" in fields
    before_s = 0.0
    for record in records:
        one = dict(zip(fields, record, strict=False)) if isinstance(record, list) else record
        if not isinstance(one, dict) or not isinstance(one.get("data"), dict):
            continue
        name = one.get("name", one.get("event", one.get("event_type")))
        at = next((one[key] for key in _TIMES if one.get(key) is not None), 0.0)
        time_s = float(at) * unit_s + (before_s if is_delta else 0.0)
        if name is None or not math.isfinite(time_s):
            continue
        before_s = time_s
        event = _event(time_s, str(name).rsplit(":", 1)[-1].lower(), one["data"])
        if event is not None:
            yield event


def _event(time_s: float, name: str, data: Mapping[str, Any]) -> Event | None:
    """The event of a packet with application data; None for other events."""
    header = data.get("header") or {}
    kind = header.get("packet_type") or data.get("packet_type") or data.get("type") or "1rtt"
    if str(kind).lower().replace("_", "") not in _SPACES:
        return None
    numbers = (header.get("packet_number"), data.get("packet_number"), data.get("pn"))
    number = next((int(one) for one in numbers if one is not None), None)
    raw = data.get("raw") or {}
    sizes = (raw.get("length"), header.get("packet_size"), data.get("packet_size"))
    size = next((float(one) for one in sizes if one is not None), 0.0)
    frames = [one for one in data.get("frames") or () if isinstance(one, dict)]
    acks = (one for one in frames if _frame_type(one) == "ack")
    ranges = tuple(ends for one in acks for ends in _ranges(one.get("acked_ranges") or ()))
    return Event(time_s, name, number, size, tuple(map(_frame_type, frames)), ranges)


def _frame_type(frame: Mapping[str, Any]) -> str:
    return str(frame.get("frame_type", "")).lower()


def _ranges(given: Sequence[Any]) -> Iterator[tuple[int, int]]:
    """Ranges as [first, last] or [only], of numbers or text."""
    for ends in given:
        first, last = int(ends[0]), int(ends[-1])
        if not 0 <= last - first < MAX_RANGE:
            raise ValueError(f"acked_ranges: {first} to {last} is no range of packet numbers")
        yield first, last
