"""Rankings of remedies are sound: intervals cover, and named winners win."""

from dataclasses import replace

import numpy as np
import pytest

from airtcp.comparison.ranking import Aim, Direction, State, reach
from airtcp.comparison.statistics import Outcome, PairedDifference
from airtcp.diagnosis.ceiling import Ceiling
from airtcp.diagnosis.latency import Latency
from airtcp.diagnosis.trials import Cost, Effect, Trial, Trials, candidate, effect
from airtcp.diagnosis.trying import candidates
from airtcp.diagnosis.words import before_trials, change, headline, interval, larger_with_harm

SENDER = reach("sender", Direction.UNKNOWN)


def row(name: str, *ends: Effect) -> Trial:
    return Trial(name, "sender", ends[0], ends, Cost(0.0, 0.0, 0.0), 1e6)


def trials(*rows: Trial) -> Trials:
    return Trials(rows, None, 1e6, 0, SENDER)


def test_the_interval_holds_the_fit_and_the_seeds() -> None:
    """Of links that differ as the fit is unsure, the true one is as likely as any."""
    random = np.random.default_rng(7)
    covered = 0
    for _ in range(400):
        gains = random.normal(0.2, 0.05, 20)
        before = np.exp(random.normal(0.0, 0.2, (20, 2)))
        after = before * np.exp(gains[:, None] + random.normal(0.0, 0.08, (20, 2)))
        truth = 100.0 * np.expm1(random.normal(0.2, 0.05))
        found = effect(before, after)
        covered += found.low <= truth <= found.high
    assert 0.90 <= covered / 400 <= 0.985


def test_equal_runs_are_identical() -> None:
    same = np.ones((20, 2))
    assert effect(same, same).is_identical
    assert effect(np.zeros((20, 2)), same).percent == 0.0
    assert effect(same, 2 * same).percent == pytest.approx(100.0)
    assert effect(same, 0 * same).percent == pytest.approx(-100.0, abs=0.01)


def test_a_winner_helps_at_both_ends() -> None:
    helps, hurts = Effect(20.0, 10.0, 30.0), Effect(-20.0, -30.0, -10.0)
    unsure, small = Effect(5.0, -1.0, 11.0), Effect(1.0, 0.5, 1.5)
    assert row("a", helps, hurts).depends
    assert row("a", helps, unsure).depends
    assert not row("a", helps, helps).depends
    assert not row("a", small, unsure).depends
    rows = (row("bbr", helps, hurts), row("veno", small), row("westwood", helps, helps))
    winner = trials(*rows).winner
    assert winner is not None
    assert winner.remedy == "westwood"
    assert trials(*rows[:2]).winner is None


def test_a_trial_is_decided_only_where_every_end_says_so() -> None:
    helps, hurts = Effect(20.0, 10.0, 30.0), Effect(-20.0, -30.0, -10.0)
    small, unsure = Effect(1.0, 0.5, 1.5), Effect(2.5, 0.1, 4.9)
    assert candidate(row("a", helps, helps)).helps
    assert candidate(row("a", small, small)).state is State.EXCLUDED
    assert candidate(row("a", helps, hurts)).state is State.UNDECIDED
    assert candidate(row("a", helps, small)).state is State.UNDECIDED
    assert candidate(row("a", unsure)).state is State.UNDECIDED
    assert candidate(row("a", hurts, hurts)).gain < 0


def test_the_headline_says_when_nothing_helps() -> None:
    full, half = Ceiling(7.7e6, 7.9e6), Ceiling(4e6, 8e6)
    winner = trials(row("bbr", Effect(20.0, 10.0, 30.0)))
    none = trials(row("veno", Effect(1.0, -1.0, 2.9)))
    unsure = trials(row("veno", Effect(1.0, -1.0, 3.5)))
    assert headline(full, winner, ()) == (
        "The flow already gets 7.70 of 7.90 Mbit/s: no remedy is worth deploying."
    )
    assert headline(half, none, ()).endswith(
        "Nothing at the sender helps: no remedy brings 3 % or more."
    )
    assert headline(half, unsure, ()).endswith(
        "No remedy at the sender is shown to help; undecided: veno (+1 % (\N{MINUS SIGN}1 to 4 %))."
    )
    assert "bbr at the sender brings +20 % (10 to 30 %) of goodput." in headline(half, winner, ())
    assert headline(half, None, ("Too short.",)) == "No remedy is recommended: Too short."


