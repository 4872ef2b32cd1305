"""The error of many remedies and of many looks, against closed forms and by simulation."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

import airtcp
from airtcp.comparison.ranking import State
from airtcp.comparison.seeds_needed import seeds_needed
from airtcp.comparison.sequential import Rounds, spent
from airtcp.comparison.simultaneous import PRIOR_DEGREES, simultaneous
from airtcp.comparison.statistics import Prior, paired_difference


def test_spending_is_pococks_and_spends_all() -> None:
    """Lan and DeMets (1983), Table 1, at t = 0.2, 0.4 ... for 5 % in all."""
    shares = [0.2, 0.4, 0.6, 0.8, 1.0]
    table = [0.0148, 0.0262, 0.0354, 0.0433, 0.0500]
    assert [spent(one) for one in shares] == pytest.approx(table, abs=6e-4)
    rounds = Rounds()
    assert rounds.looks == (5, 10, 20, 40)
    assert sum(rounds.error(look) for look in range(4)) == pytest.approx(0.05)
    assert spent(0.5) == pytest.approx(0.05 * log(1 + 0.5 * (np.e - 1)))


@given(st.integers(2, 1000))
def test_looks_grow_to_the_most(most: int) -> None:
    rounds = Rounds(most)
    assert rounds.looks[-1] == most
    assert list(rounds.looks) == sorted(set(rounds.looks))
    assert sum(rounds.error(look) for look in range(len(rounds.looks))) == pytest.approx(0.05)


def test_bounds_that_make_no_sense_are_refused() -> None:
    with pytest.raises(airtcp.ScenarioError, match="max-seeds = 1: expected 2 or more"):
        Rounds(1)
    with pytest.raises(airtcp.ScenarioError, match="max-cpu"):
        Rounds(40, 0.0)


def test_a_moderated_interval_by_hand() -> None:
    before, after = [10.0, 12.0, 11.0], [12.0, 15.0, 12.0]
    found = paired_difference(before, after, among=6, error=0.01, prior=Prior(4.0, 2.0))
    variance = (2 * 1.0 + 2 * 4.0) / 4
    assert found.half_width == pytest.approx(t.ppf(1 - 0.005 / 6, 4) * (variance / 3) ** 0.5)


def test_remedies_that_are_the_same_count_once() -> None:
    before = [1.0, 2.0, 3.0, 4.0]
    after = [2.0, 2.5, 4.5, 5.5]
    pairs = {"a": (before, after), "b": (before, after), "same": (before, before)}
    found = simultaneous(pairs)
    alone = paired_difference(before, after, is_ratio=True)
    assert found["a"].half_width == found["b"].half_width == alone.half_width
    assert found["same"].mean == 0.0


def draws(
    random: np.random.Generator, effects: np.ndarray, seeds: int
) -> dict[str, tuple[list[float], list[float]]]:
    """Remedies that share the baseline's luck, with spreads an order of magnitude apart."""
    rows = len(effects)
    spread = np.geomspace(0.5, 8.0, rows)
    before = 100.0 + random.normal(0.0, 3.0, seeds)
    noise = random.normal(0.0, 1.0, (rows, seeds)) * spread[:, None]
    after = before + noise + effects[:, None]
    return {str(row): (before.tolist(), after[row].tolist()) for row in range(rows)}


@pytest.mark.parametrize("seeds", [2, 3, 5, 10])
def test_all_intervals_hold_at_once(seeds: int) -> None:
    random = np.random.default_rng(seeds)
    effects = np.zeros(20)
    missed = 0
    for _ in range(300):
        found = simultaneous(draws(random, effects, seeds))
        missed += any(abs(one.mean) > (one.half_width or np.inf) for one in found.values())
    # Three standard deviations of 300 draws above 5 %.
    assert missed / 300 <= 0.05 + 3 * (0.05 * 0.95 / 300) ** 0.5


