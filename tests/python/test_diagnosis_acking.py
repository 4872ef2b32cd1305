"""The receiver's habit of acknowledging, from counts."""

import pytest

from airtcp.diagnosis.acking import habit


@pytest.mark.parametrize(
    ("counts", "lone_s", "segments"),
    [
        ([10, 300, 5, 0, 0, 0, 0, 0], 0.04, 2),
        ([300, 10, 0, 0, 0, 0, 0, 0], None, 1),
        # Lone segments are the rule where a window holds one; their receiver waited for a second.
        ([300, 10, 0, 0, 0, 0, 0, 0], 0.04, 2),
        ([300, 10, 0, 0, 0, 0, 0, 0], 0.0004, 1),
        ([0, 10, 10, 100, 0, 0, 0, 0], None, 4),
        ([1, 9, 0, 0, 0, 0, 0, 0], None, None),
    ],
)
def test_the_habit_is_the_median(
    counts: list[int], lone_s: float | None, segments: int | None
) -> None:
    acking = habit(counts, lone_s, 0, sum(counts))
    assert acking.segments == segments
    assert (acking.sentence is None) == (segments is None)


def test_waits_and_pushed_acknowledgments_are_told() -> None:
    sentence = habit([10, 300, 0, 0, 0, 0, 0, 0], 0.041, 31, 310).sentence
    assert sentence == (
        "The receiver acknowledges every second segment, and a lone segment after 41 ms; "
        "10 % of its acknowledgments arrived bunched."
    )
