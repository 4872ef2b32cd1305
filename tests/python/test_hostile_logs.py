"""Hostile logs are answered or refused: no traceback, no file of the tool's own blamed, no wait.

With `AIRTCP_HOSTILE_LOGS=100000` in the environment more are tried, from number `AIRTCP_FIRST`.
"""

import gzip
import os
import time
from pathlib import Path

import pytest

from airtcp import ScenarioError
from airtcp._core import CaptureError
from airtcp.diagnosis.capture_answer import diagnosed
from airtcp.diagnosis.kind import is_capture
from airtcp.diagnosis.read import read_capture
from airtcp.diagnosis.sockets import is_socket_list, sockets_of
from airtcp.diagnosis.stations import is_station_dump
from airtcp.diagnosis.stations import parsed as parsed_stations
from hostile_logs import hostile
from ping_kinds import PingedLink, regular
from test_log_mutants import NO_NUMBER, SEEDS, assert_helps, assert_read

LOGS = int(os.environ.get("AIRTCP_HOSTILE_LOGS", "400"))
FIRST = int(os.environ.get("AIRTCP_FIRST", "0"))
A_SHARE = 8
"""The logs are judged in shares, so that several processes take their parts."""
MAX_CPU_S = 5.0
SOCKETS = (
    b"State Recv-Q Send-Q Local Address:Port Peer Address:Port\n"
    b"ESTAB 0 1200 10.0.0.1:40000 10.0.0.2:5001\n\t cubic wscale:7,7 rto:304 rtt:103/1 mss:1448 "
    b"cwnd:90 bytes_sent:9800000 bytes_acked:9750000 segs_out:6800 data_segs_out:6790 "
    b"busy:20000ms rwnd_limited:19500ms(97.5%) minrtt:100.9\n"
)
STATION = (
    b"Station 02:00:00:00:01:00 (on wlan0)\n\tinactive time:\t4 ms\n\trx bytes:\t91000\n"
    b"\trx packets:\t700\n\ttx bytes:\t9100000\n\ttx packets:\t7000\n\ttx retries:\t900\n"
    b"\ttx failed:\t12\n\tsignal:\t-61 dBm\n\ttx bitrate:\t72.2 MBit/s MCS 7\n"
)


def seeds() -> list[bytes]:
    """A log of every form, of a link with stops, of counters and of sockets."""
    stamped = PingedLink(stops=tuple(regular(5, 0.8, 40))).log(40).encode()
    contents = [path.read_bytes() for path in SEEDS]
    unpacked = [gzip.decompress(one) if one.startswith(b"\x1f\x8b") else one for one in contents]
    return [*unpacked, stamped, SOCKETS, STATION]


def assert_answered(path: Path, name: str) -> None:
    """As a command does: by what the file is, an answer in figures or a refusal."""
    try:
        if is_capture(path):
            said = diagnosed(read_capture(path, None, None), None).sentences
        elif is_socket_list(_beginning(path)):
            said = sockets_of(str(path)).sentences
        elif is_station_dump(_beginning(path)):
            said = parsed_stations(path.read_text("utf-8", "replace"), str(path)).sentences
        else:
            assert_read(path, name)
            return
    except CaptureError as error:
        said = [str(error)]
    except ScenarioError as error:
        assert_helps(str(error), path, name)
        return
    assert said, name
    assert not NO_NUMBER.search(" ".join(said)), f"{name}: {said}"


def _beginning(path: Path) -> str:
    return path.read_bytes()[:1024].decode("utf-8", "replace")


@pytest.mark.timeout(0 if LOGS > 1000 else 600)
@pytest.mark.parametrize("share", range(A_SHARE))
def test_a_hostile_log_is_answered_or_refused(share: int, tmp_path: Path) -> None:
    count = LOGS // A_SHARE
    for name, log in hostile(seeds(), FIRST + share * count, count):
        path = tmp_path / "log"
        path.write_bytes(log)
        began = time.process_time()
        try:
            assert_answered(path, name)
        except (AssertionError, ScenarioError):
            raise
        except Exception as error:
            pytest.fail(f"{name}: {type(error).__name__}: {error}")
        assert time.process_time() - began < MAX_CPU_S, name
