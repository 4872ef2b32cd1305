"""Stops of a link under traffic the other way: true ones, and waits of acknowledgments."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from airtcp.diagnosis.as_json import of_capture
from airtcp.diagnosis.capture import Capture
from airtcp.diagnosis.capture_answer import diagnosed, flow_of
from airtcp.diagnosis.link import fitted_link
from airtcp.diagnosis.read import read_capture
from airtcp.diagnosis.stops import joined
from naive_flow import Link, flow_over

sys.path.insert(0, str(Path(__file__).parents[1] / "captures"))

from two_ways import two_ways


def stops_of(capture: Capture) -> list[tuple[float, float]]:
    flow = flow_of(capture)
    assert flow is not None
    stops = fitted_link(flow).stops.stops
    return [(one.start_s, one.start_s + one.length_s) for one in stops]


@pytest.mark.parametrize(
    ("bps", "bps_back", "windows"),
    [(20e6, 1e6, (60, 30)), (12e6, 4e6, (90, 60)), (8e6, 8e6, (60, 30)), (20e6, 1e6, (60, 10))],
)
@pytest.mark.parametrize("ways", [(), (0, 1), (0,)])
def test_acknowledgments_behind_bursts_of_an_upload_are_no_stop_of_the_link(
    tmp_path: Path, bps: float, bps_back: float, windows: tuple[int, int], ways: tuple[int, ...]
) -> None:
    capture = read_capture(
        two_ways(
            tmp_path / "a.pcap",
            bps=bps,
            bps_back=bps_back,
            windows=windows,
            delay_s=0.02,
            burst_every_s=1.1,
            has_receivers_clock=True,
            stops=((4.13, 0.4, ways),) if ways else (),
        ),
        1,
        None,
    )

    # A stop of this direction alone, and one of both, while data comes the other way.
    found = [one for one in stops_of(capture) if one[1] - one[0] > 0.3]
    assert len(found) == bool(ways)
    assert all(begun < 4.4 < 4.5 < ended + 0.1 for begun, ended in found)
    # Away from it, none: without the reverse data, each of its bursts is taken for one.
    away = [one for one in stops_of(capture) if not 4.0 < one[0] < 5.0]
    assert away == []
    assert len(stops_of(replace(capture, back_ns=()))) >= 8


def test_a_stop_of_both_directions_under_an_upload_is_found(tmp_path: Path) -> None:
    for ways in ((0, 1), (0,)):
        stops = ((4.0, 0.4, ways), (8.0, 0.3, ways))
        path = two_ways(tmp_path / "a.pcap", bps=12e6, stops=stops, has_receivers_clock=True)
        begun = [start for start, _ in stops_of(read_capture(path, 1, None))]
        assert [round(start) for start in begun] == [4, 8]


def test_a_stop_in_which_the_capture_ends_is_marked_in_json(tmp_path: Path) -> None:
    stops = ((4.0, 0.4, (0, 1)), (8.0, 0.3, (0, 1)))
    path = two_ways(tmp_path / "a.pcap", bps=12e6, stops=stops, has_receivers_clock=True)
    found = diagnosed(read_capture(path, 1, None), None)
    assert found.link is not None
    process = found.link.stops
    first, second = process.stops
    cut = replace(process, stops=(first, replace(second, is_cut=True)))
    link = of_capture(replace(found, link=replace(found.link, stops=cut)))["link"]
    assert isinstance(link, dict)
    assert [one["is_cut"] for one in link["stops"]] == [False, True]


@pytest.mark.parametrize(("segments", "silences"), [(1, 2), (5, 3)])
def test_a_delayed_acknowledgment_does_not_part_a_stop(segments: int, silences: int) -> None:
    """The last odd segment before a stop is acknowledged 40 ms into it."""
    flow = flow_over(Link(), 5.0, 0.01)
    newly = flow.full_size * np.array([2.0, segments, 10.0, 1.0])
    parted = replace(flow, ack_s=np.array([0.99, 1.045, 1.7, 5.7]), newly=newly)
    begun, ended = joined(parted, np.array([1.0, 1.05, 5.0]), np.array([1.045, 1.7, 5.7]))
    assert len(begun) == len(ended) == silences
    assert (begun[0], ended[-1]) == (1.0, 5.7)
    assert ((1.0, 1.7) in zip(begun, ended, strict=True)) == (segments == 1)
