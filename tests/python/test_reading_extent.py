"""Which readings of a paper are judged."""

import importlib
from pathlib import Path

import pytest
from msgspec import structs

from airtcp.core.loading import load_scenario
from airtcp.papers import load_papers
from airtcp.papers.carry_out import scenario_of
from airtcp.papers.read_as import read_as
from airtcp.papers.readings import (
    Admitted,
    JointReading,
    OpenPoint,
    Reading,
    default_reading,
    departures,
    one_at_a_time,
    readings_to_run,
    whole_grid,
)

PAPERS = Path(__file__).resolve().parents[2] / "papers"
POINTS = [
    OpenPoint(name, "o", "s", "a", "w", [Admitted("a"), Admitted("b"), Admitted("c")])
    for name in ("p", "q", "r")
]
NAMED = [JointReading("w", {"p": "b", "r": "c"})]


def test_readings_run_beside_ns3_are_among_those_judged(monkeypatch):
    """Both readings of `benches/injection.py`, as the scenario that each of them is."""
    monkeypatch.syspath_prepend(str(PAPERS.parent / "benches"))
    injection = importlib.import_module("injection")
    (paper,) = load_papers(PAPERS, ["delay-injection"])
    points = paper.file.readings
    delays = paper.experiment("delays")
    length = {"duration": injection.SETTINGS["duration"]}

    def hashed(reading: Reading) -> str:
        coordinates = delays.coordinates({"delay": "20 ms", "PER": 15, "remedy": "inf-retry"})
        for point in read_as(delays, points, reading).points():
            if point.coordinates == coordinates:
                longer = structs.replace(point, settings=point.settings | length)
                return scenario_of(paper.folder, longer).hash()
        raise AssertionError(coordinates)

    judged = {hashed(one) for one in readings_to_run(points, paper.file.joint, None, False)}
    for reading in injection.READINGS:
        settings = {**injection.SETTINGS, **reading.settings, "wlan.loss.lost": 15}
        scenario = load_scenario(paper.folder / "upload.toml", settings).with_remedies("inf-retry")
        assert scenario.hash() in judged, reading.name


def test_a_cheap_grid_is_run_whole_and_a_dear_one_departs_at_one_point():
    dear = readings_to_run(POINTS, NAMED, None, is_cheap=False)
    assert dear == [*one_at_a_time(POINTS), ("b", "a", "c")]
    assert departures(POINTS, dear[-1]) == ["p b", "r c"]
    cheap = readings_to_run(POINTS, NAMED, None, is_cheap=True)
    assert cheap[: len(dear)] == dear
    assert {*cheap, default_reading(POINTS)} == set(whole_grid(POINTS))
    assert len(cheap) == len(set(cheap)) == 26


@pytest.mark.parametrize("most", [0, 1, 7, 12, 100])
def test_a_given_number_of_readings_is_run_in_the_same_order(most):
    found = readings_to_run(POINTS, NAMED, most, is_cheap=False)
    assert found == readings_to_run(POINTS, NAMED, None, is_cheap=True)[:most]
