"""One QUIC connection as the logs of several drafts and programs: each shows the same losses."""

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from airtcp._core import ScenarioError
from airtcp.cli.commands import app
from airtcp.diagnosis.qlog import read_qlog

PACKETS = 1000
EVERY = 25
"""Each packet of that number after the tenth is lost."""
RTT_MS = 40.0
Json = dict[str, Any]


def lost() -> list[int]:
    return list(range(10, PACKETS, EVERY))


def connection() -> list[tuple[float, str, int]]:
    """Times in milliseconds, names and packet numbers; of a `packet_received` the acknowledged."""
    events = []
    for number in range(PACKETS):
        at = 2.0 * number
        events.append((at, "packet_sent", number))
        if number in set(lost()):
            events.append((at + 1.5 * RTT_MS, "packet_lost", number))
        else:
            events.append((at + RTT_MS, "packet_received", number))
    return sorted(events)


def whole(trace: Json, events: list[Any], version: str) -> str:
    return json.dumps({"qlog_version": version, "traces": [{**trace, "events": events}]})


def draft_00(unit: str = "ms") -> str:
    """Lists by `event_fields`; numbers are text, and times may be in microseconds."""
    factor = 1000 if unit == "us" else 1
    events = []
    for at, name, number in connection():
        data: Json = {"packet_type": "1RTT", "header": {"packet_number": str(number)}}
        if name == "packet_sent":
            data["header"]["packet_size"] = 1200
            data["frames"] = [{"frame_type": "STREAM", "id": "0", "length": "1150"}]
        elif name == "packet_received":
            data["header"]["packet_number"] = "7"
            data["frames"] = [{"frame_type": "ACK", "acked_ranges": [[str(number), str(number)]]}]
        else:
            data = {"packet_type": "1RTT", "packet_number": str(number)}
        category = "RECOVERY" if name == "packet_lost" else "TRANSPORT"
        events.append([at * factor, category, name.upper(), data])
    fields = ["relative_time", "CATEGORY", "EVENT_TYPE", "DATA"]
    return whole(
        {"event_fields": fields, "configuration": {"time_units": unit}}, events, "draft-00"
    )


def draft_01() -> str:
    """The same fields by other names, and times since the event before."""
    events, before = [], 0.0
    for at, name, number in connection():
        data: Json = {"packet_type": "1RTT", "header": {"packet_number": number}}
        if name == "packet_sent":
            data["header"] |= {"packet_size": 1200}
            data["frames"] = [{"frame_type": "stream"}]
        elif name == "packet_received":
            data["frames"] = [{"frame_type": "ack", "acked_ranges": [[number]]}]
        events.append([at - before, "transport", name, data])
        before = at
    return whole({"event_fields": ["delta_time", "category", "event", "data"]}, events, "draft-01")


def maps(lost_data: Callable[[int], Json]) -> list[Json]:
    """Draft 02 and later: a map an event."""
    events = []
    for at, name, number in connection():
        data: Json = {"header": {"packet_type": "1RTT", "packet_number": number}}
        if name == "packet_sent":
            data |= {"raw": {"length": 1200}, "frames": [{"frame_type": "stream"}]}
        elif name == "packet_received":
            data["frames"] = [{"frame_type": "ack", "acked_ranges": [[number, number]]}]
        else:
            data = lost_data(number)
        events.append({"time": at, "name": f"quic:{name}", "data": data})
    return events


def next_to_its_type(number: int) -> Json:
    """As aioquic writes a lost packet."""
    return {"type": "1RTT", "packet_number": number}


def in_its_header(number: int) -> Json:
    """As most programs do."""
    return {"header": {"packet_type": "1RTT", "packet_number": number}}


def in_draft_02(number: int) -> Json:
    return {"packet_type": "1RTT", "packet_number": number}


def sequential(events: list[Json], begin: str) -> str:
    head = {"qlog_version": "0.3", "qlog_format": "JSON-SEQ", "trace": {}}
    return "".join(f"{begin}{json.dumps(one)}\n" for one in [head, *events])


