"""Sources other than one capture: two captures, a live interface, a radio, a log of QUIC."""

import json
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import airtcp
from airtcp._core import ScenarioError
from airtcp.cli.commands import app
from airtcp.core.quantities import parse_seconds
from airtcp.diagnosis.advise import probes
from airtcp.diagnosis.capture_answer import diagnosed
from airtcp.diagnosis.changes import changes
from airtcp.diagnosis.kind import is_capture
from airtcp.diagnosis.link_file import shortened
from airtcp.diagnosis.qlog import read_qlog
from airtcp.diagnosis.read import read_capture
from airtcp.diagnosis.sockets import parsed
from airtcp.diagnosis.stations import parsed as stations_of
from airtcp.diagnosis.words import on_the_air


# As `ss -ti` of iproute2 6.1 prints it, with addresses of documentation.
def test_a_flood_of_pings_is_text(tmp_path: Path) -> None:
    """`ping -f` takes its dots back; the file was called no capture of a known form."""
    path = tmp_path / "flood.txt"
    path.write_bytes(b"PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n.\b \b.\b \b\n")
    assert not is_capture(path)


LINK = """
name = "captured"
duration = "20 s"
[link]
rate = "8 Mbit/s"
delay = "20 ms"
queue = { packets = 80 }
loss = { rate = 0.01 }
[tcp]
profile = "linux-reno"
"""


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A lossy link, the same with another seed, and with another sender."""
    folder = tmp_path_factory.mktemp("changes")
    for name, seed, settings in (
        ("before", 1, {}),
        ("again", 2, {}),
        ("bbr", 3, {"tcp.profile": "linux-bbr"}),
    ):
        airtcp.run(LINK, seed, settings, pcap=folder / f"{name}.pcapng")
    return {path.stem: path for path in folder.iterdir()}


def test_what_a_remedy_changed_is_shown_with_its_interval(captures: dict[str, Path]) -> None:
    found = changes(*(read_capture(captures[name], 1, None) for name in ("before", "bbr")))
    rows = {row.measure: row for row in found.rows}
    goodput = rows["goodput"]
    assert goodput.is_shown
    assert goodput.low > 0.5
    assert goodput.low < goodput.after / goodput.before - 1 < goodput.high
    assert not rows["lost"].is_shown
    assert found.headline.startswith("Goodput")
    assert "change back" in found.sentences[-1]


def test_two_captures_of_one_link_show_no_difference(captures: dict[str, Path]) -> None:
    found = changes(*(read_capture(captures[name], 1, None) for name in ("before", "again")))
    assert [row.measure for row in found.rows if row.is_shown] == []
    assert found.headline == "No difference between the captures is shown."


def test_the_command_compares_two_captures(captures: dict[str, Path], tmp_path: Path) -> None:
    files = [str(captures["before"]), str(captures["bbr"])]
    shown = CliRunner().invoke(app, ["diagnose", *files])
    assert shown.exit_code == 0, shown.output
    assert "before" in shown.stdout
    log = tmp_path / "link.ping"
    log.write_text("64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=1.2 ms\n")
    for wrong in ([files[0], str(log)], [*files, files[0]], [*files, "--out", str(tmp_path)]):
        assert CliRunner().invoke(app, ["diagnose", *wrong]).exit_code == 2


def test_an_interface_that_is_not_there_is_named() -> None:
    shown = CliRunner().invoke(app, ["diagnose", "-i", "nowhere0", "--for", "1s"])
    assert shown.exit_code == 2
    assert "nowhere0" in shown.output
    assert CliRunner().invoke(app, ["diagnose", "-i", "lo", "--for", "soon"]).exit_code == 2


def test_times_are_read_as_people_write_them() -> None:
    assert [parse_seconds(text) for text in ("60s", "5 min", "90", "250ms")] == [60, 300, 90, 0.25]
    for wrong in ("", "soon", "-1s", "0"):
        assert parse_seconds(wrong) is None


LIVE = """
import json, socket, sys
from pathlib import Path
from airtcp.diagnosis.live import capture_live
taken = capture_live("lo", 60.0, Path(sys.argv[1]), lambda share, text: print("ready", flush=True))
try:
    socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
    may_again = True
