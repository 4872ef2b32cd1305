"""First sentences on inputs from elsewhere, in a folder that `AIRTCP_CASES` names.

They were made after public threads; the truth comes from Linux over a link of which each packet's
fate is known, or from the resolution of the thread. Inputs of the project's making are with the
other tests.
"""

import os
from pathlib import Path

import pytest

from airtcp import ScenarioError
from airtcp.cli.diagnose_files import is_of_counters, is_of_sockets
from airtcp.core.recordings.log import read_ping
from airtcp.diagnosis.capture_answer import diagnosed
from airtcp.diagnosis.kind import is_capture
from airtcp.diagnosis.qlog import read_qlog
from airtcp.diagnosis.read import read_capture
from airtcp.diagnosis.sockets import sockets_of

FOLDER = os.environ.get("AIRTCP_CASES")
pytestmark = pytest.mark.skipif(
    FOLDER is None, reason="needs inputs from elsewhere: AIRTCP_CASES names their folder"
)
SENTENCES = {
    "both-ways/bidir.pcap.gz": "Traffic the other way: acknowledgments wait behind another",
    "coarse-clock/coarse.pcap": "The clock of this capture is coarser than its round trips",
    "leo-like/starlink.pcap.gz": "the path changes 4 times",
    "mtu-hole/hole.pcap.gz": "Packets of 1500 bytes never arrive (all 18 were lost)",
    "no-times/no-times.pcap": "its times were lost, or it is too short",
    "qlog-losses/flat.qlog": "with 5.00 % of its packets lost",
    "qlog-losses/nested.qlog": "with 5.00 % of its packets lost",
    "send-buffer/sndbuf.pcap.gz": "its send buffer holds the flow at",
    "send-buffer/sndbuf.ss": "its own send buffer holds it back at 4.63 Mbit/s for 89.4 %",
    "small-writes/nagle.pcap.gz": "which the receiver delays by 43 ms",
    "ss-limits/ss-rwnd.txt": "the receiver's window holds it back at 5.10 Mbit/s for 98.0 %",
    "ss-limits/ss-sndbuf.txt": "its own send buffer holds it back at 5.10 Mbit/s for 97.0 %",
    "ss-limits/ss-v6.txt": "of its 1\N{NARROW NO-BREAK SPACE}430 retransmissions were needless",
    "ss-old/ss-44.txt": "318 of at most",
    "window-update/window-update.pcap": "The link stalls for 53 % of the time, 980 ms every",
}
PROBES = ("ping-words", "ping-unread", "formats-unread")
TUNNELS = "tunnels"


def _sentence(path: Path) -> str:
    if is_of_counters(str(path)):
        return read_qlog(str(path)).headline
    if is_of_sockets(str(path)):
        return sockets_of(str(path)).headline
    return diagnosed(read_capture(path, None, None), None).headline


def _inputs(folder: str) -> list[Path]:
    return [path for path in sorted((Path(FOLDER or "") / folder).iterdir()) if path.suffix]


@pytest.mark.parametrize("name", SENTENCES)
def test_the_first_sentence_names_the_cause(name: str) -> None:
    assert SENTENCES[name] in _sentence(Path(FOLDER or "") / name)


@pytest.mark.parametrize("folder", PROBES)
def test_every_form_has_the_losses_of_its_series(folder: str) -> None:
    for path in _inputs(folder):
        log = read_ping(path)
        assert (log.sent, log.lost) == (300, 24), path.name
        assert log.median_s == pytest.approx(0.023, abs=0.0005), path.name


def test_every_tunnel_holds_the_same_connection() -> None:
    found = {_sentence(path) for path in _inputs(TUNNELS)}
    assert len(found) == 1
    assert "The receiver's window of 724 B" in found.pop()


def test_a_rate_trace_is_no_list_of_round_trips() -> None:
    path = Path(FOLDER or "") / "rate-trace-as-ping" / "cell.down"
    assert not is_capture(path)
    with pytest.raises(ScenarioError, match="is a rate trace of mahimahi"):
        read_ping(path)
