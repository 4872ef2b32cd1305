//! Stations of 802.11b and g together with one of 802.11n.

use super::*;
use crate::phy::Band;

/// A station of 802.11n at 65 Mbit/s and one that sends in `legacy`, at 2.4 GHz.
fn mixed(legacy: Mode, protection: Option<Protection>) -> EdcaConfig {
    let basic = if legacy.family() == Family::Dsss {
        BasicRates::of(&[
            Mode::DSSS_1,
            Mode::DSSS_2,
            Mode::CCK_5_5,
            Mode::CCK_11,
            Mode::OFDM_6,
            Mode::OFDM_12,
            Mode::OFDM_24,
        ])
    } else {
        BasicRates::OFDM
    };
    let phy = Phy::in_modes(Standard::N, mcs_7(), basic)
        .and_then(|phy| phy.in_band(Band::Ghz2_4))
        .expect("a PHY");
    EdcaConfig {
        station_modes: vec![mcs_7(), legacy],
        protection,
        mobile_retry_limit: attempts(7),
        access_point_retry_limit: attempts(7),
        phy,
        ..config(2, mcs_7())
    }
}

const fn micros(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

/// Time that a station keeps the channel for an exchange that succeeds, on average.
fn of_exchange(counters: &AggregationCounters) -> f64 {
    counters.airtime.as_secs_f64() / counters.ppdus as f64 * 1e6
}

/// A frame of 1500 bytes at 54 Mbit/s takes 20 + 4·⌈(16 + 8·1536 + 6)/216⌉ + 6 = 254 µs, and its
/// ACK at 24 Mbit/s 34, a SIFS of 10 between them. In 802.11b at 11 Mbit/s it takes 192 + 1118, and
/// its ACK 192 + 11.
#[test]
fn a_legacy_frame_takes_what_it_takes_alone() {
    for (mode, expected) in [
        (Mode::OFDM_54, micros(254 + 10 + 34)),
        (Mode::CCK_11, micros(1310 + 10 + 203)),
    ] {
        for ways in [[(2, 0)], [(0, 2)]] {
            let ran = saturate(&mixed(mode, None), &ways, IP_BYTES, 1, 1);
            let from = ways[0].0 as usize;
            assert_eq!(ran.counters[from].mpdus, ran.counters[from].ppdus);
            let mean = of_exchange(&ran.counters[from]);
            let expected = expected.as_secs_f64() * 1e6;
            // The last exchange may not have ended.
            assert!((mean / expected - 1.0).abs() < 2e-3, "{mode}: {mean}");
        }
    }
}

/// Frames of the 802.11n station are preceded by a CTS at 11 Mbit/s and a SIFS if one of 802.11b
/// listens: 203 + 10 µs more, and frames of that station are not. With RTS and CTS 192 + 15 + 10 +
/// 203 + 10.
#[test]
fn newer_frames_are_protected() {
    let mean = |protection, ways: [(u32, u32); 1]| {
        let ran = saturate(&mixed(Mode::CCK_11, protection), &ways, IP_BYTES, 8, 1);
        of_exchange(&ran.counters[ways[0].0 as usize])
    };
    for (protection, more) in [(Protection::CtsToSelf, 213.0), (Protection::RtsCts, 430.0)] {
        for ways in [[(1, 0)], [(0, 1)]] {
            let extra = mean(Some(protection), ways) - mean(None, ways);
            // The last exchange may not have ended.
            assert!((extra - more).abs() < 10.0, "{protection:?}: {extra}");
        }
        let extra = mean(Some(protection), [(2, 0)]) - mean(None, [(2, 0)]);
        assert!(extra.abs() < 2.0, "{protection:?}: {extra}");
    }
}

/// Attempts of an older station for each of a newer one's, both always backlogged: two counters by
/// the rules of the standard, without frames. The times are counted from the end of an exchange.
///
/// - The older one's first slot ends `DIFS + slot` after it, the newer one's begins at `AIFS`, a
///   slot later than DIFS: with the same counter the older one sends first, and both count the same
///   slots when the other sends (§10.3.4.3, §10.23.2.4).
/// - Windows: 15 or 31 for the older one, by its PHY, 15 for the newer one.
/// - After a collision the sender of the longer frame waits for its answer first, while the other
///   one counts down: that is worth some four slots each time.
fn attempts_for_one(config: &EdcaConfig, older_is_longer: bool) -> f64 {
    let phy = &config.phy;
    let slot = phy.slot().as_secs_f64();
    let behind = [2, 3].map(|slots| phy.aifs(slots).as_secs_f64());
    let timeout = phy.answer_timeout().as_secs_f64();
    let least = [
        config.access_of(2, AccessCategory::BestEffort).0,
        config.access[1],
    ]
    .map(|access| access.smallest_window);
    let draws = Stream::new(1, "counters");
    let (mut drawn, mut windows, mut attempts) = (0, least, [0_u64; 2]);
    let mut draw = |window: u32| {
        drawn += 1;
        ((u128::from(draws.draw(drawn)) * (u128::from(window) + 1)) >> 64) as u32
    };
    let mut counters = least.map(&mut draw);
    let mut waits = [0.0; 2];
    for _ in 0..1_000_000 {
        let from = [0, 1].map(|who: usize| waits[who] + behind[who]);
        let sends = [0, 1].map(|who: usize| from[who] + f64::from(counters[who]) * slot);
        waits = [0.0; 2];
        if (sends[0] - sends[1]).abs() < slot / 1e3 {
            for who in [0, 1] {
                attempts[who] += 1;
                windows[who] = (2 * windows[who] + 1).min(1023);
                counters[who] = draw(windows[who]);
            }
            waits[usize::from(!older_is_longer)] = timeout;
            continue;
        }
        let (who, other) = if sends[0] < sends[1] { (0, 1) } else { (1, 0) };
        let idle = sends[who] - from[other] + slot / 1e3;
        let mut passed = (idle / slot).max(0.0) as u32;
        // The newer one counts a slot when it begins.
        passed += u32::from(other == 1 && idle > 0.0);
        counters[other] = counters[other].saturating_sub(passed);
        attempts[who] += 1;
        windows[who] = least[who];
        counters[who] = draw(least[who]);
    }
    attempts[0] as f64 / attempts[1] as f64
}

/// How often an older station wins against a newer one: 1.2 times as often with 802.11g, half as
/// often with 802.11b and its window of 31, within 4 %, which is two standard errors of a minute.
#[test]
fn an_older_station_wins_as_often_as_its_counter_says() {
    for (mode, protection, is_longer) in [
        (Mode::OFDM_54, None, false),
        (Mode::CCK_11, Some(Protection::CtsToSelf), false),
        (Mode::DSSS_1, Some(Protection::CtsToSelf), true),
    ] {
        let config = mixed(mode, protection);
        let ran = saturate(&config, &[(1, 0), (2, 0)], IP_BYTES, 60, 2);
        let ours = ran.counters[2].attempts as f64 / ran.counters[1].attempts as f64;
        let expected = attempts_for_one(&config, is_longer);
        println!("{mode}: {ours:.3} attempts for one, by its counter {expected:.3}");
        assert!((ours / expected - 1.0).abs() < 0.04, "{mode}: {ours}");
    }
}

/// Both upload. The share of the air of the old station is that of the time that its exchanges
/// take: T_old for each of its attempts to T_new for each of the new one's. A collision takes as
/// long, but for the answer.
#[test]
fn airtime_is_shared_by_exchanges() {
    for (mode, protection) in [
        (Mode::OFDM_54, None),
        (Mode::OFDM_6, None),
        (Mode::CCK_11, Some(Protection::CtsToSelf)),
        (Mode::DSSS_1, Some(Protection::CtsToSelf)),
    ] {
        let config = mixed(mode, protection);
        let alone = |way| saturate(&config, &[way], IP_BYTES, 4, 1);
        let took =
            [1, 2].map(|station| of_exchange(&alone((station, 0)).counters[station as usize]));
        let ran = saturate(&config, &[(1, 0), (2, 0)], IP_BYTES, 60, 1);
        let tries = [1, 2].map(|station| ran.counters[station].attempts as f64);
        let air = [1, 2].map(|station| ran.counters[station].airtime.as_secs_f64());
        let tries = tries[1] / tries[0];
        let share = air[1] / (air[0] + air[1]);
        let of_times = tries * took[1] / (tries * took[1] + took[0]);
        println!(
            "{mode}: {tries:.3} attempts for one; share {share:.4}, closed form \
             {of_times:.4}; {:.2} and {:.2} Mbit/s",
            ran.megabits(0, IP_BYTES),
            ran.megabits(1, IP_BYTES)
        );
        assert!(
            (share - of_times).abs() < 0.015,
            "{mode}: {share}, {of_times}"
        );
    }
}

/// Packets to a legacy station arrive in order, each once, with losses too.
#[test]
fn nothing_is_lost_or_reordered() {
    let config = EdcaConfig {
        damage: losing(0.3),
        mobile_retry_limit: RetryLimit::Unlimited,
        access_point_retry_limit: RetryLimit::Unlimited,
        ..mixed(Mode::OFDM_54, None)
    };
    let mut bss: Edca<u32> = Edca::new(&config, Stream::new(1, "wlan")).unwrap();
    for packet in 0..300 {
        for to in [1, 2] {
            assert!(bss.push(
                Instant::ZERO,
                (0, to),
                offer(to, IP_BYTES),
                1000 * to + packet,
                &mut ()
            ));
        }
    }
    let mut delivered = [Vec::new(), Vec::new(), Vec::new()];
    while bss.next_wakeup() < Instant::FAR_FUTURE {
        bss.on_wakeup(bss.next_wakeup(), &mut ());
        while let Some(outcome) = bss.poll() {
            if let Outcome::Delivered { packet, .. } = outcome {
                delivered[packet as usize / 1000].push(packet % 1000);
            }
        }
    }
    let all: Vec<_> = (0..300).collect();
    assert_eq!(delivered, [Vec::new(), all.clone(), all]);
}
