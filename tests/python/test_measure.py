"""`airtcp measure` and its peer: on loopback, and over an emulated link with known figures."""

import contextlib
import json
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import airtcp
from airtcp._core import RunError
from airtcp.core.recordings.log import read_ping
from airtcp.diagnosis.measured import what_is_wrong
from airtcp.measure.bounds import Budget
from airtcp.measure.iperf3 import Handshakes, measure_with_iperf3, read_report
from airtcp.measure.link import is_apart, scenario_toml
from airtcp.measure.load import Way
from airtcp.measure.measurement import measure
from airtcp.measure.peer import Peer
from airtcp.measure.phase import Phase, Times, counting, times
from airtcp.measure.probe_log import csv_of
from airtcp.measure.probes import Session
from airtcp.measure.responsiveness import foreign_rpm, is_stable, own_rpm, rpm, trimmed_mean
from airtcp.measure.wire import BULK, FRAME_BYTES, PROBE, TOKEN_BYTES, Frames, WireError
from emulated_links import measured_over
from test_cli import airtcp_command


@pytest.fixture
def peer() -> Iterator[Peer]:
    one = Peer("127.0.0.1", 0)
    thread = threading.Thread(target=one.serve, daemon=True)
    thread.start()
    yield one
    one.close()
    thread.join(5)
    assert not thread.is_alive()


def test_the_arithmetic_is_that_of_a_worked_example() -> None:
    """By hand.

    Of 1 to 19 ms and 900 ms the mean of the lowest 19 is 10 ms. With exchanges of 20 ms others have
    60 000 / 15 = 4000 round trips a minute; own ones of 60 ms give 1000.
    """
    handshakes = [*map(float, range(1, 20)), 900.0]
    assert trimmed_mean(handshakes) == pytest.approx(10.0)
    foreign = foreign_rpm(handshakes, [20.0] * 20)
    assert foreign == pytest.approx(4000.0)
    assert own_rpm([60.0]) == pytest.approx(1000.0)
    assert rpm(foreign, own_rpm([60.0])) == pytest.approx(2500.0)
    assert foreign_rpm([], [1.0]) is None
    assert rpm(None, 1.0) is None


def test_what_is_stable() -> None:
    assert not is_stable([100.0] * 6)
    assert is_stable([100.0] * 7)
    assert is_stable([1.0, *[100.0] * 7])
    assert not is_stable([2.0**step for step in range(9)])
    assert not is_stable([0.0] * 9)


@pytest.mark.parametrize("cut", [1, 7, FRAME_BYTES - 1, FRAME_BYTES, FRAME_BYTES + 1, 50_000])
def test_probes_are_found_however_the_stream_is_cut(cut: int) -> None:
    rest = bytes(FRAME_BYTES - 1)
    stream = b"".join(kind + rest for kind in (BULK, PROBE, BULK, PROBE, PROBE))
    frames = Frames()
    pieces = [memoryview(stream)[at : at + cut] for at in range(0, len(stream), cut)]
    assert sum(map(frames.probes, pieces)) == 3


def test_a_measurement_on_loopback(peer: Peer) -> None:
    shares = []
    found = measure(
        "127.0.0.1",
        peer.port,
        seconds=6.0,
        most_bytes=3_000_000_000,
        progress=lambda share, _words: shares.append(share),
    )
    assert [phase.way for phase in found.loaded] == ["down", "up"]
    assert found.idle.ping.p50_ms is not None
    # The loopback loses nothing; one that a busy machine answers late may count.
    assert found.idle.ping.count > 0
    assert shares == sorted(shares)
    for phase in found.loaded:
        assert phase.goodput_bps is not None
        assert phase.goodput_bps > 1e6
        assert phase.exchange.count > 0
        assert phase.own is not None
        assert phase.own.count > 0
        assert phase.rpm is not None
    link = airtcp.load_scenario(scenario_toml(found.idle, found.loaded[0], found.loaded[1], "here"))
    assert link.name == "measured"


