"""tshark's findings in a capture agree with the simulator's counts."""

import subprocess
from pathlib import Path

import pytest

import airtcp
from airtcp import _core

pytestmark = pytest.mark.needs("tshark")

# Wireshark guesses from the order of segments, and calls a repeat that leaves within a round trip
# of new data "out of order", which at the sender's own interface it cannot be.
REPEATED = "tcp.analysis.retransmission || tcp.analysis.out_of_order"


def count(capture: Path, display_filter: str) -> int:
    """How many packets of the capture the filter matches; checksums are checked."""
    checks = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
    command = ["tshark", "-n", *checks, "-r", str(capture), "-Y", display_filter]
    listing = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    return len(listing.stdout.splitlines())


@pytest.mark.parametrize(
    ("profile", "loss"),
    [("newreno", "0"), ("newreno", "0.02"), ("sack", "0.02"), ("tahoe", "0.01")],
)
def test_tshark_sees_sound_packets_and_as_many_repeats(
    lossy: str, tmp_path: Path, profile: str, loss: str
) -> None:
    scenario = airtcp.load_scenario(
        lossy, settings={"tcp.profile": profile, "link.loss.rate": loss}
    )
    capture = tmp_path / "run.pcapng"
    result = _core.run(scenario, 1, pcap=capture)
    (flow,) = airtcp.Run(scenario, result).summary["flows"]
    assert count(capture, "tcp") > flow["segments_sent"]
    assert count(capture, "_ws.malformed") == 0
    assert count(capture, "tcp.checksum.status == 0 || ip.checksum.status == 0") == 0
    assert flow["segments_retransmitted"] > 0
    assert count(capture, REPEATED) == flow["segments_retransmitted"]
    if loss == "0":
        assert count(capture, "tcp.analysis.retransmission") == flow["segments_retransmitted"]
