"""Files of LENS, the data set of LEO satellites, raw and as CSV, in the form that it describes."""

import json
from pathlib import Path

import pytest

from airtcp.core.recordings.choices import Choices
from airtcp.core.recordings.imported import import_link
from airtcp.core.recordings.log import read_ping
from airtcp.core.recordings.recording import read_recording

PROBES = 600
START_NS = 1_705_744_800_616_897_349
STEP_NS = 10_000_000
LOST_UP, LOST_DOWN = 40, 57
"""Probes from one loss on the way up, or down, to the next."""


def rtt_ms(number: int) -> float:
    """The terminal changes its satellite each 15 s; probes leave each 10 ms."""
    return round(42 + number * 7 % 11 + 9 * (number % 3 == 0), 1)


def fate(number: int) -> str:
    """In irtt's words."""
    if number % LOST_UP == 1:
        return "true_up"
    return "true_down" if number % LOST_DOWN == 2 else "false"


def raw_ping() -> str:
    """`ping -D`, without its first and last lines; lost probes are missing."""
    return "".join(
        f"[{(START_NS + number * STEP_NS) / 1e9 + rtt_ms(number) / 1e3:.6f}] 64 bytes from "
        f"2001:db8::1: icmp_seq={number + 1} ttl=63 time={rtt_ms(number)} ms\n"
        for number in range(PROBES)
        if fate(number) == "false"
    )


def ping_csv() -> str:
    """Its times and round trips."""
    rows = [
        f"{(START_NS + number * STEP_NS) / 1e9 + rtt_ms(number) / 1e3:.6f},{rtt_ms(number)}"
        for number in range(PROBES)
        if fate(number) == "false"
    ]
    return "\n".join(["timestamp,rtt", *rows]) + "\n"


def raw_irtt() -> str:
    """The JSON of LENS's irtt, which adds the ECN field to the time stamps."""
    trips = []
    for number in range(PROBES):
        sent, rtt = START_NS + number * STEP_NS, round(1e6 * rtt_ms(number))
        is_lost = fate(number) != "false"
        client = {"send": {"wall": sent, "monotonic": number * STEP_NS}}
        delay = {}
        if not is_lost:
            client["receive"] = {"wall": sent + rtt, "monotonic": number * STEP_NS + rtt}
            delay = {"receive": rtt // 2 - 5, "rtt": rtt, "send": rtt // 2 + 5}
        stamps = {"client": client, "server": {}, "Ecn": 0}
        trips.append({"seqno": number, "lost": fate(number), "timestamps": stamps, "delay": delay})
    version = {"irtt": "0.9.1-clarkzjw", "protocol": 1, "json_format": 1}
    return json.dumps({"version": version, "config": {}, "stats": {}, "round_trips": trips})


def irtt_csv() -> str:
    """The same by LENS's converter."""
    lost = {"true_up": "0,-1,0", "true_down": "0,0,-1"}
    rows = [
        f"{START_NS + number * STEP_NS},"
        + lost.get(fate(number), f"{rtt_ms(number)},{rtt_ms(number) / 2},{rtt_ms(number) / 2}")
        for number in range(PROBES)
    ]
    return "\n".join(["timestamp,rtt,uplink,downlink", *rows]) + "\n"


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("ping-10ms.txt", raw_ping(), "ping"),
        ("ping-10ms.csv", ping_csv(), "csv"),
        ("irtt-10ms.json", raw_irtt(), "irtt-json"),
        ("irtt-10ms.csv", irtt_csv(), "lens"),
    ],
)
def test_each_kind_of_file_is_imported(tmp_path: Path, name: str, text: str, kind: str) -> None:
    file = tmp_path / name
    file.write_text(text, "utf-8")
    assert read_recording(file).format == kind
    log = read_ping(file)
    answered = [fate(number) for number in range(PROBES)].count("false")
    assert len(log.answered) == answered
    assert log.least_s == pytest.approx(0.042)
    if name != "ping-10ms.csv":
        # Its rows say nothing of the probes that got no answer, as the time in them is that of it.
        assert log.sent == pytest.approx(PROBES, abs=3)
    found = import_link([file], Choices(rate="50 Mbit/s"))
    assert "50 Mbit/s" in found.link.toml