def test_stopping_at_any_look_keeps_the_error() -> None:
    """No remedy has an effect: whoever looks after every round is wrong in 5 % at most."""
    random = np.random.default_rng(9)
    rounds = Rounds()
    wrong = 0
    for _ in range(200):
        pairs = draws(random, np.zeros(20), rounds.looks[-1])
        wrong += any(
            abs(one.mean) > (one.half_width or np.inf)
            for look, seeds in enumerate(rounds.looks)
            for one in simultaneous(
                {name: (b[:seeds], a[:seeds]) for name, (b, a) in pairs.items()},
                rounds.error(look),
            ).values()
        )
    assert wrong / 200 <= 0.05 + 3 * (0.05 * 0.95 / 200) ** 0.5


def test_a_large_effect_is_found_on_two_seeds() -> None:
    """Bonferroni alone needs t = 127 here; moderated, ten times its spread is enough."""
    random = np.random.default_rng(4)
    effects = np.zeros(20)
    effects[-1] = 200.0
    found = 0
    for _ in range(100):
        one = simultaneous(draws(random, effects, 2))["19"]
        found += one.mean > (one.half_width or np.inf)
    assert found >= 95
    assert PRIOR_DEGREES == 2.0


def test_seeds_needed_decide() -> None:
    random = np.random.default_rng(1)
    before = 100.0 + random.normal(0.0, 1.0, 4)
    after = before + 3.0 + np.array([-4.0, 4.0, -2.0, 2.0])
    found = paired_difference(before.tolist(), after.tolist())
    needed = seeds_needed(found, 1.0)
    assert needed is not None
    spread = found.estimated
    assert spread is not None
    assert spread.half_width(needed, needed - 1) < 3.0 <= spread.half_width(needed - 1, needed - 2)
    assert seeds_needed(paired_difference([1.0], [2.0]), 1.0) is None


def test_rounds_end_when_it_is_decided(lossy: str) -> None:
    comparison = airtcp.compare(lossy, ["max-window:segments=4"], rounds=Rounds(40))
    assert comparison.is_decided
    assert len(comparison.seeds) in Rounds(40).looks
    assert not comparison.stopped


def test_rounds_end_at_their_bounds(lossy: str) -> None:
    comparison = airtcp.compare(lossy, rounds=Rounds(4))
    assert len(comparison.seeds) <= 4
    if not comparison.is_decided:
        assert "--max-seeds" in comparison.stopped
        assert any("Not everything is decided: 4 seeds" in line for line in comparison.verdict)


def test_given_seeds_are_exact(lossy: str) -> None:
    assert airtcp.compare(lossy, ["sack"], seeds=3).seeds == (1, 2, 3)


def test_a_search_of_three_seeds_finds_the_large_gain() -> None:
    """Of 2.7 Mbit/s on a link of 10: every seed has its losses, and BBR more than doubles it."""
    settings = {"link.loss.rate": 0.01, "duration": "10 s"}
    comparison = airtcp.compare("lossy-pipe", seeds=3, settings=settings)
    assert comparison.verdict[0].startswith("bbr raises goodput by 2")
    assert comparison.states["bbr"] is State.SHOWN
    undecided = [name for name in comparison.shown if comparison.states[name] is State.UNDECIDED]
    assert undecided
    assert not any("too little" in line for line in comparison.verdict)
    table = comparison.table.filter(remedy=undecided[0])
    assert table["seeds_to_decide"][0] > 3


def test_an_exact_difference_below_what_is_worth_having_is_no_headline() -> None:
    settings = {"duration": "8 s", "perturb": 0}
    comparison = airtcp.compare("wifi-suspension", seeds=2, settings=settings)
    assert comparison.verdict[0].startswith("Nothing raises goodput here")
    assert set(comparison.states.values()) <= {State.EXCLUDED, State.SHOWN}


def test_remedies_that_run_alike_share_a_row() -> None:
    settings = {"duration": "5 s"}
    comparison = airtcp.compare("wlan-upload", seeds=3, settings=settings)
    assert comparison.alike["spike"] == comparison.alike["zbs"] == ("spike", "zbs")
    rows = [name for name in comparison.shown if name in {"spike", "zbs"}]
    assert len(rows) <= 1
    assert comparison.row_name("spike") == "spike = zbs"
