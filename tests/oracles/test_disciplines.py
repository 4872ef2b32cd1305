"""Queue disciplines compared with ns-3.37's and with Linux 6.12's.

``ns3-disciplines.jsonl`` is made by ``benches/ns3/disciplines.py``, and the kernel's counts, in
``docs/measurements/disciplines.json``, by ``write_disciplines.py``, which tabulates both.

- ns-3's device holds a packet after the discipline: it waits there for 1.2 ms, and not in
  the discipline.
- Cobalt is one queue in ns-3 and one for each flow in CAKE, as in ours: sparse flows do not wait.
"""

import hashlib
import json
import runpy
from statistics import fmean
from typing import Any

import pytest

from .conftest import ROOT

WRITER = runpy.run_path(str(ROOT / "pages" / "write_disciplines.py"))
PROGRAM = ROOT / "benches" / "ns3" / "disciplines.cc"
KERNEL: dict[str, Any] = json.loads(WRITER["DATA"].read_text())
PACKET_MS = 1.2


def cases() -> list[object]:
    """The recorded settings."""
    return [
        pytest.param(lines, id=f"{one['discipline']}-{one['traffic']}-{place}")
        for place, lines in enumerate(WRITER["ns3_cases"]())
        for one in lines[:1]
    ]


def near(ours: float, theirs: float, relative: float, absolute: float = 0.0) -> bool:
    return abs(ours - theirs) <= relative * abs(theirs) + absolute


@pytest.mark.parametrize("lines", cases())
def test_ns3_drops_as_much_and_has_it_wait_as_long(lines: list[dict[str, Any]]) -> None:
    one = lines[0]
    found = [WRITER["ns3_ours"](line) for line in lines]
    ours = {key: fmean(run[key] for run in found) for key in found[0]}
    theirs = {key: fmean(line[key] for line in lines) for key in ours}
    print(f"{one['discipline']}, {one['traffic']}: {ours}, ns-3 {theirs}")
    if one["traffic"] == "udp":
        # The offered load and the link's capacity are fixed.
        assert near(ours["dropped"], theirs["dropped"], 0.03)
        assert near(ours["goodput_bps"], theirs["goodput_bps"], 0.002)
    elif one["discipline"] == "cobalt":
        # A new queue of Linux and ours signals at once, ns-3's waits for an interval: slow start
        # goes on there, and takes drops with it.
        assert 0.5 * theirs["dropped"] <= ours["dropped"] <= theirs["dropped"]
        assert 0.9 <= ours["goodput_bps"] / theirs["goodput_bps"] <= 1
    else:
        # Few drops, of two senders that are not the same.
        assert near(ours["dropped"], theirs["dropped"], 0.15, 2.0)
        assert near(ours["goodput_bps"], theirs["goodput_bps"], 0.06)
    assert near(ours["wait_p50_ms"], theirs["wait_p50_ms"], 0.15, PACKET_MS)
    if one["discipline"] != "cobalt":
        least = 1.2 * PACKET_MS  # within a bin of the histogram
        assert near(ours["sparse_wait_p50_ms"], theirs["sparse_wait_p50_ms"], 0.15, least)


def test_the_recorded_runs_are_of_this_program() -> None:
    digest = hashlib.sha256(PROGRAM.read_bytes()).hexdigest()[:16]
    assert {line["program"] for lines in WRITER["ns3_cases"]() for line in lines} == {digest}


@pytest.mark.parametrize("name", list(KERNEL))
def test_the_kernel_counts_what_ours_does(name: str) -> None:
    real, ours = KERNEL[name], WRITER["simulated"](name)
    print(f"{name}: {ours}, kernel {real}")
    if "ack_words" in WRITER["DISCIPLINES"][name]:
        assert near(ours["acks"], real["counted"]["passed"], 0.05)
    else:
        assert near(ours["dropped"], real["counted"]["dropped"], 0.15, 3.0)
    assert near(ours["goodput_bps"], real["goodput_bps"], 0.03)
    for key in ("ping_p50_ms", "exchange_p50_ms") if real["under_load"] else ():
        assert near(ours[key], real["under_load"][key], 0.1)


def test_every_discipline_that_the_page_names_was_run() -> None:
    assert set(KERNEL) == set(WRITER["DISCIPLINES"])
