"""Which part of a run the channel's picture shows."""

import polars as pl
import pytest

from airtcp.pages.plot.channel import window_start


def frames(*rows: tuple[float, float, str, int]) -> pl.DataFrame:
    """Frames by start, duration, fate, attempt."""
    return pl.DataFrame(
        {
            "start_s": [row[0] for row in rows],
            "end_s": [row[0] + row[1] for row in rows],
            "fate": [row[2] for row in rows],
            "attempt": [row[3] for row in rows],
        }
    )


LONELY = (0.1, 0.001, "collided", 1)
"""In slow start: nothing else is sent for a long time."""
BUSY = [(1 + 0.002 * place, 0.0018, "received", 1) for place in range(40)]


def test_a_window_is_where_something_happens_while_the_channel_is_busy() -> None:
    later = (1.05, 0.0018, "received", 2)
    start = window_start(frames(LONELY, *BUSY[:25], later, *BUSY[26:]), 0.02)
    assert start == pytest.approx(1.046)


def test_without_anything_odd_it_is_where_the_channel_is_busy() -> None:
    start = window_start(frames((0.1, 0.001, "received", 1), *BUSY), 0.02)
    assert start >= 0.98


def test_a_run_with_one_frame_has_a_window() -> None:
    assert window_start(frames((0.001, 0.001, "received", 1)), 0.02) == 0
