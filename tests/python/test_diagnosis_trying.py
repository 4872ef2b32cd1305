"""Trials of remedies end with their budget of processor time, and keep finished results."""

from collections.abc import Callable
from itertools import count

import pytest

from airtcp.comparison.budget import Budget, OutOfBudgetError
from airtcp.comparison.ranking import Direction, reach
from airtcp.core.catalogue import remedies
from airtcp.core.loading import load_scenario
from airtcp.diagnosis import trying
from airtcp.diagnosis.trials import Ends, Trials
from airtcp.diagnosis.trying import Effort, tried
from airtcp.diagnosis.words import cut_short

LINK = """
name = "lossy"
duration = "4 s"
[link]
rate = "4 Mbit/s"
delay = "20 ms"
queue = { packets = 60 }
loss = { rate = LOSS }
[tcp]
profile = "linux"
"""
DRAWS = 8
NAMES = ("bbr", "westwood", "cubic")
TRIED = 1 + len(NAMES)

Within = Callable[[int], tuple[Trials, int]]


@pytest.fixture
def within(monkeypatch: pytest.MonkeyPatch) -> Within:
    """Trials that may take so many runs, and the runs that were made."""
    known = [one for one in remedies() if one["name"] in NAMES]
    monkeypatch.setattr(trying, "candidates", lambda: known)
    # One thread: runs end in the order in which they begin.
    monkeypatch.setattr("os.sched_getaffinity", lambda _process: {0}, raising=False)
    drawn = tuple(
        load_scenario(LINK.replace("LOSS", str(0.01 + 0.001 * draw)), {}) for draw in range(DRAWS)
    )
    ends = Ends(None, (drawn,), (), 1, frozenset())

    def run(most: int) -> tuple[Trials, int]:
        # Each look at this clock is a run.
        ticks = count()
        monkeypatch.setattr(
            trying, "Budget", lambda _most_s: Budget(most, lambda: float(next(ticks)))
        )
        told: list[int] = []
        found = tried(ends, reach("all", Direction.UNKNOWN), lambda done, _: told.append(done))
        return found, told[-1]

    return run


def test_a_first_round_that_is_ended_keeps_the_links_that_are_done(within: Within) -> None:
    found, runs = within(4 * TRIED)
    assert runs == found.runs == 4 * TRIED + 1
    assert {row.remedy for row in found.rows} <= set(NAMES)
    assert found.rows


def test_a_second_round_is_ended_between_two_runs(within: Within) -> None:
    first = 6 * TRIED
    found, runs = within(first + 5)
    assert first < runs <= first + 6
    assert found.rows
    assert found.baseline_bps > 0
    assert "is used up" in cut_short(found)[0]


def test_trials_that_end_by_themselves_are_not_cut_short(within: Within) -> None:
    found, _ = within(10_000)
    assert found.stopped == ""
    assert cut_short(found) == []


def test_a_first_round_of_one_link_is_no_answer() -> None:
    effort = Effort(max_cpu_s=1e-9)
    link = load_scenario(LINK.replace("LOSS", "0.01"), {})
    with pytest.raises(
        OutOfBudgetError, match=r"takes more than 1e-09 s of processor time \(--max-cpu\)"
    ):
        tried(
            Ends(None, ((link,) * DRAWS,), (), 1, frozenset()),
            reach("all", Direction.UNKNOWN),
            None,
            effort,
        )