def test_a_ping_that_was_just_sent_is_not_lost() -> None:
    """The other end answers the last pings only once the phase is over; one is never answered."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as echo:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            echo.bind(listener.getsockname())
            accepted: list[socket.socket] = []

            def greet() -> None:
                accepted.append(listener.accept()[0])
                accepted[0].sendall(b"0" * 2 * TOKEN_BYTES)

            greets = threading.Thread(target=greet)
            greets.start()
            session = Session(listener.getsockname())
            greets.join(60)
        echo.settimeout(60)
        probes = session.probes(Budget(1_000_000))
        pings = [echo.recvfrom(2048) for _ in range(3)]
        ends = threading.Thread(target=probes.end)
        ends.start()
        assert probes.is_ending.wait(60)
        for data, back in pings[1:]:
            echo.sendto(data, back)
        while ends.is_alive():
            if select.select([echo], [], [], 0.1)[0]:
                echo.sendto(*echo.recvfrom(2048))
        session.close()
        accepted[0].close()
    assert len(probes.samples.pings_sent) - len(probes.samples.pings) == 1


def test_idle_probes_are_a_log_played_by_time(tmp_path: Path) -> None:
    """Each 30 s two seconds without an answer: a gap, and no loss of 7 %."""
    gaps = tuple((at / 10, None if at % 300 < 20 else 12.0 + at % 3) for at in range(1, 1800))
    no_times = Times(0, None, None, None, None)
    phase = Phase("idle", 180.0, no_times, 0.07, no_times, no_times, 0, probes=gaps)
    file = tmp_path / "idle.csv"
    file.write_text(csv_of(phase))
    log = read_ping(file)
    assert log.sent == len(gaps)
    assert log.lost == sum(rtt is None for _, rtt in gaps)
    assert log.clock == "stamps"
    assert "Everything is lost for 2 s at a time, every 30 s" in what_is_wrong(phase)[0]
    assert what_is_wrong(replace(phase, probes=gaps[:20])) == []
    assert "probes" not in phase.as_json()


def test_bytes_are_bounded(peer: Peer) -> None:
    found = measure("127.0.0.1", peer.port, seconds=20.0, most_bytes=20_000_000)
    assert found.is_cut
    # Each of a few connections may have one buffer in flight when the last byte is spent.
    assert 10_000_000 < found.spent_bytes < 30_000_000


def test_a_budget_ends_with_its_last_byte() -> None:
    budget = Budget(100)
    budget.spend(99)
    assert not budget.stopped.is_set()
    assert budget.left == 1
    budget.spend(1)
    assert budget.is_spent
    assert budget.wait(60)


def test_what_is_no_peer_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            connection, _ = listener.accept()
            connection.sendall(b"220 mail.example.org ESMTP, and more than that to be read\r\n")
            connection.close()

        threading.Thread(target=answer, daemon=True).start()
        with pytest.raises((WireError, OSError)):
            measure("127.0.0.1", listener.getsockname()[1], seconds=3, most_bytes=10**6)


def test_the_peer_echoes_for_its_sessions_alone(peer: Peer) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        stranger.settimeout(0.5)
        stranger.sendto(bytes(64), ("127.0.0.1", peer.port))
        with pytest.raises(TimeoutError):
            stranger.recv(2048)


@pytest.mark.parametrize("line", [b"GET / HTTP/1.1\r\n", b"airtcp-measure 9 session\n", b"x" * 300])
def test_the_peer_closes_on_what_it_does_not_know(peer: Peer, line: bytes) -> None:
    with socket.create_connection(("127.0.0.1", peer.port), timeout=60) as one:
        one.sendall(line)
        with contextlib.suppress(ConnectionResetError):
            assert one.recv(64) == b""


@pytest.mark.parametrize(
    ("arguments", "words", "status"),
    [
        (["--for", "1s"], "--for 1s: expected 3 s to 300 s", 2),
        (["--for", "soon"], "--for soon: expected a time", 2),
        (["--at-most", "5"], "--at-most 5: expected 100 kB at least", 2),
        (["--port", "9"], "is `airtcp serve --measure` running there", 1),
        (["--port", "9", "--iperf3"], "iperf3", 1),
    ],
)
def test_what_is_wrong_is_said(arguments: list[str], words: str, status: int) -> None:
    done = airtcp_command("measure", "127.0.0.1", "--for", "3s", "--can", "all", *arguments)
    assert words in done.stderr
    assert done.exit_code == status


def test_ctrl_c_ends_it_at_once(peer: Peer) -> None:
    command = [sys.executable, "-m", "airtcp", "measure", "127.0.0.1", "--port", str(peer.port)]
    with subprocess.Popen(
        [*command, "--for", "2min", "--at-most", "50MB", "--no-compare", "--can", "all"],
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        # The measurement has begun where the peer knows its session.
        waiting = threading.Event()
        while not peer._tokens and running.poll() is None:
            waiting.wait(0.01)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    assert "Traceback" not in err
    while peer._tokens:
        waiting.wait(0.01)


def test_what_is_never_answered_counts_as_long_as_it_has_waited() -> None:
    found = [(0.0, 900.0), (1.0, 50.0), (2.0, 60.0), (4.0, 70.0)]
    assert counting(found, [], 1.0, 3.0) == [50.0, 60.0]
    # One that waits no longer than others did may yet be as fast as they.
    assert counting(found, [2.95], 1.0, 3.0) == [50.0, 60.0]
    assert counting(found, [0.5], 1.0, 3.0) == [50.0, 60.0, 2500.0]
    assert counting([], [0.5], 1.0, 3.0) == [2500.0]


@pytest.mark.needs("namespaces", "tun")
def test_an_emulated_link_is_found_again(tmp_path: Path) -> None:
    """20 Mbit/s, 40 ms, and 200 packets of 1500 bytes ahead of a probe: 120 ms."""
    found, kept_up = measured_over(
        f"{sys.executable} -m airtcp serve --measure",
        "$AIRTCP_SERVER --for 16s",
        tmp_path,
    )
    assert found["idle"]["ping"]["p50_ms"] > 39
    for phase in found["loaded"]:
        assert phase["goodput_bps"] > 0
        assert phase["ping"]["p95_ms"] > 39
        if kept_up:
            assert phase["goodput_bps"] < 1.05 * 19.3e6
        if kept_up and phase["goodput_bps"] > 18e6:
            assert 60 < phase["ping"]["p95_ms"] < 2000
            # An idle link has 1500. Where no answer came in the last seconds, there is no figure.
            assert phase["rpm"] is None or 2 < phase["rpm"] < 1500
    link = airtcp.load_scenario(found["scenario"])
    assert link.name == "measured"


def test_a_report_of_iperf3_is_read() -> None:
    report = {
        "end": {
            "streams": [{"sender": {"mean_rtt": 80_000, "min_rtt": 40_000, "max_rtt": 120_000}}],
            "sum_received": {"bits_per_second": 9.3e6, "bytes": 1_162_500},
        }
    }
    phase, count = read_report(json.dumps(report), "", Way.UP, 1.0, [40.0, 60.0])
    assert (phase.goodput_bps, count) == (9.3e6, 1_162_500)
    assert phase.rpm_own == pytest.approx(750.0)
    assert phase.rpm_foreign == pytest.approx(1200.0)
    with pytest.raises(RunError, match="the server is busy"):
        read_report('{"error": "the server is busy"}', "", Way.UP, 1.0, [])
    with pytest.raises(RunError, match="no report"):
        read_report("", "", Way.UP, 1.0, [])


@contextlib.contextmanager
def iperf3_server() -> Iterator[int]:
    """A separate server, by its port; it is gone afterwards, whatever happened."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with subprocess.Popen(
        ["iperf3", "-s", "--forceflush", "-p", str(port)], stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            for line in server.stdout:
                if "listening" in line:
                    break
            yield port
        finally:
            server.kill()


