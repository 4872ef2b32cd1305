"""Files as strangers' programs write them today, with the figures that the programs print."""

import json
import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from airtcp.core.recordings.log import read_ping
from airtcp.core.recordings.recording import read_recording

HOST = "127.0.0.1"


def output(*command: str) -> subprocess.CompletedProcess[str]:
    """Output of a program."""
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)


def free_port() -> str:
    """A port that no program of this machine uses, for TCP and UDP."""
    while True:
        with socket.create_server((HOST, 0)) as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
            port = tcp.getsockname()[1]
            try:
                udp.bind((HOST, port))
            except OSError:
                continue
            return str(port)


@contextmanager
def served(*command: str, ready: str) -> Iterator[None]:
    """A server until the end of the block, from the line that announces listening."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1
    ) as server:
        assert server.stdout is not None
        try:
            for line in server.stdout:
                if ready in line:
                    break
            else:
                pytest.fail(f"{command[0]} does not listen")
            yield
        finally:
            server.terminate()


@pytest.mark.needs("iperf3")
@pytest.mark.parametrize("options", [(), ("-R",), ("--bidir",), ("-u", "-b", "5M")])
def test_iperf3s_own_rates_are_found(options: tuple[str, ...], tmp_path: Path) -> None:
    port = free_port()
    with served("iperf3", "-s", "--forceflush", "-p", port, ready="listening"):
        command = ("iperf3", "-c", HOST, "-p", port, "-t", "2", *options)
        written = output(*command, "--json").stdout
        text = output(*command).stdout
    path = tmp_path / "x.json"
    path.write_text(written)
    end = json.loads(written)["end"]
    found = {one.direction: one.counted_bps for one in read_recording(path).rates}
    way = "down" if "-R" in options else "up"
    assert found[way] == pytest.approx(end["sum_received"]["bits_per_second"], rel=1e-6)
    if "--bidir" in options:
        back = end["sum_received_bidir_reverse"]["bits_per_second"]
        assert found["down"] == pytest.approx(back, rel=1e-6)
    (tmp_path / "x.txt").write_text(text)
    printed = {one.direction: one.counted_bps for one in read_recording(tmp_path / "x.txt").rates}
    assert set(printed) == set(found)
    # The last line of the receiver, in the unit that it chose.
    line = next(line for line in text.splitlines() if line.endswith("receiver"))
    value, unit = re.search(r"([\d.]+) ([KMG])bits/sec", line).groups()  # type: ignore[union-attr]
    assert printed[way] == pytest.approx(float(value) * {"K": 1e3, "M": 1e6, "G": 1e9}[unit])


@pytest.mark.needs("irtt")
def test_irtts_own_statistics_are_found(tmp_path: Path) -> None:
    path = tmp_path / "x.json.gz"
    at = f"{HOST}:{free_port()}"
    with served("irtt", "server", "-b", at, ready="starting"):
        output("irtt", "client", "-i", "20ms", "-d", "2s", "-o", str(path), at)
        plain = tmp_path / "x.json"
        output("irtt", "client", "-i", "20ms", "-d", "2s", "-o", str(plain), at)
    assert len(read_ping(path).answered) > 50
    stats = json.loads(plain.read_text())["stats"]
    log = read_ping(plain)
    assert len(log.answered) == stats["packets_received"]
    assert float(np.median(log.answered)) == pytest.approx(stats["rtt"]["median"] / 1e9, rel=0.02)
    assert log.interval_s == pytest.approx(0.02, rel=0.05)
    assert set(read_recording(plain).delays) == {"up", "down"}


@pytest.mark.needs("fping")
def test_fpings_list_and_lines_are_read(tmp_path: Path) -> None:
    listed = output("fping", "-C", "40", "-q", "-p", "20", HOST).stderr
    path = tmp_path / "x"
    path.write_text(listed)
    values = [float(word) / 1e3 for word in listed.split(" : ")[1].split() if word != "-"]
    assert list(read_ping(path).answered) == pytest.approx(values)
    path.write_text(output("fping", "-D", "-c", "40", "-p", "20", HOST).stdout)
    log = read_ping(path)
    assert log.clock == "stamps"
    assert len(log.answered) == 40


@pytest.mark.needs("mtr")
def test_mtrs_report_and_raw_log_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text(output("mtr", "--json", "-c", "5", "-i", "0.2", HOST).stdout)
    hop = json.loads(path.read_text())["report"]["hubs"][-1]
    figures = read_recording(path).figures
    assert figures.mean_rtt_s == pytest.approx(hop["Avg"] / 1e3)
    assert figures.losses == {"unknown": hop["Loss%"] / 100}
    raw = output("mtr", "--raw", "-c", "5", "-i", "0.2", HOST).stdout
    path.write_text(raw)
    micros = [int(line.split()[2]) for line in raw.splitlines() if line.startswith("p 0 ")]
    assert list(read_ping(path).answered) == pytest.approx([value / 1e6 for value in micros])


@pytest.mark.needs("tc")
def test_iproute2s_tables_have_the_deviations_that_are_known() -> None:
    """Mean and deviation of each table; two tables are far from 0 and 1."""
    tables = {path.stem: path for path in Path("/usr/lib").glob("**/tc/*.dist")}
    if not tables:
        pytest.skip("iproute2 has no tables here")
    for name, deviation in (("normal", 1.0), ("pareto", 0.82), ("paretonormal", 0.834)):
        values = np.array(read_recording(tables[name]).table) / 8192
        assert float(values.std()) == pytest.approx(deviation, abs=0.002), name
