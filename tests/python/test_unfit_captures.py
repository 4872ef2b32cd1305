"""Captures that no link can be fitted to are refused by the cause, and keep their labels."""

import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import airtcp
from airtcp.diagnosis.capture_answer import diagnosed, flow_of
from airtcp.diagnosis.fittable import why_no_fit
from airtcp.diagnosis.observed import Observed
from airtcp.diagnosis.read import read_capture
from airtcp.diagnosis.result import Diagnosis
from airtcp.diagnosis.stops import found_stops
from airtcp.diagnosis.tables import Labels
from airtcp.diagnosis.words import retransmissions
from capture_mutants import Packets, packets_of, write
from naive_flow import Link, flow_over

MSS = 1448
RTT_S = 0.02
SYN, ACK, SYN_ACK = 0x02, 0x10, 0x12


def packet(*, is_data: bool, sequence: int, acked: int, flags: int, payload: int) -> bytearray:
    """An IPv4 packet of TCP without options, between two fixed ends."""
    ends = (b"\xc0\0\2\1", b"\xc0\0\2\2"), (40000, 5001)
    addresses, ports = ends if is_data else (ends[0][::-1], ends[1][::-1])
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 40 + payload, 1, 0, 64, 6, 0) + b"".join(addresses)
    tcp = struct.pack(">HHIIBBHHH", *ports, sequence, acked, 0x50, flags, 60000, 0, 0)
    return bytearray(ip + tcp + bytes(payload))


def conversation(
    segments: int, gap_s: float, rtt_s: float = RTT_S, *, stops: tuple[int, ...] = ()
) -> Packets:
    """Segments one by one, each acknowledged after a round trip.

    Before the acknowledgment of each of `stops`, which comes a second late, comes by 10 ms a window
    update, which reports nothing new.
    """
    at, found = 0.0, []

    def say(delay_s: float, one: bytearray) -> None:
        found.append((round(1e9 * (at + delay_s)), one))

    say(0, packet(is_data=True, sequence=99, acked=0, flags=SYN, payload=0))
    say(rtt_s, packet(is_data=False, sequence=499, acked=100, flags=SYN_ACK, payload=0))
    say(rtt_s, packet(is_data=True, sequence=100, acked=500, flags=ACK, payload=0))
    at += rtt_s
    for number in range(segments):
        first = 100 + MSS * number
        say(0, packet(is_data=True, sequence=first, acked=500, flags=ACK, payload=MSS))
        at += rtt_s + (1.0 if number in stops else 0.0)
        if number in stops:
            say(-0.01, packet(is_data=False, sequence=500, acked=first, flags=ACK, payload=0))
        say(0, packet(is_data=False, sequence=500, acked=first + MSS, flags=ACK, payload=0))
        at += gap_s
    return found


def labels_of(*causes: str) -> Labels:
    """Retransmissions with these causes."""
    return Labels(time_ns=np.arange(len(causes)), cause=np.array(causes))


def diagnosis_of(packets: Packets, folder: Path) -> Diagnosis:
    write(folder / "a.pcap", packets)
    return diagnosed(read_capture(folder / "a.pcap", None, None), None)


