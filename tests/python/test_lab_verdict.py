"""The lab's sentence on paired seeds, against the Python of `airtcp compare`."""

from hypothesis import given
from hypothesis import strategies as st

from airtcp import _core
from airtcp.comparison.ranking import SMALLEST_PERCENT, State
from airtcp.comparison.seeds_needed import seeds_needed
from airtcp.comparison.state_of import state_of
from airtcp.comparison.statistics import paired_difference
from airtcp.comparison.words import remedy_sentence

GOODPUTS = st.integers(min_value=0, max_value=2_000_000_000).map(lambda bps: bps / 64)
"""Exact in binary, so that sums in another order are equal."""


def expected(a_bps: list[float], b_bps: list[float]) -> str:
    difference = paired_difference(a_bps, b_bps, is_ratio=True)
    sentence = remedy_sentence("B", difference)
    known = state_of(difference)
    if known is State.EXCLUDED and difference.mean:
        return f"{sentence.removesuffix('.')}: less than {SMALLEST_PERCENT:g} %, not worth having."
    if known is State.UNDECIDED and (seeds := seeds_needed(difference, SMALLEST_PERCENT)):
        return f"{sentence.removesuffix('.')}: about {seeds} seeds would decide."
    return sentence


@given(st.lists(st.tuples(GOODPUTS, GOODPUTS), min_size=1, max_size=20))
def test_any_goodputs(pairs: list[tuple[float, float]]) -> None:
    a_bps, b_bps = [a for a, _ in pairs], [b for _, b in pairs]
    assert _core.lab_verdict(a_bps, b_bps) == expected(a_bps, b_bps)


@given(
    st.integers(min_value=1, max_value=40),
    st.integers(min_value=64_000_000, max_value=1_000_000_000),
    st.lists(st.integers(min_value=-2_000_000, max_value=2_000_000), min_size=1, max_size=40),
    st.integers(min_value=-4_000_000, max_value=4_000_000),
)
def test_small_effects(count: int, level: int, noise: list[int], effect: int) -> None:
    """Effects near the smallest worth having, shown, excluded and undecided."""
    a_bps = [(level + noise[seed % len(noise)]) / 64 for seed in range(count)]
    b_bps = [a + (effect + noise[-seed % len(noise)] // 3) / 64 for seed, a in enumerate(a_bps)]
    assert _core.lab_verdict(a_bps, b_bps) == expected(a_bps, b_bps)


def test_pairs_that_do_not_match_have_none() -> None:
    assert _core.lab_verdict([], []) is None
    assert _core.lab_verdict([1.0], [1.0, 2.0]) is None


def test_no_goodput_has_a_rate_in_place_of_per_cent() -> None:
    zeros = [0.0, 0.0, 0.0]
    for b_bps in ([1e6, 2e6, 3e6], [5.0, 0.0, 1.0], [1e9, 1e9, 1e9], zeros):
        assert _core.lab_verdict(zeros, b_bps) == expected(zeros, b_bps)
