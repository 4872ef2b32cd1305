"""Names of remedies in the plane of goodput and latency."""

from hypothesis import given
from hypothesis import strategies as st

from airtcp.core.catalogue import BASELINE
from airtcp.pages.plot.front import FrontPlane, Spot
from airtcp.pages.plot.marks import Plot, Words
from airtcp.pages.plot.widths import text_inches

_POINTS = 72.0
_SPOTS = st.lists(
    st.tuples(st.floats(1e6, 2e7), st.floats(1.0, 2e3), st.integers(1, 30)), min_size=1, max_size=12
)


def boxes(plot: Plot) -> list[tuple[float, float, float]]:
    """Left edge, right edge and middle of each name, in points from the panel's lower left."""
    (panel,) = plot.panels
    found = []
    for words in (mark for mark in panel.marks if isinstance(mark, Words)):
        x = (words.x - panel.x.first) / (panel.x.last - panel.x.first) * panel.width * _POINTS
        if panel.y.is_log:
            return []
        y = (words.y - panel.y.first) / (panel.y.last - panel.y.first) * panel.height * _POINTS
        half = text_inches(words.text) * _POINTS / 2
        middle = x + words.offset[0]
        found.append((middle - half, middle + half, y + words.offset[1]))
    return found


@given(_SPOTS)
def test_names_neither_cover_each_other_nor_leave_the_figure(
    points: list[tuple[float, float, int]],
) -> None:
    spots = [Spot("x" * length, bps, ms, is_on_front=True) for bps, ms, length in points]
    spots.append(Spot(BASELINE, 5e6, 100.0, is_on_front=False))
    plot = FrontPlane("delay", tuple(spots))._plotted(9.0, is_narrow=False)
    placed = boxes(plot)
    (panel,) = plot.panels
    for at, (left, right, middle) in enumerate(placed):
        assert left >= 0
        assert right <= (9.0 - panel.left) * _POINTS + 1e-6
        for other_left, other_right, other_middle in placed[:at]:
            assert (
                abs(middle - other_middle) >= 9.9
                or right <= other_left + 1e-6
                or other_right <= left + 1e-6
            )


def test_the_baseline_and_a_lonely_remedy_are_named() -> None:
    spots = (
        Spot(BASELINE, 5e6, 100.0, is_on_front=False),
        Spot("bbr", 8e6, 50.0, is_on_front=True),
        Spot("other", 4e6, 120.0, is_on_front=False),
    )
    (panel,) = FrontPlane("delay", spots)._plotted(9.0, is_narrow=False).panels
    names = [mark.text for mark in panel.marks if isinstance(mark, Words)]
    assert names == [BASELINE, "bbr"]