except PermissionError:
    may_again = False
print(json.dumps({"packets": taken.packets, "may_again": may_again,
    "was_ended": taken.was_ended}))
"""


@pytest.mark.needs("root")
def test_an_interface_is_captured_and_the_privilege_dropped(tmp_path: Path) -> None:
    path = tmp_path / "live.pcap"
    command = [sys.executable, "-c", LIVE, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        port = _transfer(300_000)
        program.send_signal(signal.SIGINT)
        output, _ = program.communicate(timeout=60)
    found = json.loads(output.splitlines()[-1])
    assert not found["may_again"]
    assert found["packets"] > 10
    assert found["was_ended"]
    flows = read_capture(path, None, None).flows
    (own,) = flows.filter(pl.col("server") == f"127.0.0.1:{port}").iter_rows(named=True)
    # A retransmission of data that was only slowly read counts, too.
    assert own["bytes"] >= 300_000


def _transfer(count: int) -> int:
    """Sends so many bytes over the loopback interface; the port that they went to."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]

        def receive() -> None:
            stream, _ = server.accept()
            with stream:
                while stream.recv(1 << 16):
                    pass

        thread = threading.Thread(target=receive)
        thread.start()
        with socket.create_connection(server.getsockname()) as stream:
            stream.sendall(bytes(count))
        thread.join()
        return port


def test_what_a_capture_leaves_open_has_a_probe_that_would_show_it(
    captures: dict[str, Path], tmp_path: Path
) -> None:
    """A link that losses kept from being full shows no end of its queue."""
    path = tmp_path / "lossy.pcapng"
    airtcp.run(LINK, 1, {"link.loss.rate": "0.03", "link.queue.packets": "400"}, pcap=path)
    open_ones = probes(diagnosed(read_capture(path, 1, None), None))
    text = "\n".join(open_ones)
    assert "The end of the queue is open" in text
    assert "iperf3 -c 10.128.0.1" in text
    shown = CliRunner().invoke(app, ["diagnose", "--advise", str(path)])
    assert shown.exit_code == 0, shown.output
    assert "iperf3" in shown.stdout
    wrong = [str(captures["before"]), str(captures["bbr"])]
    assert CliRunner().invoke(app, ["diagnose", "--advise", *wrong]).exit_code == 2


def test_a_link_that_was_full_leaves_nothing_open(tmp_path: Path) -> None:
    path = tmp_path / "full.pcapng"
    airtcp.run(LINK.replace("loss = { rate = 0.01 }", ""), 1, pcap=path)
    (line,) = probes(diagnosed(read_capture(path, 1, None), None))
    assert "nothing open" in line


# As iw 5.19 prints it.
STATIONS = """\
Station 02:00:00:00:01:00 (on wlan0)
\tinactive time:\t4 ms
\trx bytes:\t81234567
\trx packets:\t61234
\ttx bytes:\t912345678
\ttx packets:\t640000
\ttx retries:\t320000
\ttx failed:\t6400
\tsignal:  \t-71 [-73, -76] dBm
\ttx bitrate:\t58.5 MBit/s MCS 6
\trx bitrate:\t65.0 MBit/s MCS 7
\tconnected time:\t3600 seconds
Station 02:00:00:00:02:00 (on wlan0)
\trx bytes:\t812
\ttx bytes:\t912
\ttx packets:\t9
\ttx retries:\t9
\ttx failed:\t9
\tsignal:  \t-40 dBm
"""


def test_a_radios_counters_say_what_it_gave_up(tmp_path: Path) -> None:
    found = stations_of(STATIONS, "stations.txt")
    far, near = found.stations
    assert far.failed_share == pytest.approx(0.01)
    assert far.signal_dbm == -71
    assert near.failed_share is None
    assert "02:00:00:00:01:00 gives up 1.00 %" in found.headline
    text = " ".join(found.sentences)
    assert "0.50 retries a packet" in text
    assert "58.5 MBit/s MCS 6" in text
    assert "Too few packets" in text
    path = tmp_path / "stations.txt"
    path.write_text(STATIONS)
    shown = CliRunner().invoke(app, ["diagnose", str(path), "--json"])
    assert shown.exit_code == 0, shown.output
    assert len(json.loads(shown.stdout)["stations"]) == 2


