"""Colours."""

from hypothesis import given
from hypothesis import strategies as st

from airtcp.plot.style import REMEDY_COLOURS, remedy_colours
from airtcp.study.cells import BASELINE

names = st.lists(st.text(min_size=1), unique=True, max_size=6).map(lambda some: [BASELINE, *some])


@given(names)
def test_up_to_six_remedies_have_different_colours(remedies: list[str]) -> None:
    colours = remedy_colours(remedies)
    assert len(set(colours.values())) == len(set(remedies))


def test_a_remedy_keeps_its_colour_whatever_is_beside_it() -> None:
    assert remedy_colours(["sack"])["sack"] == remedy_colours([BASELINE, "sack"])["sack"]
    assert remedy_colours(["sack"])["sack"] in REMEDY_COLOURS
