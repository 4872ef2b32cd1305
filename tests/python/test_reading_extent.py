"""Which readings of a paper are judged, and how many."""

import importlib
from pathlib import Path

from msgspec import structs

from airtcp.core.loading import load_scenario
from airtcp.papers import load_papers
from airtcp.papers.judgement import FULL
from airtcp.papers.outcomes import built
from airtcp.papers.readings import Reading, read_as
from airtcp.papers.search import Extent, grid

PAPERS = Path(__file__).resolve().parents[2] / "papers"


def test_what_runs_beside_ns3_is_among_the_readings_judged(monkeypatch):
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
                return built(paper.folder, longer).hash()
        raise AssertionError(coordinates)

    judged = {hashed(reading) for reading in grid(paper, points, FULL.most)}
    for reading in injection.READINGS:
        settings = {**injection.SETTINGS, **reading.settings, "wlan.loss.lost": 15}
        scenario = load_scenario(paper.folder / "upload.toml", settings).with_remedies("inf-retry")
        assert scenario.hash() in judged, reading.name


def test_events_decide_how_many_readings_are_run():
    """And not the time, which is another on every machine."""
    extent = Extent(most=20, least=2, events=1e6)
    assert extent.readings(1e4) == 20
    assert extent.readings(1e5) == 10
    assert extent.readings(1e9) == 2
    assert Extent(most=1, least=2, events=1e6).readings(1e9) == 1
    assert Extent(most=20).readings(1e9) == 20
