"""Speed tests and iperf 2, as people paste them: the queue under load comes first."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import airtcp
from airtcp.cli.commands import app
from airtcp.comparison.sequential import Rounds
from airtcp.core.recordings.recording import DOWN, UP, read_recording
from airtcp.diagnosis.bloat import SHAPED, bloats
from airtcp.diagnosis.idle_jitter import idle_jitters

OOKLA = """
   Speedtest by Ookla

      Server: Foo - Berlin (id: 1234)
Idle Latency:    24.10 ms   (jitter: 3.10ms, low: 20.11ms, high: 30.33ms)
    Download:    21.34 Mbps (data used: 31.2 MB)
                {down:.2f} ms   (jitter: 8.10ms, low: 30.11ms, high: 1080.33ms)
      Upload:     4.84 Mbps (data used: 11.2 MB)
               {up:.2f} ms   (jitter: 12.10ms, low: 31.11ms, high: 2380.33ms)
 Packet Loss:     0.0%
"""
# iperf 2.1.8 on Debian 12, with rates and round trips of a slower link.
IPERF2 = """\
------------------------------------------------------------
Client connecting to 192.0.2.1, TCP port 5001 with pid 9966 (1 flows)
Write buffer size: 131072 Byte
TOS set to 0x0 (Nagle on)
TCP window size: 85.0 KByte (default)
------------------------------------------------------------
[  1] local 192.0.2.2%wlan0 port 40500 connected with 192.0.2.1 port 5001 (sock=3) \
(icwnd/mss/irtt=14/1448/21000) (ct=21.10 ms)
[ ID] Interval            Transfer    Bandwidth       Write/Err  Rtry     Cwnd/RTT(var)  NetPwr
[{star}1] 0.0000-1.0000 sec  1.13 MBytes  9.44 Mbits/sec  9/0          0     123K/188000(102) us  6
[{star}1] 1.0000-2.0000 sec  1.13 MBytes  9.44 Mbits/sec  9/0          9     295K/224000(20) us  6
[{star}1] 2.0000-3.0000 sec  1.13 MBytes  9.44 Mbits/sec  9/0          1     295K/222000(24) us  6
[{star}1] 0.0000-3.0100 sec  3.38 MBytes  9.41 Mbits/sec  27/0        10     295K/210000(29) us  6
"""
FEW = Rounds(most_seeds=2, most_cpu_s=20.0)


def written(folder: Path, text: str) -> Path:
    """A file with that text."""
    path = folder / "test.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_longest_queue_is_the_first_sentence_with_a_shaper(tmp_path: Path) -> None:
    found = airtcp.diagnose(written(tmp_path, OOKLA.format(down=180, up=1210)), rounds=FEW)
    assert isinstance(found, airtcp.DiagnosedLink)
    assert [one.direction for one in found.bloats] == [UP, DOWN]
    assert found.headline.startswith("An upload raises the round trip from 24 ms to 1.2 s")
    assert found.sentences[1].startswith("A download raises the round trip from 24 ms to 180 ms")
    assert found.comparison.metric == "rtt-p95"
    # The comparison is over the longest queue, so that data goes its way.
    assert 'direction = "up"' in found.imported.link.toml
    advice = found.advice
    assert advice is not None
    assert f"cake bandwidth {SHAPED * 4840:.0f}kbit" in advice
    assert "round trip by \N{MINUS SIGN}9" in advice


def test_short_queues_leave_the_file_first(tmp_path: Path) -> None:
    path = written(tmp_path, OOKLA.format(down=60, up=80))
    assert not bloats([read_recording(path)])
    found = airtcp.diagnose(path, rounds=FEW)
    assert isinstance(found, airtcp.DiagnosedLink)
    assert "a speed test of Ookla" in found.headline
    assert found.comparison.metric == "goodput"


def test_a_speed_test_need_not_name_its_program(tmp_path: Path) -> None:
    words = "Ping: 31.2 ms\nDownload: 48.12 Mbit/s\nUpload: 9.31 Mbit/s\n"
    one = read_recording(written(tmp_path, words))
    assert one.summary.startswith("a speed test (48.120 Mbit/s down")


@pytest.mark.parametrize(("star", "way"), [("  ", UP), (" *", DOWN)])
def test_iperf_2_has_a_direction_and_a_delay(star: str, way: str, tmp_path: Path) -> None:
    one = read_recording(written(tmp_path, IPERF2.format(star=star)))
    assert one.format == "iperf2"
    (rates,) = one.rates
    assert (rates.direction, rates.bound) == (way, "link")
    assert rates.counted_bps == pytest.approx(9.41e6)
    assert [bps for _, _, bps, _ in rates.steps] == pytest.approx([9.44e6 * 1500 / 1448] * 3)
    assert one.figures.idle_rtt_s == pytest.approx(0.021)
    (queue,) = bloats([one])
    assert queue.direction == way
    assert queue.loaded_s == pytest.approx(0.222)


def test_iperf_2_adds_its_streams_and_reads_the_servers_report(tmp_path: Path) -> None:
    heading = "Client connecting to 192.0.2.1, {} port 5001\n[ ID] Interval Transfer Bandwidth\n"
    tcp = heading.format("TCP") + (
        "[  3]  0.0- 1.0 sec  1.00 MBytes  8.00 Mbits/sec\n"
        "[  4]  0.0- 1.0 sec   512 KBytes  4.00 Mbits/sec\n"
        "[  3]  0.0- 1.1 sec  1.00 MBytes  7.00 Mbits/sec\n"
        "[  4]  0.0- 1.1 sec   512 KBytes  3.50 Mbits/sec\n"
    )
    (rates,) = read_recording(written(tmp_path, tcp)).rates
    assert rates.counted_bps == pytest.approx(10.5e6)
    assert [bps for _, _, bps, _ in rates.steps] == pytest.approx([12e6 * 1500 / 1448])
    udp = heading.format("UDP") + (
        "[  1] 0.0000-1.0000 sec   616 KBytes  10.00 Mbits/sec\n"
        "[  1] 0.0000-1.0044 sec   616 KBytes  10.00 Mbits/sec\n"
        "[  1] Server Report:\n"
        "[  1] 0.0000-1.0046 sec   616 KBytes  8.00 Mbits/sec   0.003 ms 86/429 (20%)\n"
    )
    one = read_recording(written(tmp_path, udp))
    (rates,) = one.rates
    assert (rates.counted_bps, rates.bound) == (pytest.approx(8e6), "link")
    assert one.figures.losses == {UP: pytest.approx(0.2)}


def test_a_report_of_winmtr_has_the_losses_of_the_last_hop(tmp_path: Path) -> None:
    heading = "Host              -   %  | Sent | Recv | Best | Avrg | Wrst | Last"
    hops = (
        "192.168.1.1 -   40 |  312 |  187 |    1 |   34 | 1021 |    2",
        "No response from host -  100 |   63 |    0 |    0 |    0 |    0 |    0",
        "192.0.2.8 -   13 |  310 |  272 |   12 |   48 | 1043 |   13",
    )
    bar = "|---------------------------------|------|------|------|------|------|------|"
    body = "".join(f"|     {row} |\n" for row in (heading, *hops))
    rows = f"{bar}\n{body}{bar}\n   WinMTR v0.92 GPL V2 by Appnor MSP\n"
    one = read_recording(written(tmp_path, rows))
    assert one.format == "mtr"
    assert one.figures.losses == {"unknown": pytest.approx(0.13)}
    assert one.figures.mean_rtt_s == pytest.approx(0.048)


def test_padded_times_are_answers(tmp_path: Path) -> None:
    """The program httping pads them to six places: all below 100 ms counted as lost."""
    rows = "".join(
        f"connected to 192.0.2.8:80 (310 bytes), seq={n} time={time:6.2f} ms \n"
        for n, time in enumerate([22.1, 410.0, 9.5] * 12)
    )
    found = airtcp.diagnose(
        written(tmp_path, f"PING host:80 (/):\n{rows}"), can="receiver", rounds=FEW
    )
    assert isinstance(found, airtcp.PingDiagnosis)
    assert (found.log.sent, found.log.lost) == (36, 0)


NSTAT = """#kernel
TcpOutSegs                      {sent}            0.0
TcpRetransSegs                  {again}              0.0
TcpExtTCPTimeouts               {timeouts}               0.0
TcpExtTCPSpuriousRTOs           {spurious}                0.0
TcpExtTCPDSACKRecv              {duplicates}               0.0
"""
NETSTAT = """Tcp:
    {sent} segments sent out
    {again} segments retransmitted