@pytest.mark.parametrize("tick_ms", [10, 15.625, 100])
def test_a_clock_that_ticks_slower_than_the_round_trip_is_named(
    tick_ms: float, tmp_path: Path
) -> None:
    tick = int(1e6 * tick_ms)
    packets = [(at // tick * tick, one) for at, one in conversation(600, 0.0007, rtt_s=0.0031)]
    found = diagnosis_of(packets, tmp_path)
    assert "clock of this capture is coarser than its round trips" in found.headline
    assert f"ticks every {tick_ms:.3g} ms" in found.headline
    # Labels remain. Without delays neither causes nor shares of the time show.
    facts = found.capture.facts
    assert facts is not None
    assert any(line.startswith("Flow 1 from") for line in found.sentences)
    assert not any(line.startswith("Of ") for line in found.sentences)
    lossy = retransmissions(facts, labels_of("radio", "tail-drop"), has_times=False)
    assert lossy.endswith("Without times their causes do not show.")
    unknown = ("not-shown", "not-shown")
    assert retransmissions(facts, labels_of(*unknown)).endswith(
        "causes do not show in this capture."
    )
    assert retransmissions(facts, labels_of("radio", "tail-drop", *unknown)).endswith(
        "Causes: unknown (2), the radio (1), a full queue (1)."
    )


def test_a_tick_of_seconds_is_in_seconds(tmp_path: Path) -> None:
    packets = [(at // 10**9 * 10**9, one) for at, one in conversation(60, 0.2, rtt_s=0.2)]
    assert "(it ticks every 1 s)" in diagnosis_of(packets, tmp_path).headline


def test_round_times_of_an_emulator_are_no_coarse_clock(tmp_path: Path) -> None:
    flow = diagnosis_of(conversation(200, 0.0, rtt_s=0.01), tmp_path).flow
    assert flow is not None
    assert why_no_fit(flow) is None


@pytest.mark.parametrize("whole_s", [0.0, 44e-6])
def test_lost_times_are_named(whole_s: float, tmp_path: Path) -> None:
    packets = conversation(60, 0.0)
    squeezed = [
        (round(1e9 * whole_s * place / len(packets)), one) for place, (_, one) in enumerate(packets)
    ]
    found = diagnosis_of(squeezed, tmp_path)
    assert "its times were lost" in found.headline
    assert ("or it is too short" in found.headline) == (whole_s > 0)
    assert "link.toml" not in found.headline


def test_a_flow_of_days_is_named() -> None:
    flow = flow_over(Link(), 5.0, 0.01)
    days = replace(flow, sent_s=flow.sent_s * 1e5, ack_s=flow.ack_s * 1e5)
    assert "hours by its times" in (why_no_fit(days) or "")


def test_a_report_just_as_a_burst_ends_ends_a_stop(tmp_path: Path) -> None:
    stops = tuple(range(40, 400, 40))
    flow = diagnosis_of(conversation(420, 0.01, stops=stops), tmp_path).flow
    assert flow is not None
    found = found_stops(flow, 1e6)
    assert len(found) == len(stops)
    assert all(one.length_s == pytest.approx(0.98, abs=0.03) for one in found)


def test_whatever_has_no_positive_figures_is_refused() -> None:
    flow = flow_over(Link(), 5.0, 0.01)
    assert why_no_fit(flow) is None
    nothing = np.zeros(len(flow.newly))
    unfit: list[Observed] = [
        replace(flow, rtt_s=np.full(len(flow.rtt_s), np.nan)),
        replace(flow, rtt_s=flow.rtt_s * 0.0),
        replace(flow, rtt_s=-flow.rtt_s),
        replace(flow, newly=nothing),
        replace(flow, sent_s=flow.sent_s * 0.0, ack_s=flow.ack_s * 0.0),
    ]
    for one in unfit:
        reason = why_no_fit(one)
        assert reason is not None
        assert "apture" in reason  # says what to do


def test_a_flow_is_what_the_capture_holds(tmp_path: Path) -> None:
    write(tmp_path / "a.pcap", conversation(100, 0.0))
    flow = flow_of(read_capture(tmp_path / "a.pcap", None, None))
    assert flow is not None
    assert flow.base_rtt_s == pytest.approx(RTT_S)
    assert len(flow.sent_s) == 100


@pytest.fixture(scope="module")
def window_bound(tmp_path_factory: pytest.TempPathFactory) -> Packets:
    """A flow that a receive buffer of 60 kB holds back, over a queue that never fills."""
    path = tmp_path_factory.mktemp("window") / "whole.pcapng"
    settings: dict[str, object] = {
        "link.rate": "20 Mbit/s",
        "link.delay": "20 ms",
        "link.queue.packets": 200,
        "tcp.profile": "linux",
        "tcp.receive_buffer": 60_000,
    }
    airtcp.run('name = "window"\nduration = "8 s"\n', 3, settings=settings, pcap=path)
    return packets_of(path)


@pytest.mark.parametrize("kept", [40, 54])
def test_a_window_without_its_scale_is_not_blamed(
    kept: int, window_bound: Packets, tmp_path: Path
) -> None:
    """Of Ethernet frames of 54 and 68 bytes that many are the IP packet's."""
    assert "The receiver's window of 60" in diagnosis_of(window_bound, tmp_path).headline
    cut = [(at, one[:kept]) for at, one in window_bound]
    found = diagnosis_of(cut, tmp_path)
    said = " ".join(found.sentences)
    assert "The receiver's window of" not in said
    # Either end may bound what is in flight: neither is named alone.
    assert "its send buffer or the receiver's window, whose scale this capture lacks," in said
    assert "window has room" not in said
    assert "cut off TCP's options, and with them the scale of its windows" in said
    assert said.count("tcpdump -s 128") == 1