def test_a_radio_that_gives_up_nothing_is_not_what_loses() -> None:
    quiet = STATIONS.replace("tx failed:\t6400", "tx failed:\t3")
    found = stations_of(quiet, "stations.txt")
    assert "losses happen elsewhere" in found.headline
    assert "needs 0.50 retries a packet" in found.headline
    with pytest.raises(ScenarioError, match="station dump"):
        stations_of("Station of trains\n", "x")


def test_a_weak_signal_is_named() -> None:
    """At -78 dBm only the modes below -74 dBm's 16-QAM are left."""
    weak = STATIONS.replace("-71 [-73, -76]", "-78 [-80, -82]")
    found = stations_of(weak, "stations.txt")
    assert found.headline.endswith("TCP sees lost; its signal is weak (-78 dBm).")
    assert "decode BPSK and QPSK only" in " ".join(found.sentences)
    steady = weak.replace("tx failed:\t6400", "tx failed:\t3").replace("320000", "3200")
    headline = stations_of(steady, "stations.txt").headline
    assert headline.startswith("The signal of 02:00:00:00:01:00 is weak (-78 dBm)")
    strong = steady.replace("-78 [-80, -82]", "-74")
    assert stations_of(strong, "x").headline.startswith("The radio gave up hardly any packet")


CONNECTED = """\
Connected to 02:00:00:00:01:00 (on wlan0)
\tSSID: home
\tfreq: 2437
\tRX: 123456789 bytes (98765 packets)
\tTX: 3456789 bytes (45678 packets)
\tsignal: -78 dBm
\trx bitrate: 13.0 MBit/s MCS 1
\ttx bitrate: 6.5 MBit/s MCS 0
"""


def test_a_link_has_a_signal_and_no_losses() -> None:
    found = stations_of(CONNECTED, "link.txt")
    (one,) = found.stations
    assert (one.sent_packets, one.received_bytes, one.failed) == (45_678, 123_456_789, None)
    assert found.headline.startswith("The signal of 02:00:00:00:01:00 is weak (-78 dBm)")
    near = stations_of(CONNECTED.replace("-78", "-50"), "link.txt")
    assert near.headline.endswith("iw dev wlan0 station dump > stations.txt.")
    assert "too few counters" in " ".join(near.sentences)
    unknown = stations_of(CONNECTED.replace("\tsignal: -78 dBm\n", ""), "link.txt")
    assert unknown.headline == near.headline


def test_what_a_monitor_heard_is_said(captures: dict[str, Path]) -> None:
    facts = read_capture(captures["before"], 1, None).facts
    assert facts is not None
    assert on_the_air(facts) == []
    heard = facts.copy()
    heard["radio_frames"] = (1000, 97)
    (said,) = on_the_air(heard)
    assert "97 of them retries (9.7 %)" in said


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, airtcp.Run]:
    """The qlog of a sender, with a separate packet number for each transmission.

    TCP acknowledges bytes, hence a lost transmission of them with its repair: QUIC does not.
    """
    path = tmp_path_factory.mktemp("qlog") / "sender.qlog"
    run = airtcp.run(LINK, 1, {"duration": "15 s"}, qlog=path)
    (flow,) = run.summary["flows"]
    assert flow["duplicate_segments_received"] == 0
    records = [json.loads(one) for one in path.read_text().split("\x1e") if one.strip()]
    lost = {
        one["data"]["header"]["packet_number"]
        for one in records
        if one.get("name") == "quic:packet_lost"
    }
    for one in records:
        for frame in one.get("data", {}).get("frames", []):
            ranges = frame.get("acked_ranges", [])
            numbers = (number for ends in ranges for number in range(ends[0], ends[-1] + 1))
            frame["acked_ranges"] = [[number] for number in numbers if number not in lost]
    path.write_text("".join(f"\x1e{json.dumps(one)}\n" for one in records))
    return path, run