LOGS = {
    "draft 00": draft_00(),
    "draft 00 in microseconds": draft_00("us"),
    "draft 01": draft_01(),
    "draft 02": whole({}, maps(in_draft_02), "draft-02"),
    "aioquic": whole({}, maps(next_to_its_type), "0.3"),
    "in the header": whole({}, maps(in_its_header), "0.4"),
    "sequential": sequential(maps(in_its_header), "\x1e"),
    "a record a line": sequential(maps(next_to_its_type), ""),
}


@pytest.mark.parametrize("name", LOGS)
def test_losses_are_found_in_every_layout(name: str, tmp_path: Path) -> None:
    path = tmp_path / "connection.qlog"
    path.write_text(LOGS[name])
    found = read_qlog(str(path))
    assert len(found.flow.sent_s) == PACKETS
    assert found.lost == len(lost())
    assert found.waits.median_s == pytest.approx(RTT_MS / 1e3, abs=1e-6)
    assert found.silent == 0


@pytest.mark.parametrize("name", ["sequential", "a record a line"])
def test_a_record_that_was_cut_off_leaves_the_others(name: str, tmp_path: Path) -> None:
    """A server that was ended leaves its log within a record (RFC 7464)."""
    path = tmp_path / "connection.sqlog"
    path.write_text(LOGS[name] + LOGS[name].splitlines()[-1][:-20])
    assert read_qlog(str(path)).lost == len(lost())
    assert len(read_qlog(str(path)).flow.sent_s) == PACKETS
    lines = LOGS[name].splitlines(keepends=True)
    path.write_text("".join([*lines[:50], lines[50][:-20] + "\n", *lines[51:]]))
    with pytest.raises(ScenarioError, match="is no qlog"):
        read_qlog(str(path))


def test_a_log_is_read_as_it_is_saved(tmp_path: Path) -> None:
    for content in (gzip.compress(LOGS["draft 02"].encode()), LOGS["draft 02"].encode("utf-16")):
        (tmp_path / "connection.qlog").write_bytes(content)
        shown = CliRunner().invoke(app, ["diagnose", str(tmp_path / "connection.qlog")])
        assert f"{100 * len(lost()) / PACKETS:.2f} %" in shown.output


def test_losses_that_the_log_does_not_name_are_not_nothing(tmp_path: Path) -> None:
    events = [one for one in maps(in_its_header) if "lost" not in one["name"]]
    (tmp_path / "a.qlog").write_text(whole({}, events, "0.3"))
    found = read_qlog(str(tmp_path / "a.qlog"))
    assert (found.lost, found.silent) == (0, len(lost()))
    assert any("neither acknowledged nor called lost" in line for line in found.sentences)


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.replace('"1RTT"', "17"),
        lambda text: text.replace('"data": {', '"data": [{').replace("}}}", "}}]}"),
        lambda text: text.replace('"packet_number": 1', '"packet_number": "x'),
        lambda text: text.replace("[[", "[[[").replace("]]", "]]]"),
        lambda text: text.replace('"time": 2', '"time": NaN, "x": 2'),
        lambda text: "[" * 100_000 + "qlog",
    ],
)
def test_a_damaged_log_is_refused_by_its_name(damage: Callable[[str], str], tmp_path: Path) -> None:
    path = tmp_path / "damaged.qlog"
    path.write_text(damage(LOGS["in the header"]))
    said = ""
    try:
        read_qlog(str(path))
    except ScenarioError as error:
        said = str(error)
    assert not said or (said.startswith(f"{path}: ") and len(said) < 400)


def test_asking_whether_a_file_is_a_qlog_loads_no_scientific_library() -> None:
    code = (
        "import sys; from airtcp.diagnosis.qlog_events import is_qlog; "
        "assert is_qlog('{\"qlog_version\": 1}'); assert not is_qlog('{}'); "
        "assert not {'scipy', 'numpy', 'polars'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
