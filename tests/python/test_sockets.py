"""Counters of connections as `ss -ti` prints them: read, cut off, damaged, in a file."""

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from airtcp._core import ScenarioError
from airtcp.cli.commands import app
from airtcp.diagnosis.sockets import parsed

# As `ss -ti` of iproute2 6.1 prints it, with addresses of documentation.

TWO_LINES = """\
State Recv-Q Send-Q  Local Address:Port   Peer Address:Port Process
ESTAB 0      118336      192.0.2.1:43210   198.51.100.7:443
\t cubic wscale:7,7 rto:412 rtt:180.4/12.1 ato:40 mss:1448 pmtu:1500 rcvmss:536 advmss:1448 \
cwnd:34 ssthresh:30 bytes_sent:52428800 bytes_retrans:1448000 bytes_acked:50980800 \
bytes_received:4321 segs_out:36300 segs_in:18000 data_segs_out:36208 data_segs_in:12 \
send 2183234bps lastsnd:4 lastrcv:812 lastack:4 pacing_rate 2619872bps delivery_rate 8123456bps \
delivered:35208 busy:50120ms rwnd_limited:20048ms(40.0%) sndbuf_limited:120ms(0.2%) unacked:33 \
retrans:1/1000 dsack_dups:40 reord_seen:3 rcv_space:14600 rcv_ssthresh:64088 minrtt:21.3
ESTAB 0      0           192.0.2.1:22      198.51.100.9:51000
\t bbr wscale:7,7 rto:204 rtt:3.2/1.1 mss:1448 cwnd:10 bytes_sent:900 bytes_acked:900 \
segs_out:12 data_segs_out:9 app_limited busy:40ms minrtt:2.9
"""
ONE_LINE = (
    "0 0 192.0.2.1:80 [2001:db8::7]:4000 ts sack ecn reno wscale:7,7 rto:250 rtt:50.1/0.4 mss:1428 "
    "cwnd:88 bytes_sent:9000000 bytes_acked:9000000 data_segs_out:6303 send 20Mbps "
    "delivery_rate 19.5Mbps busy:3600ms app_limited minrtt:49.8\n"
)


def test_counters_of_connections_are_read_as_the_kernel_prints_them() -> None:
    found = parsed(TWO_LINES, "ss.txt")
    (one,) = found.connections
    assert found.small == 1
    assert (one.control, one.segments, one.resent, one.needless) == ("cubic", 36208, 1000, 40)
    assert one.rtt_s == pytest.approx(0.1804)
    assert one.least_rtt_s == pytest.approx(0.0213)
    assert one.delivery_bps == pytest.approx(8_123_456)
    text = " ".join(found.sentences)
    assert "2.76 %" in text
    assert "40 of them needless by D-SACK" in text
    assert "the receiver's window held it back for 40.0 % of that" in text
    assert "send buffer held" not in text
    assert "Latency: its smoothed round trip is 180 ms" in text
    assert "its data waits 159 ms in a queue" in found.headline
    assert "2.76 % of its segments were retransmitted" in found.headline
    idle = parsed(TWO_LINES.replace("minrtt:21.3", "minrtt:121.3"), "ss.txt")
    assert idle.headline.endswith("2.76 % of its segments were retransmitted.")
    assert "cannot tell whether a queue or the radio" in text


def test_one_line_for_each_connection_is_read_as_well() -> None:
    (one,) = parsed(ONE_LINE, "ss").connections
    assert one.control == "reno"
    assert one.peer == "[2001:db8::7]:4000"
    assert one.is_application_limited
    assert "limited by its application" in one.sentences[0]
    assert "Nothing was retransmitted." in one.sentences
    assert not any(sentence.startswith("Latency") for sentence in one.sentences)


OLD_KERNEL = """\
State      Recv-Q Send-Q      Local Address:Port        Peer Address:Port
ESTAB      0      91224         192.0.2.1:443           198.51.100.7:51000
\t ts sack reno wscale:7,7 rto:300 rtt:90.5/9 mss:1448 cwnd:6 ssthresh:5 bytes_acked:4120000 \
bytes_received:900 segs_out:3000 segs_in:1500 send 700Kbps retrans:0/120 rcv_space:29200
"""


def test_kernels_before_4_6_bound_the_segments_that_they_do_not_count() -> None:
    (one,) = parsed(OLD_KERNEL, "ss.txt").connections
    assert (one.segments, one.resent, one.is_bound) == (3000, 120, True)
    words = " ".join(one.sentences[1].split())
    assert "120 of at most 3 000 segments were retransmitted (4.00 % or more)" in words
    older = OLD_KERNEL.replace("segs_out:3000 segs_in:1500 ", "")
    (one,) = parsed(older, "ss.txt").connections
    assert "this kernel does not count how many were sent" in one.sentences[1]
    # A receiver acknowledges, and sends no data.
    receiver = OLD_KERNEL.replace(
        "bytes_acked:4120000 bytes_received:900", "bytes_received:4120000"
    )
    assert "It sent no data" in parsed(receiver, "ss.txt").connections[0].sentences[1]


