"""A link pinged, and its log played by time, against the same link described by its keys."""

import time
from contextlib import suppress
from pathlib import Path
from statistics import fmean

import pytest

import airtcp
from airtcp import ScenarioError
from airtcp.comparison.budget import FirstSeedError
from airtcp.comparison.sequential import Rounds
from airtcp.core.recordings.events import find_events
from airtcp.core.recordings.link import DELAYS, MAX_SLEEP_ROWS, STOPS, played_link
from airtcp.core.recordings.log import read_ping
from airtcp.diagnosis.ping_answer import _listed_rates, answered
from ping_kinds import PingedLink, regular
from ping_truth import KINDS, RATE, SECONDS, beacons, explicit


def goodputs(scenario: Path, remedy: str) -> float:
    return fmean(
        airtcp.run(scenario, seed, remedies=[remedy] if remedy else []).summary["goodput_bps"]
        for seed in (1, 2, 3)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_log_by_time_is_the_link_that_was_pinged(kind: str, tmp_path: Path) -> None:
    """Goodput to within a twentieth of the rate, and the effect of BBR to within a tenth of it.

    By the k-th packet, the same logs gave a fifth of the rate and effects of hundreds of per cent.
    """
    link, delays, gaps, more = KINDS[kind]
    log = read_ping(link.write(tmp_path / "x.ping", SECONDS))
    played = played_link(log, find_events(log), RATE, seconds=SECONDS).write(tmp_path)
    truth = explicit(tmp_path, delays, gaps, more)
    before, after = (
        (goodputs(path, "") / 12e6, goodputs(path, "bbr") / 12e6) for path in (truth, played)
    )
    assert after[0] == pytest.approx(before[0], abs=0.05)
    assert after[1] - after[0] == pytest.approx(before[1] - before[0], abs=0.1)


def test_seeds_begin_elsewhere(tmp_path: Path) -> None:
    """Delays and stops move together: each seed meets as many stops, at other times."""
    link = PingedLink(stops=tuple(regular(34, 4.3, SECONDS)))
    log = read_ping(link.write(tmp_path / "x.ping", SECONDS))
    path = played_link(log, find_events(log), RATE, seconds=SECONDS).write(tmp_path)
    digests = {airtcp.run(path, seed).summary["digest"] for seed in range(1, 6)}
    assert len(digests) == 5


def test_a_log_is_a_scenario_where_one_is_expected(tmp_path: Path) -> None:
    path = PingedLink().write(tmp_path / "my.ping", 60)
    with pytest.raises(ScenarioError, match="a ping shows no rate: give one"):
        airtcp.run(path)
    settings = {"link.rate": "5 Mbit/s", "duration": "10 s"}
    compared = airtcp.compare(path, ["sack"], 2, settings)
    assert compared.values("baseline", "goodput_bps")[0] == pytest.approx(4.8e6, rel=0.05)
    short = tmp_path / "short.ping"
    PingedLink().write(short, 2)
    with pytest.raises(ScenarioError, match="30 are needed"):
        airtcp.run(short, settings=settings)


def test_stops_of_a_radio_that_sleeps_are_those_of_the_whole_log(tmp_path: Path) -> None:
    stops = ((40.0, 3.0), (500.0, 3.0), (800.0, 3.0))
    link = PingedLink(lambda at, _: beacons(at), stops=stops)
    log = read_ping(link.write(tmp_path / "x.ping", 900.0))
    events = find_events(log)
    assert events.sleep_s is not None
    played = played_link(log, events, RATE)
    assert [float(row.split(",")[0]) for row in played.files[STOPS].split()[1:]] == [
        pytest.approx(1e3 * start, abs=300) for start, _ in stops
    ]
    rows = played.files[DELAYS].split()
    assert len(rows) <= MAX_SLEEP_ROWS + 2
    assert float(rows[-1].split(",")[0]) == pytest.approx(900e3, rel=0.01)


def test_a_unit_is_told_once_where_all_have_it() -> None:
    assert _listed_rates(["3 Mbit/s", "12 Mbit/s"]) == "3 and 12 Mbit/s"
    assert _listed_rates(["620 kbit/s", "640 kbit/s", "1.2 Mbit/s"]) == (
        "620 kbit/s, 640 kbit/s and 1.2 Mbit/s"
    )
    assert _listed_rates(["620 kbit/s", "640 kbit/s"]) == "620 and 640 kbit/s"


def test_an_answer_takes_the_processor_time_that_is_given(tmp_path: Path) -> None:
    log = read_ping(PingedLink(gaps=((20, 3), (45, 3))).write(tmp_path / "x.ping", 60))
    found, given_s = None, 4.0
    while found is None:
        # One seed of each remedy is the least, which takes longer on a slower machine.
        given_s *= 1.5
        rounds = Rounds(most_seeds=10, most_cpu_s=given_s)
        begun = time.process_time()
        with suppress(FirstSeedError):
            found = answered(log, find_events(log), can="all", rate=None, rounds=rounds)
    # The run in progress at the end is finished.
    assert time.process_time() - begun < 2 * given_s
    tried = len(found.rates) + (found.waited is not None)
    assert tried + len(found.untried) == 3
    assert bool(found.untried) == any("did not suffice for" in line for line in found.sentences)