def test_a_log_of_quic_tells_what_was_lost(logged: tuple[Path, airtcp.Run]) -> None:
    path, run = logged
    (flow,) = run.summary["flows"]
    found = read_qlog(str(path))
    lost = flow["segments_lost_link"] + flow["segments_dropped_queue"]
    assert found.lost == pytest.approx(lost, abs=3)
    assert found.waits.base_s == pytest.approx(0.0415, rel=0.05)
    assert found.flow.goodput_bps == pytest.approx(flow["goodput_bps"], rel=0.07)
    assert "Whether a queue or the radio lost packets does not show" in found.sentences[-1]
    shown = CliRunner().invoke(app, ["diagnose", str(path), "--json"])
    assert shown.exit_code == 0, shown.output
    assert json.loads(shown.stdout)["lost"] == found.lost


def test_a_whole_qlog_is_read_as_the_sequential_one(
    logged: tuple[Path, airtcp.Run], tmp_path: Path
) -> None:
    path, _ = logged
    lines = path.read_text().replace("\x1e", "").splitlines()
    head, *events = [json.loads(line) for line in lines]
    trace = {"common_fields": head["trace"]["common_fields"], "events": events}
    whole = tmp_path / "whole.qlog"
    whole.write_text(json.dumps({"qlog_version": "0.3", "traces": [trace]}, indent=1))
    sequence = tmp_path / "lines.qlog"
    sequence.write_text("\n".join(lines))
    first = read_qlog(str(path)).sentences
    assert read_qlog(str(whole)).sentences == first
    assert read_qlog(str(sequence)).sentences == first


def test_a_qlog_of_too_little_is_refused(logged: tuple[Path, airtcp.Run], tmp_path: Path) -> None:
    path, _ = logged
    short = tmp_path / "short.qlog"
    short.write_text("\n".join(path.read_text().splitlines()[:40]))
    for file in (short, tmp_path / "none.qlog"):
        with pytest.raises(ScenarioError):
            read_qlog(str(file))
    # The last record is cut: those before it are read, and are too few.
    short.write_text(path.read_text()[:5000])
    with pytest.raises(ScenarioError, match="100 packets at least"):
        read_qlog(str(short))


def test_a_socket_beside_a_capture_ends_the_guess_of_the_stack(tmp_path: Path) -> None:
    path = tmp_path / "reno.pcapng"
    airtcp.run(
        'duration = "20 s"\n[link]\nrate = "5 Mbit/s"\ndelay = "20 ms"\nqueue = { packets = 40 }\n'
        '[tcp]\nprofile = "linux-reno"\n',
        2,
        pcap=path,
    )
    counted = "\n\t ts sack reno wscale:7,7 rto:300 bytes_sent:9000000 data_segs_out:6000"
    ends = "ESTAB 0 0 [::ffff:10.0.0.1]%eth0:40000 [::ffff:10.128.0.1]:5001"
    capture = read_capture(path, 1, None)
    found = diagnosed(capture, None, sockets=parsed(ends + counted, "ss.txt"))
    assert found.replay is not None
    assert found.replay.profile == "linux-reno"
    assert any("names the congestion control reno" in one for one in found.sentences)
    others = parsed((ends + counted).replace(":5001", ":5002"), "ss.txt")
    with pytest.raises(ScenarioError, match=r"ss\.txt: has no connection from 10\.0\.0\.1:40000"):
        diagnosed(capture, None, sockets=others)


def test_runs_over_a_fast_link_are_as_short_as_the_processor_time_needs() -> None:
    def of(rate: str) -> str:
        return f'duration = "60 s"\n[link]\nrate = "{rate}"\n'

    assert shortened(of("12 Mbit/s"), 20.0) is None
    assert shortened(of("300 Mbit/s"), 20.0) == 5.0
    assert shortened(of("300 Mbit/s"), 60.0) == 15.0
    assert shortened(of("40 Gbit/s"), 20.0) == 2.0
    # A trace has its own duration.
    assert shortened('duration = "60 s"\n[link]\ntrace = {up = "a"}\n', 20.0) is None