def test_counters_cut_off_show_no_absence() -> None:
    """Cut at each place, as by the width of a terminal: nothing that follows is denied."""
    whole = TWO_LINES[: TWO_LINES.index("ESTAB 0      0 ")]
    counted = whole.index("rto:412") + 4
    # Behind the retransmissions only counters follow that no sentence denies.
    for end in range(counted, whole.index("rcv_space:")):
        found = parsed(whole[:end], "ss.txt")
        text = " ".join(found.sentences)
        assert "its counters are cut off" in text
        assert "ss -tin > FILE" in text
        for denied in ("none had to", "Nothing was retransmitted", "no data", "This kernel"):
            assert denied not in text
    assert "cut off" not in " ".join(parsed(whole, "ss.txt").sentences)
    # Of several, the one at the end is cut; another had repairs.
    several = TWO_LINES + ONE_LINE[: ONE_LINE.index("bytes_acked")]
    assert "2.76 %" in parsed(several, "ss.txt").headline


def test_connections_without_counters_are_named() -> None:
    bare = "".join(f"{one}\n" for one in OLD_KERNEL.splitlines() if not one.startswith("\t"))
    with pytest.raises(ScenarioError, match=r"without their counters.*ss -ti"):
        parsed(bare, "ss.txt")


def test_lines_in_reverse_are_refused() -> None:
    """Each connection would get the counters of its neighbour."""
    ends = "ESTAB 0 0 10.0.0.1:{port} 10.0.0.2:80"
    counters = "\t cubic rto:204 rtt:20/1 cwnd:10 bytes_sent:{sent} data_segs_out:700"
    lines = [
        line
        for port, sent in ((4001, 9_000_000), (4002, 8_000_000))
        for line in (ends.format(port=port), counters.format(sent=sent))
    ]
    assert [one.sent_bytes for one in parsed("\n".join(lines), "x").connections] == [
        9_000_000,
        8_000_000,
    ]
    with pytest.raises(ScenarioError, match="each connection's line in front of its counters"):
        parsed("\n".join(reversed(lines)), "x")
    # The beginning was cut off: the rest is as it was.
    assert len(parsed("\n".join(lines[1:]), "x").connections) == 1


def test_a_damaged_number_is_cut_and_a_word_without_end_takes_no_time() -> None:
    """An expression over the whole text took minutes for a line of one word."""
    found = parsed(
        "ESTAB 0 0 192.0.2.1:5001 192.0.2.2:40000\n\t cubic rto:304 rtt:1.2.3/1 cwnd:90 "
        "minrtt:..5 busy:..2ms bytes_sent:9800000 bytes_acked:9750000 data_segs_out:6790 "
        f"delivery_rate 1.2.3Mbps delivery_rate 12.5Mbps {'x' * 500_000}\n",
        "ss.txt",
    )
    (one,) = found.connections
    assert one.rtt_s == pytest.approx(1.2e-3)
    assert (one.least_rtt_s, one.busy_s) == (None, None)
    assert one.delivery_bps == 12.5e6


def test_what_is_no_list_of_sockets_is_refused() -> None:
    with pytest.raises(ScenarioError, match="ss -ti"):
        parsed("64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=1.2 ms\n", "link.ping")
    assert "no connection moved" in parsed("", "ss").headline
    for cut in range(0, len(TWO_LINES), 37):
        try:
            parsed(TWO_LINES[:cut], "cut")
        except ScenarioError:
            continue


@pytest.mark.parametrize(
    "content",
    [
        TWO_LINES.encode("utf-16"),
        gzip.compress(TWO_LINES.encode()),
        f"user@host:~$ ss -tinmo\n{TWO_LINES}".encode(),
        f"Every 1.0s: ss -tin\n\n{TWO_LINES}".encode(),
    ],
    ids=["utf-16", "gzip", "prompt", "watch"],
)
def test_sockets_are_read_as_they_are_saved(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "saved"
    path.write_bytes(content)
    shown = CliRunner().invoke(app, ["diagnose", str(path), "--json"])
    assert shown.exit_code == 0, shown.output
    assert json.loads(shown.stdout)["connections"][0]["resent"] == 1000


def test_a_list_of_netstat_lacks_the_counters(tmp_path: Path) -> None:
    path = tmp_path / "netstat.txt"
    path.write_text(
        "Active Internet connections (w/o servers)\nProto Recv-Q Send-Q Local Address Foreign "
        "Address State\ntcp 0 0 192.0.2.5:22 198.51.100.7:4011 ESTABLISHED\n"
    )
    shown = CliRunner().invoke(app, ["diagnose", str(path)])
    assert shown.exit_code == 2
    assert "expected the output of `ss -ti`" in " ".join(shown.output.split())


def test_the_command_diagnoses_sockets_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "ss.txt"
    path.write_text(TWO_LINES)
    shown = CliRunner().invoke(app, ["diagnose", "--sockets", str(path), "--json"])
    assert shown.exit_code == 0, shown.output
    assert json.loads(shown.stdout)["connections"][0]["resent"] == 1000
    unflagged = CliRunner().invoke(app, ["diagnose", str(path), "--json"])
    assert unflagged.stdout == shown.stdout
    both = CliRunner().invoke(app, ["diagnose", "--sockets", str(path), "-i", "lo"])
    assert both.exit_code == 2
    absent = CliRunner().invoke(app, ["diagnose", "--sockets", str(tmp_path / "none")])
    assert absent.exit_code == 2
