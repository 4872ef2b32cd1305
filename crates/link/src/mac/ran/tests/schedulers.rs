//! Gains of schedulers over Rayleigh fading, against their closed forms.

use super::*;
use crate::mac::ran::adaptation::{largest_block, nominal};
use crate::mac::ran::cqi::CqiTable;
use crate::mac::ran::session::SessionConfig;

const SLOTS: u64 = 40_000;

/// Bits a slot of each saturated user, with a mean signal each.
fn served(scheduler: Scheduler, signals_db: &[f64]) -> Vec<f64> {
    let radios = signals_db
        .iter()
        .zip(0..)
        .map(|(snr_db, user)| radio(*snr_db, Fading::Independent, user, 1));
    let base = lte(radios.collect());
    let users = signals_db.len() as u32;
    let config = RanConfig {
        scheduler,
        saturated: users,
        harq: HarqConfig {
            // Every resource block is for a new block.
            transmissions: attempts(1),
            ..base.harq
        },
        ..base
    };
    let mut ran: Ran<u64> = Ran::new(&config, Stream::new(1, "cell")).unwrap();
    for _ in 0..SLOTS {
        let now = ran.next_wakeup();
        ran.on_wakeup(now, &mut ());
    }
    (1..=users)
        .map(|user| ran.served_bits(user) as f64 / SLOTS as f64)
        .collect()
}

/// The bits of a slot at each CQI, and the ratio of signal to noise that it needs, from CQI 1.
fn steps(blocks: u32) -> Vec<(f64, f64)> {
    let config = lte(vec![radio(0.0, Fading::None, 0, 1)]);
    let table = CqiTable::new(McsTable::Qam64, config.gap_db);
    let format = config.down.format;
    let list = nominal(&format, 50);
    (1..16)
        .map(|index| {
            let snr = table.snr(index);
            let block = largest_block(&format, &list, blocks, (snr, table.gap()));
            // CQI 1 is below the lowest scheme, which is used all the same.
            let bits = block.map_or(format.bits(0, blocks), |block| block.bits);
            (snr, f64::from(bits))
        })
        .collect()
}

/// Expected bits of a slot that goes to the best of users with exponential ratios: over the steps
/// of the rate, each times the chance that the best reaches it.
fn best_of(means: &[f64]) -> f64 {
    let mut before = 0.0;
    steps(50)
        .into_iter()
        .map(|(snr, bits)| {
            let none: f64 = means.iter().map(|mean| 1.0 - (-snr / mean).exp()).product();
            let more = (bits - before) * (1.0 - none);
            before = bits;
            more
        })
        .sum()
}

const FAIR: Scheduler = Scheduler::ProportionalFair {
    time_constant: 1000.0,
};

/// Users of equal mean: max-rate serves the best, and so does proportional fairness, as everybody's
/// average is the same. The closed form has the rate's steps; for a rate in proportion to the
/// signal it is Hochwald, Marzetta and Tarokh's H_n.
#[test]
fn gains_over_rayleigh_fading_are_those_of_the_closed_form() {
    for users in 1..=10 {
        let signals = vec![8.0; users];
        let means = vec![crate::fading::ratio(8.0); users];
        let expected = best_of(&means);
        for scheduler in [Scheduler::MaxRate, FAIR] {
            let found: f64 = served(scheduler, &signals).iter().sum();
            assert!(
                (found / expected - 1.0).abs() < 0.02,
                "{users} {scheduler:?}: {found}, {expected}"
            );
        }
    }
}

/// Of unequal users max-rate serves the best of all; the sum has the same closed form.
#[test]
fn max_rate_serves_the_best_of_unequal_users() {
    for signals in [vec![0.0, 12.0], vec![3.0, 6.0, 9.0, 12.0]] {
        let means: Vec<f64> = signals.iter().map(|db| crate::fading::ratio(*db)).collect();
        let found: f64 = served(Scheduler::MaxRate, &signals).iter().sum();
        let expected = best_of(&means);
        assert!(
            (found / expected - 1.0).abs() < 0.02,
            "{signals:?}: {found}, {expected}"
        );
    }
}

/// In turn, users share the resource blocks of each slot: 50 in groups of 3 are 26 and 24 for two,
/// the last group having 2.
#[test]
fn turns_give_equal_shares() {
    let found = served(Scheduler::RoundRobin, &[8.0, 8.0]);
    let mean = crate::fading::ratio(8.0);
    let alone = |blocks: u32| {
        let mut before = 0.0;
        steps(blocks)
            .into_iter()
            .map(|(snr, bits)| {
                let more = (bits - before) * (-snr / mean).exp();
                before = bits;
                more
            })
            .sum::<f64>()
    };
    // The extra group alternates, unless only one of both has a signal.
    let expected = f64::midpoint(alone(27), alone(23));
    for bits in found {
        assert!((bits / expected - 1.0).abs() < 0.04, "{bits} {expected}");
    }
}

/// Round robin with four others, each backlogged half of the time, gives a user the mean of
/// 1/(1 + K), with K of them backlogged: (1 − (1 − p)⁵) / 5p, which is 0.3875.
#[test]
fn a_users_share_is_the_mean_over_the_others_sessions() {
    let radios = (0..5).map(|user| radio(20.0, Fading::None, user, 1));
    let base = lte(radios.collect());
    let config = |sessions| RanConfig {
        saturated: 4,
        sessions,
        ..base.clone()
    };
    let half = SessionConfig {
        on: Duration::from_millis(50),
        off: Duration::from_millis(50),
    };
    let bits = |config: &RanConfig, slots: u64| {
        let mut ran: Ran<u64> = Ran::new(config, Stream::new(1, "cell")).unwrap();
        let mut now = Instant::ZERO;
        for slot in 0..slots {
            while ran.queued_packets(ACCESS_POINT, 1) < 100 {
                ran.push(now, (ACCESS_POINT, 1), offer(1500), slot, &mut ());
            }
            now = ran.next_wakeup();
            ran.on_wakeup(now, &mut ());
            while ran.poll().is_some() {}
        }
        ran.served_bits(1) as f64 / slots as f64
    };
    let alone = RanConfig {
        saturated: 0,
        radios: base.radios[..1].to_vec(),
        ..base.clone()
    };
    let share = bits(&config(Some(half)), SLOTS) / bits(&alone, 2_000);
    assert!((share - 0.3875).abs() < 0.025, "{share}");
    let share = bits(&config(None), 4_000) / bits(&alone, 2_000);
    assert!((share - 0.2).abs() < 0.005, "{share}");
}
