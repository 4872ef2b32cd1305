"""Freeze-TCP on a train: the receiver stops its sender before each handover of the cell."""

import pytest

import airtcp
from airtcp._core import ScenarioError

SETTINGS = {
    "duration": "40 s",
    # Between two generations, and a queue that is no longer than the sender's timer.
    "cell.handover.gap": "400 ms",
    "cell.queue.packets": 150,
}
START_S = 2.0
"""The first seconds have timeouts of their own."""


def times_s(run: airtcp.Run, event: str) -> list[float]:
    """Times of an event, but for the start."""
    times = run.events.filter(run.events["event"] == event)["time_s"].to_list()
    return [time for time in times if time > START_S]


def timeouts_s(seed: int, remedies: list[str]) -> list[float]:
    """Times of the sender's timeouts, but for the start."""
    return times_s(airtcp.run("lte-train", seed, SETTINGS, remedies=remedies), "timeout")


@pytest.mark.parametrize("seed", range(1, 5))
def test_only_long_handovers_behind_short_queues_fire_the_timer_and_it_is_taken_back(
    seed: int,
) -> None:
    """The sentence of docs/measurements/cellular-today.md."""
    assert times_s(airtcp.run("lte-train", seed), "timeout") == []
    long = airtcp.run("lte-train", seed, SETTINGS)
    assert len(times_s(long, "timeout")) == (0, 2, 1, 1)[seed - 1]
    assert len(times_s(long, "spurious-timeout")) == len(times_s(long, "timeout"))


def test_frozen_senders_do_not_time_out_at_handovers() -> None:
    """Handovers are at 12, 24 and 36 s, and the timer fires in some of them."""
    without = timeouts_s(2, [])
    assert without
    assert all(0.4 <= time % 12 < 1 for time in without)
    assert timeouts_s(2, ["freeze-tcp"]) == []


def test_two_schedules_are_refused() -> None:
    outage = {"cell.outage": '{ every = "5 s", length = "1 s" }'}
    with pytest.raises(ScenarioError, match=r"cell\.outage and cell\.handover are two"):
        airtcp.run("lte-train", 1, outage, remedies=["freeze-tcp"])
