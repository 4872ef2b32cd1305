"""Airtime of a monitor's capture, in the sentences and as JSON."""

import struct
from pathlib import Path

import pytest

from airtcp.diagnosis.air import Air, read_air
from airtcp.diagnosis.as_json import of_capture
from airtcp.diagnosis.capture_answer import diagnosed
from airtcp.diagnosis.read import read_capture

POINT, NEAR, FAR = (bytes([2, 0, 0, 0, 0, last]) for last in (1, 2, 3))


def radiotap(mcs: int, aggregate: int) -> bytes:
    """MCS of 802.11n at 20 MHz, and the aggregate's number (radiotap.org)."""
    fields = bytes([0x07, 0, mcs, 0]) + struct.pack("<II", aggregate, 0)
    return struct.pack("<BBHI", 0, 0, 8 + len(fields), 1 << 19 | 1 << 20) + fields


def frame(receiver: bytes, *, is_retry: bool, length: int = 1532) -> bytes:
    """An encrypted QoS data frame, as a monitor receives it."""
    head = bytes([0x88, 0x42 | (8 if is_retry else 0), 0, 0]) + receiver + POINT + POINT
    return head.ljust(length - 4, b"\x5a")


@pytest.fixture
def monitored(tmp_path: Path) -> Path:
    """Twenty aggregates of four at 65 Mbit/s, as many lone frames at 6.5, half of them retries."""
    path = tmp_path / "air.pcap"
    packets = []
    for number in range(20):
        packets += [radiotap(7, 2 * number) + frame(NEAR, is_retry=False)] * 4
        packets.append(radiotap(0, 2 * number + 1) + frame(FAR, is_retry=bool(number % 2)))
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 127))
        for at, packet in enumerate(packets):
            micros = at * 1000
            file.write(struct.pack("<IIII", 0, micros, len(packet), len(packet)) + packet)
    return path


def air_of(path: Path) -> Air:
    """The airtime of a capture, which has some."""
    found = read_air(path)
    assert found is not None
    return found


def test_airtime_is_that_of_the_modes(monitored: Path) -> None:
    """36 µs and symbols of 4 µs, with 26 bits at 6.5 and 260 at 65 Mbit/s.

    IEEE 802.11-2020 §19.4.3; an aggregate has four subframes of 4 + 1532 bytes.
    """
    far, near = air_of(monitored).pairs
    assert far.receiver.endswith("03")

    def micros(size: int, bits: int) -> int:
        return 36 + 4 * -(-(16 + 8 * size + 6) // bits)

    assert far.airtime_s == pytest.approx(20e-6 * micros(1536, 26))
    assert near.airtime_s == pytest.approx(20e-6 * micros(4 * 1536, 260))
    assert (far.ppdus, near.ppdus, near.frames_a_ppdu) == (20, 20, 4.0)
    assert (far.retry_share, near.retry_share) == (0.5, 0.0)
    assert (far.mean_rate_bps, near.mean_rate_bps) == (6.5e6, 65e6)
    assert far.standard == "802.11n"


def test_sentences_name_who_slows_all(monitored: Path) -> None:
    found = diagnosed(read_capture(monitored, None, None), None)
    said = " ".join(found.sentences)
    # No tunnel of the machine.
    assert "encrypted by the Wi-Fi. Capture on the client itself" in found.headline
    assert "02:00:00:00:00:01 to 02:00:00:00:00:03: 71 % of the airtime" in said
    assert "50 % retries" in said
    assert "4 frames an aggregate" in said
    assert "its rate, 6.50 Mbit/s, slows all" in said
    written = of_capture(found)["air"]
    assert isinstance(written, dict)
    assert len(written["pairs"]) == 2


def test_a_capture_without_a_radio_has_no_airtime(tmp_path: Path) -> None:
    path = tmp_path / "none.pcap"
    path.write_bytes(
        struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1)
        + struct.pack("<IIII", 0, 0, 60, 60)
        + bytes(60)
    )
    assert read_air(path) is None
