"""QUIC in captures: headers, sizes and times, compared with the link that made them."""

import sys
from pathlib import Path

import pytest

from airtcp.diagnosis.as_json import of_capture
from airtcp.diagnosis.capture_answer import diagnosed
from airtcp.diagnosis.quic import QuicFlow, read_quic
from airtcp.diagnosis.read import read_capture

sys.path.insert(0, str(Path(__file__).parents[1] / "captures"))

import quic
from quic import Link, Shape

FULL_BITS = 8 * (quic.FULL + 28)


def flow_of(path: Path) -> QuicFlow:
    """The flow of a capture, which has one."""
    found = read_quic(path)
    assert found is not None
    return found


@pytest.mark.parametrize("at_client", [True, False])
def test_handshake_and_spin_bit_are_the_round_trips(tmp_path: Path, at_client: bool) -> None:
    link = Link(rate_bps=10e6, one_way_s=0.02, window_packets=100)
    found = flow_of(quic.write(tmp_path / "a.pcap", link, Shape(at_client=at_client)))
    assert found.handshake_s == pytest.approx(0.04, rel=0.01)
    assert found.place == ("client" if at_client else "server")
    assert found.spin == "used"
    # A window of packets crosses the link in each round trip, and two at the ends of the wait.
    loaded = link.window_packets * FULL_BITS / link.rate_bps
    assert found.loaded_s is not None
    assert found.loaded_s[0] == pytest.approx(loaded, rel=0.05)
    assert found.base_s == pytest.approx(0.04, rel=0.02)
    assert found.is_download
    assert found.busiest_bps == pytest.approx(link.rate_bps, rel=0.03)
    assert found.id_bytes == (8, 5)
    assert found.is_behind_link is at_client


def test_an_end_that_takes_no_part_shows_no_round_trip(tmp_path: Path) -> None:
    for spin in ("constant", "random"):
        found = flow_of(quic.write(tmp_path / f"{spin}.pcap", Link(), Shape(spin=spin)))
        assert found.spin == spin
        assert found.spin_s == ()
        assert "takes no part" in " ".join(found.sentences)


def test_versions_ids_and_ipv6(tmp_path: Path) -> None:
    shape = Shape(is_ipv6=True, version=0x6B3343CF, id_bytes=(0, 20), negotiates=True)
    found = flow_of(quic.write(tmp_path / "a.pcap", Link(), shape))
    assert found.has_negotiated
    assert found.id_bytes == (0, 20)
    assert found.client == "[2001:db8::2]:50000"
    assert "version 2" in " ".join(found.sentences).replace("0x0a0a0a0a, ", "")


def test_a_capture_that_begins_later_has_the_spin_bit_alone(tmp_path: Path) -> None:
    found = flow_of(quic.write(tmp_path / "a.pcap", Link(), Shape(begins_late=True)))
    assert not found.has_begun
    assert found.handshake_s is None
    assert found.server.endswith(":443")
    assert found.loaded_s is not None
    assert found.loaded_s[0] == pytest.approx(100 * FULL_BITS / 10e6, rel=0.05)
    assert "was before the capture" in " ".join(found.sentences)


def test_a_stop_is_a_silence_that_nobody_is_blamed_for(tmp_path: Path) -> None:
    found = flow_of(quic.write(tmp_path / "a.pcap", Link(stop=(4.0, 0.8)), seconds=8.0))
    assert len(found.silences) == 1
    start, length = found.silences[0]
    assert start == pytest.approx(4.0, abs=0.1)
    assert length == pytest.approx(0.8, abs=0.05)
    assert "not told apart" in " ".join(found.sentences)


def test_the_diagnosis_says_what_cannot_be_known(tmp_path: Path) -> None:
    path = quic.write(tmp_path / "a.pcap", Link(window_packets=300))
    found = diagnosed(read_capture(path, None, None), None)
    assert found.headline.startswith("9.9")
    assert "data waits" in found.headline
    assert "No remedy is recommended" in found.headline
    assert any("Which packets were lost cannot be known" in one for one in found.sentences)
    written = of_capture(found)["quic"]
    assert isinstance(written, dict)
    assert written["spin"] == "used"