TcpExt:
    TCPTimeouts: {timeouts}
    {duplicates} DSACKs received
    TCPSpuriousRTOs: {spurious}
"""
WINDOWS = """
TCP Statistics for IPv4

  Segments Sent                       = {sent}
  Segments Retransmitted              = {again}
"""


def diagnosed(path: Path) -> dict[str, object]:
    """The answer of `airtcp diagnose --json`."""
    shown = CliRunner().invoke(app, ["diagnose", str(path), "--json"])
    assert shown.exit_code == 0, shown.output
    found: dict[str, object] = json.loads(shown.stdout)
    return found


@pytest.mark.parametrize("form", [NSTAT, NETSTAT, WINDOWS], ids=["nstat", "netstat", "windows"])
def test_the_kernels_counters_are_judged(form: str, tmp_path: Path) -> None:
    counters = {"sent": 96_000, "again": 4_000, "timeouts": 500, "spurious": 200, "duplicates": 900}
    found = diagnosed(written(tmp_path, form.format(**counters)))
    assert str(found["headline"]).startswith("4.00 % of the segments sent were retransmissions")
    said = " ".join(found["sentences"])  # type: ignore[arg-type]
    assert ("200 (40 %) were found spurious" in said) == (form != WINDOWS)
    assert ("900 duplicates (D-SACK), 22 %" in said) == (form != WINDOWS)


def test_few_retransmissions_and_few_segments_are_named(tmp_path: Path) -> None:
    rest = {"timeouts": 0, "spurious": 0, "duplicates": 0}
    few = diagnosed(written(tmp_path, NSTAT.format(sent=99_900, again=100, **rest)))
    assert "few, over all connections" in str(few["headline"])
    none = diagnosed(written(tmp_path, NSTAT.format(sent=90, again=10, **rest)))
    assert str(none["headline"]).startswith("Too few segments")


def test_counters_without_segments_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "#kernel\nTcpActiveOpens   12   0.0\n")
    shown = CliRunner().invoke(app, ["diagnose", str(path)])
    assert shown.exit_code == 2
    assert "lack the segments that TCP sent" in shown.output


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("10:00:01 IFACE rxpck/s txpck/s rxkB/s txkB/s\n", "`sar -n DEV`"),
        ("      wlan0\n KB/s in  KB/s out\n 3000.1 80.0\n", "by ifstat"),
        ("MIGRATED TCP STREAM TEST from 0.0.0.0 port 0\n", "netperf"),
        ("  % Total    % Received % Xferd  Average Speed   Time\n", "curl"),
    ],
)
def test_tables_of_other_programs_are_named(text: str, words: str, tmp_path: Path) -> None:
    shown = CliRunner().invoke(app, ["diagnose", str(written(tmp_path, text))])
    assert shown.exit_code == 2
    assert words in shown.output


def test_the_jitter_of_the_text_is_that_without_load(tmp_path: Path) -> None:
    path = tmp_path / "speedtest.txt"
    path.write_text(OOKLA.format(down=50.0, up=60.0))
    assert read_recording(path).figures.idle_jitter_s == pytest.approx(0.0031)


@pytest.mark.parametrize(("jitter", "is_said"), [(48.2, True), (15.0, False), (0.9, False)])
def test_round_trips_that_vary_without_load_are_no_queue(
    jitter: float, is_said: bool, tmp_path: Path
) -> None:
    path = tmp_path / "speedtest.json"
    load = {"bandwidth": 1_000_000, "latency": {"iqm": 61.2}}
    ping = {"latency": 38.9, "jitter": jitter}
    path.write_text(json.dumps({"type": "result", "ping": ping, "download": load, "upload": load}))
    said = idle_jitters([read_recording(path)])
    assert [one.startswith("Without load the round trip of 39 ms") for one in said] == (
        [True] if is_said else []
    )
