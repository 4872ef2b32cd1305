"""When a reading disagrees with the default, and attempts to make one do so by chance."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airtcp.papers import estimates
from airtcp.papers.claims import Claim, Part
from airtcp.papers.disagreement import AGREES, differs, disagreement
from airtcp.papers.experiment import Axis, Choice, Experiment
from airtcp.papers.judge import JudgedClaim, judge_claim
from airtcp.papers.judge_readings import ToRun, judge_over_readings
from airtcp.papers.outcomes import Outcomes
from airtcp.papers.paper import About, Paper, PaperFile
from airtcp.papers.readings import Admitted, OpenPoint
from airtcp.papers.rules import MISTAKEN, Verdict
from airtcp.papers.verdicts_by_reading import VerdictsByReading

PLACES = ["a", "b", "c"]
EXPERIMENT = Experiment(
    "e",
    "t",
    "s.toml",
    axes=[
        Axis("place", choices=[Choice(place) for place in PLACES]),
        Axis("remedy", choices=[Choice("off"), Choice("on")]),
    ],
)
GAIN = Part(
    "gain",
    "e",
    baseline={"remedy": "off"},
    treated={"remedy": "on"},
    along="place",
    places=PLACES,
    sign="+",
)
CLAIM = Claim("1a", "w", "p", [GAIN])


def paper(readings: int) -> Paper:
    """A claim of three gains, and an open point with that number of values next to the default."""
    names = [str(value) for value in range(readings + 1)]
    values = [
        Admitted(name, {"tcp.max_window": int(name)} if name != "0" else {}) for name in names
    ]
    point = OpenPoint("window", "o", "s", "0", "w", values)
    file = PaperFile(About(1, "s", "t", "a", "v", [], "."), [EXPERIMENT], readings=[point])
    return Paper("p", Path("p"), file, [CLAIM])


def measured(gains: list[float], noise: float, seeds: int, chance: np.random.Generator) -> Outcomes:
    """Runs with these gains in per cent: a seed is one channel for both, but for the noise."""
    outcomes = Outcomes(seeds={"e": tuple(range(seeds))})
    for place, gain in zip(PLACES, gains, strict=True):
        channel = 1e6 * np.exp(chance.normal(0, 0.3, seeds))
        for remedy, factor in (("off", 1.0), ("on", 1 + gain / 100)):
            runs = channel * factor * np.exp(chance.normal(0, noise, seeds))
            key = "e", EXPERIMENT.coordinates({"place": place, "remedy": remedy})
            outcomes.measured[key] = [{"goodput_bps": float(value)} for value in runs]
    return outcomes


def judged(outcomes: Outcomes) -> JudgedClaim:
    return judge_claim(paper(1), CLAIM, outcomes)


def test_significant_here_and_not_there_is_no_difference():
    """Where both have about the same gain, and one of them happens to be known less well."""
    chance = np.random.default_rng(1)
    default = judged(measured([8, 8, 8], 0.02, 20, chance))
    few = judged(measured([8, 8, 8], 0.1, 4, chance))
    read = judged(measured([6, 6, 6], 0.2, 4, chance))
    assert default.verdict.goes_the_papers_way
    assert read.verdict is Verdict.NOT_SHOWN
    assert disagreement(default, few, read) > MISTAKEN


def test_another_sign_disagrees():
    chance = np.random.default_rng(2)
    default = judged(measured([20, 20, 20], 0.02, 20, chance))
    few = judged(measured([20, 20, 20], 0.02, 4, chance))
    read = judged(measured([-20, -20, -20], 0.02, 4, chance))
    assert disagreement(default, few, read) < 0.01
    # One comparison of three leaves the claim as it is.
    one = judged(measured([-20, 20, 20], 0.02, 4, chance))
    assert disagreement(default, few, one) > MISTAKEN


def test_only_the_way_disagrees_not_the_size():
    assert not differs(Verdict.REPRODUCED, Verdict.SMALLER)
    assert not differs(Verdict.NOT_SHOWN, Verdict.CONTRADICTED)
    assert differs(Verdict.LARGER, Verdict.NOT_SHOWN)
    assert differs(Verdict.CONTRADICTED, Verdict.DIRECTION)


# Zero, or an amount that a float can be scaled by without losing digits.
amount = st.just(0.0) | st.floats(1e-3, 1e6)
series = st.lists(amount, min_size=2, max_size=6)


@given(before=series, data=st.data(), scale=st.floats(0.01, 100))
@settings(deadline=None)
def test_changes_have_bounds_and_no_unit(before, data, scale):
    after = data.draw(st.lists(amount, min_size=len(before), max_size=len(before)))
    found = estimates.changes(before, after)
    assert all(-1 <= one <= 1 for one in found)
    assert estimates.changes(after, before) == pytest.approx([-one for one in found])
    scaled = estimates.changes([scale * v for v in before], [scale * v for v in after])
    assert scaled == pytest.approx(found, abs=1e-6)


@given(verdict=st.sampled_from(list(Verdict)), seed=st.integers(0, 1000))
@settings(deadline=None)
def test_the_same_runs_never_disagree_whatever_their_verdicts(verdict, seed):
    chance = np.random.default_rng(seed)
    read = judged(measured([5, 5, 5], 0.1, 4, chance))
    default = replace(
        read, under_default=verdict, parts=tuple(replace(p, verdict=verdict) for p in read.parts)
    )
    assert disagreement(default, read, read) == AGREES


def test_one_run_and_a_shift_without_spread_cannot_be_told_apart():
    assert estimates.p_apart([0.1], [0.5]) == 1
    assert estimates.p_apart([0.1, 0.1, 0.1], [0.5, 0.5, 0.5]) == 1
    assert estimates.p_apart([0.1, 0.2], [0.1, 0.2, 0.3]) == 1
    assert estimates.p_apart([0.1, 0.12, 0.11], [0.5, 0.51, 0.53]) < 0.01


def verdict_over(
    readings: list[list[float]], noise: float, seed: int, default: list[float]
) -> Verdict:
    """The verdict where the readings have these gains."""
    found, _ = judged_over(readings, noise, seed, default)
    assert found.verdict in {found.under_default, Verdict.DEPENDS}
    return found.verdict


def judged_over(
    readings: list[list[float]], noise: float, seed: int, default: list[float]
) -> tuple[JudgedClaim, VerdictsByReading]:
    """The claim where the readings have these gains, from 20 seeds and four for the others."""
    chance = np.random.default_rng(seed)

    def run(asked: list[ToRun], *, fresh: bool = False) -> list[Outcomes]:
        seeds = 20 if fresh else 4
        return [
            measured(
                [default, *readings][one.settings.get("tcp.max_window", 0)], noise, seeds, chance
            )
            for (one,), _ in asked
        ]

    whole = measured(default, noise, 20, chance)
    ((found,), over) = judge_over_readings(paper(len(readings)), whole, run)
    return found, over


def test_chance_makes_no_reading_decide():
    """Forty readings that are all the default in truth, forty times over, in noise."""
    default = [6.0, 6.0, 6.0]
    depends = sum(
        verdict_over([default] * 40, 0.08, seed, default) is Verdict.DEPENDS for seed in range(40)
    )
    assert depends <= 5  # two are expected at most, and more than five once in seventy times


def test_one_reading_of_forty_that_decides_is_found():
    default = [15.0, 15.0, 15.0]
    readings = [default] * 39 + [[-15.0, -15.0, -15.0]]
    found = sum(
        verdict_over(readings, 0.05, seed, default) is Verdict.DEPENDS for seed in range(40)
    )
    assert found == 40


def test_readings_that_show_nothing_for_want_of_seeds_do_not_vote():
    """Twenty that have the default's gain and too few seeds for it."""
    default = [10.0, 10.0, 10.0]
    verdicts = {verdict_over([default] * 20, 0.1, seed, default) for seed in range(20)}
    assert verdicts == {Verdict.REPRODUCED, Verdict.DIRECTION}  # as the default has it


@given(
    default=st.lists(st.sampled_from([-15.0, 0.0, 15.0]), min_size=3, max_size=3),
    readings=st.lists(
        st.lists(st.sampled_from([-15.0, 0.0, 15.0]), min_size=3, max_size=3),
        min_size=1,
        max_size=4,
    ),
    seed=st.integers(0, 100),
)
@settings(max_examples=60, deadline=None)
def test_a_claim_depends_only_where_two_readings_stand_on_different_sides(default, readings, seed):
    """Each by its verdict on fresh seeds, whatever a mixture of their parts would give."""
    found, over = judged_over(readings, 0.05, seed, default)
    witnesses = over.turning("1a")
    assert (found.verdict is Verdict.DEPENDS) == bool(witnesses)
    for witness in witnesses:
        assert differs(found.under_default, witness.verdict)
        assert over.verdicts_on("1a").count(witness.verdict)
    if found.verdict is Verdict.NEVER:
        assert not any(verdict.goes_the_papers_way for verdict in over.verdicts_on("1a"))
        assert found.under_default is Verdict.CONTRADICTED
