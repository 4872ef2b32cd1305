"""The log of `--qlog`, checked against the field definitions of the qlog drafts.

draft-ietf-quic-qlog-main-schema-14 (§3, §5 to §7, §10) and draft-ietf-quic-qlog-quic-events-13
(`packet_sent`, `packet_received`, `packet_lost`, `recovery_metrics_updated`, and the types they
use). Their maps are closed: a field that a definition does not have is an error.
"""

# The classes follow the drafts.
# ruff: noqa: D101

from pathlib import Path
from typing import Annotated, Literal

import msgspec
import pytest
from msgspec import Meta, Struct

import airtcp
from airtcp.core.summary import RunSummary
from airtcp.diagnosis.qlog import read_qlog

Count = Annotated[int, Meta(ge=0)]


class Closed(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A map without fields beyond those defined."""


class ReferenceTime(Closed):
    clock_type: str
    epoch: str


class CommonFields(Closed):
    time_format: Literal["relative_to_epoch", "relative_to_previous_event"]
    reference_time: ReferenceTime


class VantagePoint(Closed):
    type: Literal["client", "server", "network", "unknown"]
    name: str | None = None


class TraceSeq(Closed):
    event_schemas: Annotated[list[str], Meta(min_length=1)]
    title: str | None = None
    description: str | None = None
    common_fields: CommonFields | None = None
    vantage_point: VantagePoint | None = None


class QlogFileSeq(Closed):
    file_schema: str
    serialization_format: str
    trace: TraceSeq
    title: str | None = None
    description: str | None = None


class RawInfo(Closed):
    length: Count | None = None
    payload_length: Count | None = None


class PacketHeader(Closed):
    packet_type: Literal["initial", "handshake", "0RTT", "1RTT", "retry", "unknown"]
    packet_number: Count | None = None


class StreamFrame(Closed, tag="stream", tag_field="frame_type"):
    stream_id: Count
    offset: Count = 0
    fin: bool = False
    raw: RawInfo | None = None


class AckFrame(Closed, tag="ack", tag_field="frame_type"):
    acked_ranges: Annotated[
        list[Annotated[list[Count], Meta(min_length=1, max_length=2)]], Meta(min_length=1)
    ]


Frames = list[StreamFrame | AckFrame]


class PacketSent(Closed):
    header: PacketHeader
    frames: Frames | None = None
    raw: RawInfo | None = None
    trigger: (
        Literal[
            "retransmit_reordered",
            "retransmit_timeout",
            "pto_probe",
            "retransmit_crypto",
            "cc_bandwidth_probe",
        ]
        | None
    ) = None


class PacketReceived(Closed):
    header: PacketHeader
    frames: Frames | None = None
    raw: RawInfo | None = None


class PacketLost(Closed):
    header: PacketHeader | None = None
    trigger: Literal["reordering_threshold", "time_threshold", "pto_expired"] | None = None


class Metrics(Closed):
    min_rtt: float | None = None
    smoothed_rtt: float | None = None
    latest_rtt: float | None = None
    congestion_window: Count | None = None
    bytes_in_flight: Count | None = None
    ssthresh: Count | None = None


class Sent(Closed, tag="quic:packet_sent", tag_field="name"):
    time: float
    data: PacketSent


class Received(Closed, tag="quic:packet_received", tag_field="name"):
    time: float
    data: PacketReceived


class Lost(Closed, tag="quic:packet_lost", tag_field="name"):
    time: float
    data: PacketLost


class MetricsUpdated(Closed, tag="quic:recovery_metrics_updated", tag_field="name"):
    time: float
    data: Metrics


Event = Sent | Received | Lost | MetricsUpdated


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> tuple[RunSummary, bytes]:
    """A run with losses, timeouts and tail probes, and its log."""
    path = tmp_path_factory.mktemp("qlog") / "run.sqlog"
    settings = {"duration": "20 s", "link.loss.rate": 0.03, "flows.bytes": "2 MB"}
    settings |= {"link.stops.every": "4 s", "link.stops.length": "900 ms"}
    run = airtcp.run("lossy-pipe", 3, settings, qlog=path)
    return run.summary, path.read_bytes()


def records(log: bytes) -> list[bytes]:
    """RFC 7464 §2.2: a record separator, a JSON text, a line feed."""
    texts = log.split(b"\x1e")
    assert texts[0] == b""
    assert all(text.endswith(b"\n") for text in texts[1:])
    return texts[1:]


def test_the_header_names_its_schemas(logged: tuple[RunSummary, bytes]) -> None:
    header, *_ = records(logged[1])
    file = msgspec.json.decode(header, type=QlogFileSeq)
    assert file.file_schema == "urn:ietf:params:qlog:file:sequential"
    assert file.serialization_format == "application/qlog+json-seq"
    assert file.trace.event_schemas == ["urn:ietf:params:qlog:events:quic-13"]
    # A monotonic clock's epoch is unknown; tools look for these two within 256 bytes (§3).
    assert file.trace.common_fields is not None
    assert file.trace.common_fields.reference_time.epoch == "unknown"
    assert header.index(b"serialization_format") < 200


def test_every_event_is_as_the_draft_defines_it(logged: tuple[RunSummary, bytes]) -> None:
    summary, log = logged
    (flow,) = summary["flows"]
    events = [msgspec.json.decode(text, type=Event) for text in records(log)[1:]]
    times = [event.time for event in events]
    assert times == sorted(times)

    sent = [event.data for event in events if isinstance(event, Sent)]
    numbers = [packet.header.packet_number for packet in sent]
    assert numbers == list(range(len(sent)))
    with_data = [packet for packet in sent if packet.frames]
    assert len(with_data) == flow["segments_sent"]
    # What repeats data says why; a tail probe may bring new data (RFC 8985 §7.3).
    furthest, repeats = 0, []
    for packet in with_data:
        (frame,) = packet.frames or []
        assert isinstance(frame, StreamFrame)
        if frame.offset < furthest:
            repeats.append(packet)
        elif packet.trigger:
            assert packet.trigger == "pto_probe"
        assert frame.raw is not None
        furthest = max(furthest, frame.offset + (frame.raw.length or 0))
    assert 0 < len(repeats) == flow["segments_retransmitted"]
    triggers = {packet.trigger for packet in repeats}
    assert triggers >= {"retransmit_reordered", "retransmit_timeout"}
    assert None not in triggers

    lost = [event.data for event in events if isinstance(event, Lost)]
    assert {packet.trigger for packet in lost} == {"reordering_threshold", "pto_expired"}
    assert all(packet.header is not None for packet in lost)
    metrics = [event.data for event in events if isinstance(event, MetricsUpdated)]
    assert metrics[0].congestion_window
    received = [event.data for event in events if isinstance(event, Received)]
    assert any(isinstance(frame, AckFrame) for one in received for frame in one.frames or [])


def test_a_field_of_no_definition_is_found() -> None:
    """The definitions above do refuse what the drafts do not have."""
    old = b'{"time": 1.0, "name": "transport:packet_sent", "data": {}}'
    extra = b'{"time": 1.0, "name": "quic:packet_lost", "data": {"packet_number": 3}}'
    for text in (old, extra):
        with pytest.raises(msgspec.ValidationError):
            msgspec.json.decode(text, type=Event)


def test_the_run_is_the_same_with_a_log(logged: tuple[RunSummary, bytes], tmp_path: Path) -> None:
    settings = {"duration": "20 s", "link.loss.rate": 0.03, "flows.bytes": "2 MB"}
    settings |= {"link.stops.every": "4 s", "link.stops.length": "900 ms"}
    plain = airtcp.run("lossy-pipe", 3, settings)
    assert plain.summary["digest"] == logged[0]["digest"]


def test_what_was_lost_is_read_back(tmp_path: Path) -> None:
    """`diagnose` finds the packets that the link lost, in a run whose link never reorders.

    A repair's acknowledgment is no acknowledgment of what it repairs: a log that says both leaves
    nothing lost.
    """
    path = tmp_path / "run.sqlog"
    settings = {"duration": "20 s", "link.loss.rate": 0.02, "flows.bytes": "3 MB"}
    summary = airtcp.run("lossy-pipe", 5, settings, qlog=path).summary
    (flow,) = summary["flows"]
    log = read_qlog(str(path))
    lost = flow["segments_lost_link"]
    # One acknowledgment of two repairs echoes the first's timestamp, which leaves the second open.
    assert lost > 0
    assert abs(log.lost - lost) <= 0.1 * lost
    assert log.needless <= 0.1 * lost
