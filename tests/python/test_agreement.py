"""Kernel and simulation agree, differ, or are indistinguishable: three answers, paired by seed."""

import math

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from airtcp.kernel.agreement import MARGIN_PERCENT, Agreement, Answer, Side
from airtcp.kernel.verdict import agreement_sentence

BEFORE = [10.0, 10.2, 9.8]


def _agreement(real: list[float], simulated: list[float]) -> Agreement:
    return Agreement(Side(BEFORE, real), Side(BEFORE, simulated))


@pytest.mark.parametrize(
    ("real", "simulated", "answer", "said"),
    [
        ([12.0, 12.3, 11.7], [12.1, 12.4, 11.8], Answer.AGREE, "they agree within 5 %"),
        ([12.0, 12.3, 11.7], [11.0, 11.3, 10.7], Answer.DIFFER, "they differ"),
        ([10.0, 10.1, 9.9], [12.0, 12.1, 11.9], Answer.DIFFER, "they differ"),
        # Indistinguishable, and yet nothing shows that they are the same.
        ([30.0, 5.0, 50.0], [20.0, 40.0, 12.0], Answer.UNDECIDED, "not enough runs"),
    ],
)
def test_an_agreement_has_to_be_shown(
    real: list[float], simulated: list[float], answer: Answer, said: str
) -> None:
    agreement = _agreement(real, simulated)
    assert agreement.answer is answer
    assert said in agreement_sentence("x", agreement)


def test_the_interval_is_that_of_a_t_test_on_the_ratios_of_gains() -> None:
    real, simulated = [12.0, 12.6, 11.1], [11.5, 12.0, 11.9]
    ratios = [math.log(one / other) for one, other in zip(real, simulated, strict=True)]
    low, high = ttest_1samp(ratios, 0.0).confidence_interval(0.95)
    expected = [100 * math.expm1(low), 100 * math.expm1(high)]
    assert _agreement(real, simulated).interval_percent == pytest.approx(expected)


def test_luck_that_both_meet_cancels() -> None:
    """A seed on which the remedy gains tenfold does so on both: that is no disagreement."""
    gains = [1.1, 10.0, 0.5]
    after = [gain * before for gain, before in zip(gains, BEFORE, strict=True)]
    near = [value * off for value, off in zip(after, [1.01, 0.99, 1.0], strict=True)]
    assert _agreement(near, after).answer is Answer.AGREE


def test_runs_that_are_the_same_agree() -> None:
    assert _agreement([12.0, 12.3, 11.7], [12.0, 12.3, 11.7]).answer is Answer.AGREE


def test_one_run_shows_no_agreement() -> None:
    agreement = Agreement(Side([10.0], [12.0]), Side([10.0], [12.0]))
    assert agreement.answer is Answer.UNDECIDED
    assert "more --seeds" in agreement_sentence("x", agreement)


def test_a_run_that_delivered_nothing_cannot_be_compared() -> None:
    agreement = _agreement([0.0, 12.3, 11.7], [12.0, 12.3, 11.7])
    assert agreement.answer is Answer.UNDECIDED
    assert "delivered nothing" in agreement_sentence("x", agreement)


@pytest.mark.parametrize("seeds", [3, 5, 20])
def test_a_wrong_agreement_is_rarer_than_one_in_twenty(seeds: int) -> None:
    """At the margin itself, where it is easiest to be wrong, whatever the noise."""
    draw = np.random.default_rng(7)
    wrong = 0
    tables = 2000
    beyond = math.log1p(MARGIN_PERCENT / 100)
    for _ in range(tables):
        noise = draw.choice([0.005, 0.02, 0.1])
        before = np.full(seeds, 10.0)
        simulated = before * np.exp(draw.normal(0.2, 0.1, seeds))
        real = simulated * np.exp(draw.normal(beyond, noise, seeds))
        agreement = Agreement(
            Side(before.tolist(), real.tolist()), Side(before.tolist(), simulated.tolist())
        )
        wrong += agreement.answer is Answer.AGREE
    assert wrong / tables < 0.05


def test_the_seeds_that_are_advised_decide() -> None:
    """Runs drawn like the few undecided ones are decided, mostly, with as many as advised."""
    draw = np.random.default_rng(3)

    def drawn(seeds: int) -> Agreement:
        before = np.full(seeds, 10.0)
        simulated = before * 1.2
        real = simulated * np.exp(draw.normal(0.01, 0.06, seeds))
        return Agreement(
            Side(before.tolist(), real.tolist()), Side(before.tolist(), simulated.tolist())
        )

    decided = advised = 0
    while advised < 200:
        seeds = drawn(5).seeds_to_decide
        if seeds is None or seeds > 300:
            continue
        advised += 1
        decided += drawn(seeds).answer is not Answer.UNDECIDED
    assert decided / advised > 0.5
