"""Mutated captures are diagnosed or refused: no traceback, no warning of Python, no long wait.

With `AIRTCP_CAPTURE_MUTANTS=100000` in the environment more are tried, from number `AIRTCP_FIRST`,
and with `AIRTCP_CAPTURES` every capture of that folder is diagnosed as well. A failure names its
mutant or its file.
"""

import os
import time
from pathlib import Path

import pytest

import airtcp
from airtcp._core import CaptureError
from airtcp.diagnosis.capture_answer import diagnosed
from airtcp.diagnosis.kind import is_capture
from airtcp.diagnosis.read import read_capture
from capture_mutants import Packets, mutants, packets_of, write
from test_log_mutants import INNER, NO_NUMBER

MUTANTS = int(os.environ.get("AIRTCP_CAPTURE_MUTANTS", "120"))
FIRST = int(os.environ.get("AIRTCP_FIRST", "0"))
CAPTURES = os.environ.get("AIRTCP_CAPTURES")
MAX_CPU_S = 20.0
"""Processor time of a diagnosis without trials."""
A_SHARE = 6
"""The mutants are judged in shares, so that several processes take their parts."""
SEEDS: tuple[tuple[str, dict[str, object]], ...] = (
    ("lossy-pipe", {"duration": "4 s", "link.rate": "1 Mbit/s", "link.loss.rate": 0.02}),
    (
        "lossy-pipe",
        {
            "duration": "6 s",
            "link.rate": "800 kbit/s",
            "link.loss.rate": 0,
            "link.stops": {"process": "random", "working": "800 ms", "length": "300 ms"},
        },
    ),
    (
        "lossy-pipe",
        {
            "duration": "4 s",
            "link.rate": "1 Mbit/s",
            "link.loss.rate": 0,
            "link.queue.packets": 10,
        },
    ),
    ("wlan-upload", {"duration": "1 s"}),
)


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> list[Packets]:
    """Captures of links that lose, stop, overflow, and aggregate."""
    path = tmp_path_factory.mktemp("seeds") / "seed.pcapng"
    found = []
    for scenario, settings in SEEDS:
        airtcp.run(scenario, settings=settings, pcap=path)
        found.append(packets_of(path))
    return found


def assert_diagnosed(path: Path, name: str) -> None:
    """The file is diagnosed, or refused as a capture, in figures, and soon."""
    began = time.process_time()
    try:
        found = diagnosed(read_capture(path, None, None), None)
        said = " ".join(found.sentences)
    except CaptureError as error:
        said = str(error)
    except Exception as error:
        pytest.fail(f"{name}: {type(error).__name__}: {error}")
    assert said, name
    assert not NO_NUMBER.search(said), f"{name}: {said}"
    assert not INNER.search(said), f"{name}: {said}"
    assert time.process_time() - began < MAX_CPU_S, name


@pytest.mark.timeout(0 if MUTANTS > 1000 else 600)
@pytest.mark.parametrize("share", range(A_SHARE))
def test_a_mutated_capture_is_diagnosed_or_refused(
    share: int, seeds: list[Packets], tmp_path: Path
) -> None:
    count = MUTANTS // A_SHARE
    for name, packets in mutants(seeds, FIRST + share * count, count):
        write(tmp_path / "mutant.pcap", packets)
        assert_diagnosed(tmp_path / "mutant.pcap", name)


@pytest.mark.parametrize("number", [1_003_464, 1_003_593, 5_036_697])
def test_a_flow_without_a_round_trip_or_a_mean_warns_of_nothing(
    number: int, seeds: list[Packets], tmp_path: Path
) -> None:
    """Its delays have no minimum, or it sent nothing later: numpy warned above the answer."""
    ((name, packets),) = mutants(seeds, number, 1)
    write(tmp_path / "mutant.pcap", packets)
    assert_diagnosed(tmp_path / "mutant.pcap", name)


@pytest.mark.skipif(CAPTURES is None, reason="needs captures: AIRTCP_CAPTURES names their folder")
@pytest.mark.timeout(0)
def test_captures_of_public_suites_are_diagnosed_or_refused() -> None:
    assert CAPTURES is not None
    files = [path for path in sorted(Path(CAPTURES).rglob("*")) if path.is_file()]
    captures = [path for path in files if path.stat().st_size and is_capture(path)]
    assert captures, f"AIRTCP_CAPTURES={CAPTURES}: holds no capture"
    for path in captures:
        assert_diagnosed(path, str(path))
