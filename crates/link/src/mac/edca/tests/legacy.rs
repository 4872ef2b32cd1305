//! Stations of 802.11b and g beside one of 802.11n.

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

/// What the 802.11n station sends is preceded by a CTS at 11 Mbit/s and a SIFS where one of 802.11b
/// listens: 203 + 10 µs more, and what that station sends is not. With RTS and CTS 192 + 15 + 10 +
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

/// What a legacy station is sent arrives in order, each packet once, with losses too.
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
                0,
                to,
                offer(to, IP_BYTES),
                1000 * to + packet
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
