"""Fits of a link give back the link that a flow was computed over."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import airtcp
from airtcp.diagnosis.ceiling import ceiling
from airtcp.diagnosis.link import fitted_link
from airtcp.diagnosis.loss import Loss, loss_of
from airtcp.diagnosis.observed import Flags, Observed, Reals
from airtcp.diagnosis.rate import half_sample_mode, rate_step
from airtcp.diagnosis.scenario import Stack, modelled, opportunities, replayed
from airtcp.diagnosis.stops import MIN_S, Stop, StopProcess
from naive_flow import Link, flow_over

STACK = Stack("linux", 1448, sack=True, timestamps=True)


@pytest.mark.parametrize("rate_bps", [2e6, 10e6, 30e6])
@pytest.mark.parametrize("queue", [20, 100])
def test_a_full_link_is_fitted(rate_bps: float, queue: int) -> None:
    flow = flow_over(Link(rate_bps, 0.025, queue), 20.0, 0.95 * 8 * 1500 / rate_bps)
    link = fitted_link(flow)
    assert link.rate.is_constant
    assert link.bps == pytest.approx(rate_bps, rel=0.005)
    assert link.base_rtt_s == pytest.approx(0.05 + 8 * 1500 / rate_bps, rel=0.001)
    assert link.delay_s == pytest.approx(0.025, rel=0.01)
    assert link.queue.is_known
    assert abs(link.queue.packets - queue) <= 1
    assert link.loss.lost == 0
    assert not link.stops.stops


def test_an_idle_link_has_bounds_of_its_rate_and_no_end_of_its_queue() -> None:
    rate = fitted_link(flow_over(Link(), 20.0, 0.02)).rate
    assert rate.bounds is not None
    low, high = rate.bounds
    # A packet of 1500 bytes each 20 ms passes; nothing shows how much more would.
    assert low == pytest.approx(8 * 1500 / 0.02, rel=0.05)
    assert high == pytest.approx(10 * low)
    assert not rate.is_constant
    assert not fitted_link(flow_over(Link(), 20.0, 0.02)).queue.is_known


def test_a_rate_that_the_user_knows_is_taken() -> None:
    link = fitted_link(flow_over(Link(), 20.0, 0.02), known_bps=10e6)
    assert link.bps == 10e6
    assert link.rate.bounds is None


def test_a_rate_that_changes_once_is_a_step() -> None:
    # The windows of a queue, before and after the change at 18 s.
    times = np.arange(0.0, 40.0, 0.25)
    random = np.random.default_rng(5)
    rates = np.where(times < 18.0, 10e6, 2e6) * random.normal(1.0, 0.01, len(times))
    step = rate_step(times, rates)
    assert step is not None
    assert step.at_s == pytest.approx(18.0, abs=0.3)
    assert (step.before_bps, step.after_bps) == pytest.approx((10e6, 2e6), rel=0.01)
    assert rate_step(times, np.where(times % 8 < 4, 10e6, 2e6)) is None
    assert rate_step(times, np.full(len(times), 10e6)) is None


def test_a_link_that_delivers_more_than_its_rate_has_no_one_rate() -> None:
    # A queue builds up only in the slow parts: all windows with one agree.
    flow = flow_over(Link(slow=(4.0, 2.5, 3e6), queue=20), 24.0, 0.0024)
    rate = fitted_link(flow).rate
    assert rate.steps is not None
    assert rate.bounds is None
    within = (np.arange(len(rate.steps)) * 0.25) % 4.0
    slow, fast = rate.steps[within >= 2.0], rate.steps[(within >= 0.25) & (within < 1.25)]
    assert np.median(slow) == pytest.approx(3e6, rel=0.03)
    # As much as was sent, at least.
    assert fast.min() >= 0.95 * 5e6


def test_losses_of_the_link_are_not_those_of_the_queue() -> None:
    random = np.random.default_rng(3)
    lost = frozenset(int(one) for one in np.flatnonzero(random.random(20_000) < 0.01))
    link = fitted_link(flow_over(Link(lost=lost, queue=50), 20.0, 0.95 * 0.0012))
    assert link.queue.is_known
    assert link.loss.rate == pytest.approx(0.01, rel=0.2)
    assert link.loss.bursts is None
    # Lost packets had taken their time on the link.
    assert link.bps == pytest.approx(10e6, rel=0.01)


def test_stops_are_found_with_their_lengths() -> None:
    stops = ((2.0, 0.3), (5.5, 0.15), (9.0, 1.0), (14.0, 0.1))
    flow = flow_over(Link(stops=stops, queue=2000), 20.0, 0.9 * 0.0012)
    found = fitted_link(flow).stops.stops
    assert len(found) == len(stops)
    for one, (start, length) in zip(found, stops, strict=True):
        assert one.length_s == pytest.approx(length, abs=0.005)
        assert one.start_s == pytest.approx(start, abs=0.03)


def test_a_stop_after_which_all_was_sent_again_is_found() -> None:
    """A timeout of a sender that goes back leaves no round trip unambiguous for a while."""
    flow = flow_over(Link(stops=((5.0, 1.0),), queue=2000), 12.0, 0.9 * 0.0012)
    found = fitted_link(_gone_back(flow, (flow.sent_s < 6.0) & (flow.acked_s > 6.0))).stops.stops
    assert [one.length_s for one in found] == [pytest.approx(1.0, abs=0.005)]


def _gone_back(flow: Observed, again: Flags) -> Observed:
    """These transmissions arrived, and were retransmitted just before."""

    def twice(values: Reals) -> Reals:
        return np.concatenate([values, values[again]])

    return replace(
        flow,
        sent_s=np.concatenate([flow.sent_s, flow.acked_s[again] - 0.001]),
        size=twice(flow.size),
        payload=twice(flow.payload),
        start=twice(flow.start),
        attempt=np.concatenate([flow.attempt, flow.attempt[again] + 1]),
        lost=np.concatenate([flow.lost, flow.lost[again]]),
        dropped=np.concatenate([flow.dropped, flow.dropped[again]]),
        full=np.concatenate([flow.full, flow.full[again]]),
        acked_s=twice(flow.acked_s),
        rtt_s=twice(np.where(again, np.nan, flow.rtt_s)),
    )


def test_pauses_of_the_application_are_no_stops() -> None:
    flow = flow_over(Link(), 20.0, 0.3)
    assert not fitted_link(flow).stops.stops


@pytest.mark.parametrize("jitter_s", [0.005, 0.01, 0.02, 0.04])
def test_jitter_in_order_is_no_stop(jitter_s: float) -> None:
    flow = flow_over(Link(jitter_s=jitter_s), 40.0, 0.0024)
    # Long silences are there.
    assert jitter_s < 0.02 or np.diff(flow.ack_s).max() > 2 * MIN_S
    assert not fitted_link(flow).stops.stops


def test_stops_are_found_beside_jitter() -> None:
    link = Link(stops=((10.0, 0.8), (25.0, 1.2)), jitter_s=0.02, queue=2000)
    found = fitted_link(flow_over(link, 40.0, 0.0024)).stops.stops
    assert [round(one.start_s) for one in found] == [10, 25]


def test_regular_stops_are_told_from_random_ones() -> None:
    periodic = tuple((1.0 + 3.0 * index, 0.2) for index in range(6))
    process = fitted_link(flow_over(Link(stops=periodic, queue=2000), 20.0, 0.0011)).stops
    assert process.is_periodic
    assert process.have_one_length
    assert process.mean_period_s == pytest.approx(3.0, abs=0.02)
    irregular = ((1.0, 0.2), (2.0, 0.6), (8.0, 0.1), (9.0, 0.4), (17.0, 0.3))
    process = fitted_link(flow_over(Link(stops=irregular, queue=2000), 20.0, 0.0011)).stops
    assert not process.is_periodic
    assert not process.have_one_length


def test_the_mode_is_where_values_are_densest() -> None:
    random = np.random.default_rng(4)
    values = np.concatenate((random.uniform(0.0, 20.0, 300), random.normal(7.0, 0.05, 200)))
    assert half_sample_mode(values) == pytest.approx(7.0, abs=0.1)
    assert half_sample_mode(np.array([5.0])) == 5.0
    assert half_sample_mode(np.array([1.0, 1.2, 9.0])) == pytest.approx(1.1)


def bursts_of(chances: tuple[float, float, float], packets: int, seed: int) -> Flags:
    """Losses of a Gilbert-Elliott channel, as plainly as can be."""
    to_bad, to_good, in_bad = chances
    draws = np.random.default_rng(seed).random((packets, 2))
    lost, bad = np.zeros(packets, dtype=np.bool_), False
    for index, (change, loss) in enumerate(draws):
        bad = (change >= to_good) if bad else (change < to_bad)
        lost[index] = bad and loss < in_bad
    return lost


@pytest.mark.parametrize("chances", [(0.002, 0.25, 0.6), (0.001, 0.1, 0.5), (0.01, 0.5, 1.0)])
def test_bursts_are_fitted(chances: tuple[float, float, float]) -> None:
    to_bad, to_good, in_bad = chances
    lost = bursts_of(chances, 200_000, 5)
    bursts = loss_of(lost).bursts
    assert bursts is not None
    assert bursts.good_to_bad == pytest.approx(to_bad, rel=0.3)
    assert bursts.bad_to_good == pytest.approx(to_good, rel=0.3)
    assert bursts.loss_in_bad == pytest.approx(in_bad, rel=0.25)
    mean = bursts.loss_in_bad * bursts.good_to_bad / (bursts.good_to_bad + bursts.bad_to_good)
    assert mean == pytest.approx(lost.mean(), rel=0.02)


@pytest.mark.parametrize("chances", [(0.002, 0.25, 0.6), (0.001, 0.1, 0.5)])
def test_the_interval_of_bursts_covers_their_rate(chances: tuple[float, float, float]) -> None:
    to_bad, to_good, in_bad = chances
    true = in_bad * to_bad / (to_bad + to_good)
    fitted = [loss_of(bursts_of(chances, 20_000, seed)) for seed in range(100)]
    covered = [low <= true <= high for low, high in (one.interval for one in fitted)]
    alone = [
        low <= true <= high
        for low, high in (Loss(one.sent, one.lost, None).interval for one in fitted)
    ]
    assert sum(covered) >= 87
    # As if they were independent they would not.
    assert sum(alone) < 80


def test_losses_at_a_full_queue_are_left_out_with_all_that_met_it() -> None:
    random = np.random.default_rng(8)
    lost = frozenset(int(one) for one in np.flatnonzero(random.random(40_000) < 0.02))
    # Sent faster than the link is: the queue is mostly full.
    flow = flow_over(Link(lost=lost, queue=20), 40.0, 0.98 * 0.0012)
    at_full = flow.lost & flow.full
    assert at_full.sum() > flow.dropped.sum()
    hidden = replace(flow, dropped=at_full)
    assert fitted_link(hidden).loss.rate == pytest.approx(0.02, rel=0.15)


def test_independent_losses_are_no_bursts() -> None:
    random = np.random.default_rng(6)
    found = [loss_of(random.random(20_000) < 0.01).bursts for _ in range(50)]
    assert sum(one is not None for one in found) <= 1


def test_the_interval_of_a_loss_rate_is_exact() -> None:
    # Clopper and Pearson: 5 of 100 and 0 of 10, by statistical tables.
    five = np.zeros(100, dtype=np.bool_)
    five[:5] = True
    assert loss_of(five).interval == pytest.approx((0.0164, 0.1128), abs=1e-4)
    assert loss_of(np.zeros(10, dtype=np.bool_)).interval == pytest.approx((0.0, 0.3085), abs=1e-4)


def test_opportunities_carry_the_rate() -> None:
    # 12 Mbit/s is one packet of 1500 bytes a millisecond, for two windows of 250 ms.
    text = opportunities(np.array([12e6, 12e6]))
    assert [int(line) for line in text.split()] == list(range(1, 501))


@pytest.mark.parametrize("sack", [True, False])
@pytest.mark.parametrize("timestamps", [True, False])
@pytest.mark.parametrize("profile", ["linux", "linux-reno", "linux-bbr"])
def test_every_stack_is_a_scenario(profile: str, *, sack: bool, timestamps: bool) -> None:
    flow = flow_over(Link(stops=((2.0, 0.3), (5.0, 0.4))), 10.0, 0.0011)
    stack = Stack(profile, 1448, sack, timestamps, 65_536)
    written = modelled(fitted_link(flow), stack, 10.0)
    assert airtcp.load_scenario(written.toml).to_toml()


def test_a_replay_has_the_losses_and_stops_of_the_flow(tmp_path: Path) -> None:
    link = Link(lost=frozenset({10, 500}), stops=((2.0, 0.3),), queue=3000)
    flow = flow_over(link, 10.0, 0.0011)
    written = replayed(fitted_link(flow), flow, STACK)
    # The SYN is packet 0.
    assert written.files["lost.csv"] == "packet\n11\n501\n"
    (start, length) = written.files["stops.csv"].splitlines()[1].split(",")
    # Data leaves a round trip after the start of the simulation.
    assert float(start) == pytest.approx(2000 + 51, abs=30)
    assert float(length) == pytest.approx(300, abs=5)
    run = airtcp.run(written.write(tmp_path, "link.toml"))
    assert run.summary["flows"][0]["segments_lost_link"] == 2


def test_the_ceiling_is_what_the_link_carries_of_payload() -> None:
    flow = flow_over(Link(stops=((5.0, 2.0),), queue=3000), 20.0, 0.0011)
    most = ceiling(fitted_link(flow), flow)
    # Two of some twenty seconds are lost, and 52 bytes of 1500 are headers.
    expected = 10e6 * (1 - 2.0 / flow.seconds) * 1448 / 1500
    assert most.most_bps == pytest.approx(expected, rel=0.01)
    assert most.is_reached


def test_few_stops_leave_open_how_often_they_come() -> None:
    assert not StopProcess((), 10.0).are_few
    once = StopProcess((Stop(4.0, 0.5, float("nan")),), 30.0)
    assert once.are_few
    # Half the quantiles of chi-square with 3 degrees of freedom: 0.216 and 9.348.
    assert once.often == pytest.approx((0.108, 4.674), abs=0.001)
    random = np.random.default_rng(3)
    drawn = [once.drawn(random) for _ in range(2000)]
    seen = np.array([30.0 / one.mean_working_s for one in drawn])
    assert seen.mean() == pytest.approx(1.5 * 30.0 / 29.5, rel=0.1)
    assert {one.mean_length_s for one in drawn} == {0.5}
    assert not any(one.is_periodic for one in drawn)


def test_a_short_stop_is_found_by_the_packets_that_are_late_behind_it() -> None:
    flow = flow_over(Link(stops=((5.0, 0.05),), queue=3000), 20.0, 0.0011)
    (stop,) = fitted_link(flow).stops.stops
    assert stop.length_s == pytest.approx(0.05, abs=0.01)
    assert stop.start_s == pytest.approx(5.0, abs=0.05)
