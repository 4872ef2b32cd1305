"""Segments of a capture and of a simulation, and the first at which two lists of them part."""

import contextlib
import struct
from dataclasses import replace
from pathlib import Path

import pytest

import airtcp
from airtcp.kernel.first_difference import first_difference
from airtcp.kernel.segments import (
    RecordingError,
    Segment,
    is_sender,
    recorded_segments,
    simulated_segments,
)

LOSSY = {"duration": "3 s", "link.loss.rate": "0.01"}


def test_a_capture_tells_what_the_table_of_segments_tells(tmp_path: Path) -> None:
    """The core writes both: sequence numbers, headers and options here, offsets there."""
    path = tmp_path / "run.pcapng"
    run = airtcp.run("lossy-pipe", settings=LOSSY, packets=True, pcap=path)
    capture = path.read_bytes()
    simulated, recorded = simulated_segments(run.arrow("packets"), 0), recorded_segments(capture, 0)
    assert len(simulated) > 500
    assert any(segment.sack for segment in simulated)
    assert recorded == simulated
    assert is_sender(capture)
    assert recorded_segments(capture, 7) == []
    parting = first_difference(simulated, recorded)
    assert parting.content is None
    assert parting.time is None
    assert parting.lines() == [
        f"no difference: {len(recorded)} segments, the same and at the same times"
    ]


def test_of_several_connections_the_one_with_most_data_is_compared(tmp_path: Path) -> None:
    """Exchanges under load pass the same interface in a kernel's recording."""
    path = tmp_path / "run.pcapng"
    two = {"duration": "2 s", "flows.count": 2, "flows.access_delay": ["400 ms", "0 ms"]}
    run = airtcp.run("dumbbell", settings=two, packets=True, pcap=path)
    capture = bytearray(path.read_bytes())
    at = 0
    while at < len(capture):
        kind, length, interface = struct.unpack_from("<III", capture, at)
        if kind == 6 and interface == 1:
            struct.pack_into("<I", capture, at + 8, 0)
        at += length
    sent = [flow["segments_sent"] for flow in run.summary["flows"]]
    assert sent[1] > 1.2 * sent[0] > 0
    found = recorded_segments(bytes(capture), 0)
    expected = simulated_segments(run.arrow("packets"), 1)
    assert [(one.is_out, one.offset, one.size) for one in found] == [
        (one.is_out, one.offset, one.size) for one in expected
    ]


def test_other_seeds_part_at_the_first_loss_that_only_one_has() -> None:
    one, other = (
        simulated_segments(airtcp.run("lossy-pipe", seed, LOSSY, packets=True).arrow("packets"), 0)
        for seed in (1, 2)
    )
    found = first_difference(one, other).content
    assert found is not None
    # A loss shows first in the acknowledgments: one that does not advance.
    assert not found.is_out
    assert found.number < 500


def _segments(count: int) -> list[Segment]:
    syn = Segment(0.0, is_out=True, offset=0, size=0, is_syn=True)
    data = [
        Segment(0.05 + n / 1000, is_out=True, offset=1000 * n, size=1000, is_syn=False)
        for n in range(count)
    ]
    acks = [
        Segment(0.1 + n / 1000, is_out=False, offset=1000 * (n + 1), size=0, is_syn=False)
        for n in range(count)
    ]
    return sorted([syn, *data, *acks], key=lambda segment: segment.time_s)


def test_each_direction_is_compared_for_itself() -> None:
    one = _segments(100)
    other = sorted(one, key=lambda segment: (segment.time_s, segment.is_out))
    assert first_difference(one, other).content is None


def test_the_first_of_all_differences_is_named_with_what_each_did() -> None:
    one = _segments(200)
    place = next(n for n, segment in enumerate(one) if segment.time_s > 0.15 and segment.is_out)
    other = [*one]
    other[place] = replace(one[place], offset=0)
    later = next(n for n, segment in enumerate(one) if n > place and not segment.is_out)
    other[later] = replace(one[later], sack=((5, 9),))
    found = first_difference(one, other)
    assert found.content is not None
    assert (found.content.simulated, found.content.kernel) == (one[place], other[place])
    text = "\n".join(found.lines())
    assert "sends 0..1000" in text
    assert "hears ACK" in text


def test_a_time_counts_from_the_tolerance_on() -> None:
    one = _segments(100)
    other = [replace(segment, time_s=segment.time_s * 1.01) for segment in one]
    assert first_difference(one, other, 0.002).time is None
    found = first_difference(one, other, 0.001).time
    assert found is not None
    assert found.simulated is not None
    assert found.simulated.time_s == pytest.approx(0.1, abs=0.002)


def test_the_end_of_the_shorter_list_is_no_difference() -> None:
    one = _segments(100)
    assert first_difference(one, one[:120]).content is None
    # But a kernel that sends nothing at all parts from the simulation at once.
    assert "kernel has no more" in first_difference(one, []).lines()[0]


def test_a_damaged_capture_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "run.pcapng"
    airtcp.run("lossy-pipe", settings={"duration": "200 ms"}, pcap=path)
    capture = path.read_bytes()
    for place in range(0, 600, 7):
        damaged = capture[:place] + b"\xff\xff\xff" + capture[place + 3 :]
        with contextlib.suppress(RecordingError):
            recorded_segments(damaged, 0)
    with pytest.raises(RecordingError, match="damaged at byte 0"):
        recorded_segments(struct.pack("<III", 6, 4, 0), 0)