def test_limits_are_named_for_every_aim_where_nothing_was_tried() -> None:
    half, waits = Ceiling(4e6, 8e6), Latency(0.05, 2.4, 4.8, is_shared=False)
    for aim in Aim:
        said = headline(half, None, (), waits=waits, limits=["the link loses packets"], aim=aim)
        assert said == (
            "The flow gets 4.00 of 8.00 Mbit/s: the link loses packets. No remedies were tried "
            "(pass --can to try them)."
        )


@pytest.mark.parametrize("aim", Aim)
@pytest.mark.parametrize("most_bps", [4.1e6, 8e6], ids=["full", "not full"])
@pytest.mark.parametrize("median_s", [0.06, 2.4], ids=["at once", "waits"])
def test_the_headline_begins_as_before_the_trials(
    aim: Aim, most_bps: float, median_s: float
) -> None:
    most, waits = Ceiling(4e6, most_bps), Latency(0.05, median_s, 2 * median_s, is_shared=False)
    limits = ["the link loses 1 % of the packets"]
    facts = " ".join(before_trials(most, waits, limits, aim))
    assert facts
    for tried in (trials(row("bbr", Effect(20.0, 10.0, 30.0))), None):
        untried = "" if tried else "No remedies were tried. It takes more than 1 s."
        said = headline(most, tried, (), None, waits, limits, aim, (), untried)
        assert said.startswith(facts)
        assert said.endswith(untried)


def test_a_reason_not_to_trust_the_link_comes_before_its_ceiling() -> None:
    full = Ceiling(7.7e6, 7.9e6)
    said = headline(full, None, ("The link model does not explain this capture.",))
    assert said == "No remedy is recommended: The link model does not explain this capture."


def test_a_full_link_whose_data_waits_is_a_finding() -> None:
    full, waits = Ceiling(7.7e6, 7.9e6), Latency(0.05, 2.4, 4.8, is_shared=False)
    calm = replace(row("bbr", Effect(-1.0, -2.0, 0.0)), round_trip=Effect(-90.0, -92.0, -88.0))
    costly = replace(
        row("max-window", Effect(-40.0, -42.0, -38.0)), round_trip=Effect(-95.0, -96.0, -94.0)
    )
    said = headline(full, trials(calm, costly), (), waits=waits)
    assert "its round trip is 50 ms without a queue, and 2.4 s in the median" in said
    assert "bbr at the sender changes its 95th percentile by \N{MINUS SIGN}90.0 %" in said
    assert "no remedy" not in said
    unsure = headline(full, trials(costly), (), waits=waits)
    assert "No remedy at the sender is shown to shorten it much" in unsure
    assert not Latency(0.05, 0.06, 0.09, is_shared=False).is_large


def test_a_remedy_that_harms_others_is_second_to_one_nearly_as_good() -> None:
    rows = (row("bbr", Effect(30.0, 25.0, 35.0)), row("veno", Effect(24.0, 20.0, 28.0)))
    gentle = PairedDifference(10, 100.0, 100.0, 0.0, 5.0, Outcome.NO_DIFFERENCE_SHOWN)
    harsh = PairedDifference(10, 100.0, 50.0, -50.0, 5.0, Outcome.LOWER)
    found = replace(trials(*rows), harms={"bbr": harsh, "veno": gentle})
    assert found.winner is not None
    assert found.winner.remedy == "veno"
    (line,) = larger_with_harm(found)
    assert line.startswith("bbr brings +30 %")
    assert "takes 50 % of its goodput from an unchanged competing flow" in line


def test_numbers_have_their_signs() -> None:
    assert change(-0.04, 1) == "0"
    assert change(-0.06, 1) == "\N{MINUS SIGN}0.1"
    assert change(3.0, 0) == "+3"
    assert interval(Effect(-5.0, -8.0, -2.0)) == (
        "\N{MINUS SIGN}5 % (\N{MINUS SIGN}8 to \N{MINUS SIGN}2 %)"
    )


def test_candidates_can_be_had() -> None:
    names = {entry["name"] for entry in candidates()}
    assert {"bbr", "min-rto", "delayed-ack", "queue", "snoop"} <= names
    assert not {"coin", "oracle", "zbs", "ebsn"} & names