@pytest.mark.needs("iperf3")
def test_an_iperf3_server_is_measured() -> None:
    with iperf3_server() as port:
        found = measure_with_iperf3("127.0.0.1", port, seconds=4, most_bytes=100_000_000)
    assert [phase.way for phase in found.loaded] == ["down", "up"]
    for phase in found.loaded:
        assert phase.goodput_bps is not None
        assert phase.goodput_bps > 1e6
        assert phase.handshake.count > 0 or not Handshakes.hides
    # The sender's TCP statistics; for a download the server's may be in the report too.
    assert found.loaded[1].rpm_own is not None


@pytest.mark.needs("iperf3")
def test_a_server_that_holds_a_connection_is_asked_again() -> None:
    """As a probe whose handshake was completed would leave it, until its end is read."""
    with iperf3_server() as port, socket.create_connection(("127.0.0.1", port)) as held:
        release = threading.Timer(1.5, held.close)
        release.start()
        found = measure_with_iperf3(
            "127.0.0.1", port, seconds=3, most_bytes=10_000_000, ways=(Way.UP,)
        )
        release.join()
    assert found.loaded[0].goodput_bps


@pytest.mark.skipif(not Handshakes.hides, reason="needs Linux")
def test_the_servers_program_sees_no_handshake() -> None:
    """The packet that completes one is in the listener's queue, where `select` finds it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = listener.getsockname()
        handshakes = Handshakes(*address)
        enough = threading.Event()
        while len(handshakes.found) < 5:
            enough.wait(0.01)
        handshakes.end()
        assert handshakes.failed == 0
        assert not select.select([listener], [], [], 0.5)[0]
        with socket.create_connection(address):
            assert select.select([listener], [], [], 5.0)[0]


@pytest.mark.parametrize(
    ("answers", "asked"),
    [
        (['{"error": "error - the server is busy running a test. try again later"}'] * 9, 4),
        # One whose test began has spent its bytes.
        (['{"error": "unable to receive control message", "intervals": [{}]}'], 1),
        (['{"error": "unable to receive control message: reset", "intervals": []}', "REPORT"], 2),
    ],
)
def test_a_server_that_is_not_free_is_asked_again_a_few_times(
    answers: list[str], asked: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = (
        '{"end": {"streams": [{"sender": {}}], "sum_received": '
        '{"bits_per_second": 9e6, "bytes": 1000}}}'
    )
    for number, answer in enumerate(answers):
        (tmp_path / f"{number}.json").write_text(answer.replace("REPORT", report))
    program = tmp_path / "iperf3"
    program.write_text(
        f"#!/bin/sh\ncd {tmp_path}\nset -- asked.*\n[ -e asked.0 ] && n=$# || n=0\n"
        ": > asked.$n\n/bin/cat $n.json\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("airtcp.measure.iperf3._PAUSE_S", 0.01)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        if "REPORT" in answers:
            found = measure_with_iperf3(
                "127.0.0.1", port, seconds=3, most_bytes=10**6, ways=(Way.UP,)
            )
            assert found.loaded[0].goodput_bps == 9e6
        else:
            words = "start one of your own" if asked > 1 else "unable to receive control message"
            with pytest.raises(RunError, match=words):
                measure_with_iperf3("127.0.0.1", port, seconds=3, most_bytes=10**6, ways=(Way.UP,))
    assert len(list(tmp_path.glob("asked.*"))) == asked


def test_without_iperf3_the_remedy_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(RunError, match="apt install iperf3"):
        measure_with_iperf3("127.0.0.1", 1, seconds=3, most_bytes=10**6)


def test_the_link_explains_what_was_measured() -> None:
    """10 Mbit/s with headers, 40 ms idle, 100 ms more under load: 83 packets of 1500 bytes."""
    none = times([])
    idle = Phase("idle", 2.0, times([40.0, 41.0]), 0.0, none, none, 0)
    down = Phase(
        *("down", 8.0, times([140.0] * 10), 0.0, none, none, 0),
        goodput_bps=1e7 * 1448 / 1500,
        connections=4,
        own=times([140.0] * 10),
    )
    text = scenario_toml(idle, down, None, "a test")
    assert 'rate = "10000 kbit/s"' in text
    assert 'delay = "20000 us"' in text
    assert "queue.packets = 83" in text
    assert "fq-codel" not in text
    assert not is_apart(down, 40.0)
    run = airtcp.run(text).summary
    assert run["goodput_bps"] == pytest.approx(1e7 * 1448 / 1500, rel=0.05)
    apart = Phase(
        *("down", 8.0, times([45.0] * 10), 0.0, none, none, 0),
        goodput_bps=1e7,
        connections=4,
        own=times([140.0] * 10),
    )
    assert is_apart(apart, 40.0)
    assert "fq-codel" in scenario_toml(idle, apart, None, "a test")
    airtcp.load_scenario(scenario_toml(idle, apart, apart, "a test"))
