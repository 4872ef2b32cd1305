"""A packet has the same number on a link with real packets as in the simulation.

The kernel ends its handshake with an acknowledgment of its own, where simulated hosts let their
first data carry it: that one has no number. Each side loses the same numbers, some of data, of
retransmissions and of acknowledgments; all of them stand for the same segments.
"""

import subprocess
from pathlib import Path

import polars as pl
import pytest

import airtcp
from airtcp.core.net import find_program
from airtcp.kernel.segments import Segment, recorded_segments, simulated_segments

BYTES = 60_000
LOST_DATA = (5, 21)
"""The fifth segment of data, and its retransmission."""
LOST_ACKS = (9, 14)
COMPARED = 22
"""Packets of each direction: two rounds; later ones turn on when a kernel delays."""
LINK = """
topology = "pipe"
[link]
rate = "2 Mbit/s"
delay = "30 ms"
lost_packets.path = "data.csv"
[link.reverse]
lost_packets.path = "acks.csv"
[tcp]
profile = "linux-reno"
"""
SERVE = """
import socket
with socket.create_server(("0.0.0.0", 4000)) as server:
    open("ready", "w").close()
    connection, _ = server.accept()
    while connection.recv(65536):
        pass
"""
SEND = f"""
import os, socket, time
while not os.path.exists("ready"):
    time.sleep(0.01)
with socket.socket() as connection:
    # The one that every kernel has, whatever its default.
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
    connection.connect((os.environ["AIRTCP_SERVER"], 4000))
    connection.sendall(bytes({BYTES}))
    connection.shutdown(socket.SHUT_WR)
    connection.recv(1)
"""


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scenario of a link that loses by number."""
    folder = tmp_path_factory.mktemp("numbers")
    (folder / "link.toml").write_text(LINK)
    for name, numbers in (("data.csv", LOST_DATA), ("acks.csv", LOST_ACKS)):
        (folder / name).write_text("packet\n" + "".join(f"{one}\n" for one in numbers))
    return folder / "link.toml"


@pytest.fixture(scope="module")
def recording(link: Path) -> Path:
    """Fates of the kernel's packets on the link."""
    folder = link.parent
    for name, text in (("serve.py", SERVE), ("send.py", SEND)):
        (folder / name).write_text(text)
    command = [find_program(), "emulate", "--quiet", str(link), "--record", "recording"]
    subprocess.run(
        [*command, "--server", "python3 serve.py", "--", "python3", "send.py"],
        cwd=folder,
        check=True,
        timeout=60,
    )
    return folder / "recording"


def recorded(folder: Path) -> tuple[dict[int, int], dict[int, int]]:
    """By number: the first byte of the kernel's packets, and the next byte of delivered ACKs."""
    rows = pl.read_csv(folder / "packets.csv", infer_schema_length=None)
    rows = rows.filter(pl.col("tcp")).sort("packet")
    data = rows.filter((pl.col("direction") == "data") & pl.col("number").is_not_null())
    acks = rows.filter((pl.col("direction") == "acks") & (pl.col("fate") == "delivered"))
    segments = recorded_segments((folder / "stations.pcapng").read_bytes(), 0)
    return by_number(segments, data["number"].to_list(), acks["number"].to_list())


def simulated(link: Path) -> tuple[dict[int, int], dict[int, int]]:
    """The same of a simulation, which counts from the SYN on in both directions."""
    run = airtcp.run(str(link), settings={"flows.bytes": str(BYTES)}, packets=True)
    arrived = [number for number in range(1000) if number not in LOST_ACKS]
    return by_number(simulated_segments(run.arrow("packets"), 0), list(range(1000)), arrived)


def by_number(
    segments: list[Segment], data: list[int], acks: list[int]
) -> tuple[dict[int, int], dict[int, int]]:
    """Segments in their order, by the numbers of packets in their order."""
    sent = [segment.offset for segment in segments if segment.is_out]
    heard = [segment.offset for segment in segments if not segment.is_out]
    return dict(zip(data, sent, strict=False)), dict(zip(acks, heard, strict=False))


@pytest.mark.needs("namespaces", "tun")
def test_the_same_numbers_are_the_same_segments(link: Path, recording: Path) -> None:
    sent, heard = recorded(recording)
    expected_sent, expected_heard = simulated(link)
    numbers = range(COMPARED)
    assert [sent[number] for number in numbers] == [expected_sent[number] for number in numbers]
    arrived = [number for number in numbers if number not in LOST_ACKS]
    assert [heard[number] for number in arrived] == [expected_heard[number] for number in arrived]
    first, again = LOST_DATA
    assert sent[first] == sent[again], "no retransmission was lost"


@pytest.mark.needs("namespaces", "tun")
def test_a_recording_is_of_the_numbers_that_were_lost(link: Path, recording: Path) -> None:
    """A replay's lists contain the numbers of packets that the link lost, and nothing else."""
    for name, numbers in (("lost-data.csv", LOST_DATA), ("lost-acks.csv", LOST_ACKS)):
        lines = [f"0,{number}" for number in numbers]
        assert (recording / name).read_text().splitlines() == ["flow,packet", *lines]
    rows = pl.read_csv(recording / "packets.csv", infer_schema_length=None)
    bare = rows.filter(pl.col("number").is_null())
    assert bare["direction"].to_list() == ["data"], "the end of one handshake"
    assert bare["fate"].to_list() == ["delivered"]
