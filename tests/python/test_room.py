"""The room that a link leaves to remedies: what it carries beyond what the sender gets."""

from math import inf
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airtcp.comparison.answer import answer
from airtcp.comparison.compare import run_comparison
from airtcp.comparison.ranking.candidate import Candidate
from airtcp.comparison.ranking.state import State

FULL = 'duration = "20 s"\n[link]\nrate = "12 Mbit/s"\ndelay = "5 ms"\nqueue.packets = 200\n'
LOSSY = FULL + "loss.rate = 0.01\n"
STOPS = FULL + 'stops = { process = "periodic", every = "6 s", length = "500 ms" }\n'


def test_a_full_link_is_decided_with_the_first_seeds() -> None:
    """Lost acknowledgments move goodput a little; that nothing can be gained is sure."""
    compared = run_comparison(FULL + "reverse.loss.rate = 0.02\n", seeds=3, jobs=1)
    assert compared.room_percent is not None
    assert compared.room_percent < 1.0
    assert compared.is_decided
    assert State.UNDECIDED not in {one.state for one in compared.ranking.deployable}
    assert "the link is full: 11.6 Mbit/s of its 12.0 Mbit/s" in answer(compared)[0]


@pytest.mark.parametrize("link", [FULL, LOSSY, STOPS])
def test_no_remedy_gets_more_than_the_link_carries(link: str) -> None:
    compared = run_comparison(link, seeds=2, jobs=1)
    capacity = fmean(compared.carried)
    for remedy in compared.remedies:
        assert fmean(compared.values(remedy, "goodput_bps")) <= 1.001 * capacity, remedy


def test_a_lossy_link_has_room_for_what_helps() -> None:
    compared = run_comparison(LOSSY, seeds=3, jobs=1)
    assert compared.room_percent is not None
    assert compared.room_percent > 10.0
    best = compared.ranking.best
    assert best is not None
    assert best.gain > 5.0


def test_recorded_round_trips_without_a_rate_have_no_capacity() -> None:
    assert run_comparison("ping", seeds=1, settings={"duration": "5 s"}, jobs=1).carried == ()


@given(
    st.floats(-50, 50),
    st.floats(0, 80),
    st.floats(0, 100),
    st.sampled_from(State),
    st.booleans(),
)
def test_room_only_excludes(
    gain: float, half: float, room: float, state: State, has_interval: bool
) -> None:
    """It never makes a gain that was shown go, nor one that was not come."""
    found = Candidate("x", gain, (gain - half, gain + half) if has_interval else None, state)
    made = found.bounded(room, 1.0)
    assert made.gain == found.gain
    assert made.helps == found.helps
    if made.state is not found.state:
        assert (found.state, made.state) == (State.UNDECIDED, State.EXCLUDED)
        assert room < 1.0
    high = inf if found.interval is None else found.interval[1]
    assert made.most <= max(high, gain)
