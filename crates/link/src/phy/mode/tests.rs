use super::*;

fn new(
    family: Family,
    index: u8,
    width: Width,
    streams: u8,
    guard: GuardInterval,
) -> Result<Mode, ModeError> {
    Mode::new(family, index, width, streams, guard)
}

use GuardInterval::{Ns400, Ns800, Ns1600, Ns3200};
use Width::{Mhz20, Mhz40, Mhz80, Mhz160};

/// Whole and tenths of Mbit/s.
fn tenths(mode: Mode) -> u64 {
    (mode.bit_rate().as_bps() + 50_000) / 100_000
}

/// IEEE 802.11-2016 table 17-4: a symbol of 4 µs has 48 subcarriers of 1, 2, 4 or 6 coded bits,
/// reduced by the code rate.
#[test]
fn rates_of_ofdm_follow_from_the_signal() {
    for mode in Mode::of(Family::Ofdm) {
        assert_eq!(
            mode.bit_rate().as_bps(),
            mode.data_bits_per_symbol() * 250_000,
            "{mode:?}"
        );
    }
    assert_eq!(Mode::of(Family::Ofdm).count(), 8);
    assert_eq!(Mode::of(Family::Dsss).count(), 4);
    assert!(Mode::of(Family::Ofdm).is_sorted_by_key(Mode::bit_rate));
    assert_eq!(Mode::OFDM_54.bit_rate(), BitRate::from_bps(54_000_000));
    assert_eq!(Mode::CCK_5_5.bit_rate(), BitRate::from_bps(5_500_000));
}

/// IEEE 802.11-2020 tables 19-27 and 19-31 (HT), 21-30, 21-34, 21-38 and 21-46 (VHT), 802.11ax-2021
/// tables 27-79, 27-95 and 27-103 (HE), in tenths of Mbit/s.
#[test]
fn rates_are_those_of_the_tables() {
    let rates = |family, width, streams, guard, last| -> Vec<u64> {
        (0..=last)
            .map(|index| tenths(new(family, index, width, streams, guard).unwrap()))
            .collect()
    };
    assert_eq!(
        rates(Family::Ht, Mhz20, 1, Ns800, 7),
        [65, 130, 195, 260, 390, 520, 585, 650]
    );
    assert_eq!(
        rates(Family::Ht, Mhz20, 1, Ns400, 7),
        [72, 144, 217, 289, 433, 578, 650, 722]
    );
    assert_eq!(
        rates(Family::Ht, Mhz40, 2, Ns400, 7),
        [300, 600, 900, 1200, 1800, 2400, 2700, 3000]
    );
    assert_eq!(
        rates(Family::Vht, Mhz80, 1, Ns400, 9),
        [325, 650, 975, 1300, 1950, 2600, 2925, 3250, 3900, 4333]
    );
    assert_eq!(
        rates(Family::Vht, Mhz160, 2, Ns800, 9),
        [
            1170, 2340, 3510, 4680, 7020, 9360, 10530, 11700, 14040, 15600
        ]
    );
    assert_eq!(
        rates(Family::He, Mhz20, 1, Ns800, 11),
        [
            86, 172, 258, 344, 516, 688, 774, 860, 1032, 1147, 1290, 1434
        ]
    );
    assert_eq!(
        rates(Family::He, Mhz80, 1, Ns800, 11),
        [
            360, 721, 1081, 1441, 2162, 2882, 3243, 3603, 4324, 4804, 5404, 6005
        ]
    );
    assert_eq!(
        rates(Family::He, Mhz160, 2, Ns3200, 11),
        [
            1225, 2450, 3675, 4900, 7350, 9800, 11025, 12250, 14700, 16333, 18375, 20417
        ]
    );
}

/// Up to four streams the standard leaves out: MCS 9 at 20 MHz but for three streams, MCS 6 with
/// three streams at 80 MHz, MCS 9 with three streams at 160 MHz (IEEE 802.11-2020 tables 21-30 to
/// 21-33, 21-40 and 21-48).
#[test]
fn vht_leaves_out_what_the_standard_does() {
    let mut left_out = Vec::new();
    for width in Width::ALL {
        for streams in 1..=4 {
            for index in 0..=9 {
                match new(Family::Vht, index, width, streams, Ns800) {
                    Ok(_) => {}
                    Err(ModeError::LeftOut { .. }) => left_out.push((width.mhz(), streams, index)),
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }
    let expected = [(20, 1, 9), (20, 2, 9), (20, 4, 9), (80, 3, 6), (160, 3, 9)];
    assert_eq!(left_out, expected);
    // HE has all of its modes.
    for width in Width::ALL {
        for streams in 1..=4 {
            for index in 0..=11 {
                assert!(new(Family::He, index, width, streams, Ns1600).is_ok());
            }
        }
    }
}

/// Tables 19-35, 19-36 and 19-41 (HT: 324 Mbit/s and above have two), 21-38 to 21-41 and 21-46 to
/// 21-49 (VHT).
#[test]
fn encoders_are_those_of_the_tables() {
    let count = |family, width, streams, index| {
        new(family, index, width, streams, Ns800)
            .unwrap()
            .encoders()
    };
    assert_eq!(
        [4, 5].map(|index| count(Family::Ht, Mhz40, 3, index)),
        [1, 2]
    );
    assert_eq!(
        [3, 4].map(|index| count(Family::Ht, Mhz40, 4, index)),
        [1, 2]
    );
    assert_eq!(count(Family::Ht, Mhz20, 4, 7), 1);
    assert_eq!(count(Family::Ht, Mhz40, 2, 7), 1);
    assert_eq!(
        [7, 8, 9].map(|index| count(Family::Vht, Mhz80, 2, index)),
        [2, 2, 2]
    );
    assert_eq!(
        [7, 8, 9].map(|index| count(Family::Vht, Mhz80, 3, index)),
        [2, 2, 3]
    );
    assert_eq!(
        [4, 5, 6, 7, 8, 9].map(|index| count(Family::Vht, Mhz160, 4, index)),
        [3, 4, 4, 6, 6, 6]
    );
    assert_eq!(count(Family::He, Mhz20, 4, 9), 1);
}

#[test]
fn invalid_modes_are_refused() {
    let refused = |family, index, width, streams, guard| {
        new(family, index, width, streams, guard)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        refused(Family::Ht, 8, Mhz20, 1, Ns800),
        "MCS 8: 802.11n has MCS 0 to 7 for each stream"
    );
    assert_eq!(
        refused(Family::Ht, 7, Mhz80, 1, Ns800),
        "a channel of 80 MHz: 802.11n has 20 and 40 MHz"
    );
    assert_eq!(
        refused(Family::Vht, 7, Mhz80, 5, Ns800),
        "5 spatial streams; expected 1 to 4"
    );
    assert_eq!(
        refused(Family::He, 7, Mhz80, 1, Ns400),
        "a guard interval of 400 ns: 802.11ax has 800, 1600 and 3200 ns"
    );
    assert_eq!(
        refused(Family::Vht, 7, Mhz80, 1, Ns3200),
        "a guard interval of 3200 ns: 802.11ac has 400 and 800 ns"
    );
    assert_eq!(
        refused(Family::Vht, 9, Mhz20, 2, Ns800),
        "MCS 9 with 2 streams at 20 MHz is no mode of 802.11ac (IEEE 802.11-2020 §21.5); choose \
         another MCS, width or number of streams"
    );
    assert_eq!(
        refused(Family::Dsss, 0, Mhz20, 1, Ns800),
        "802.11b has rates, no MCS; choose a rate"
    );
    let wide = new(Family::He, 0, Mhz80, 1, Ns800).unwrap();
    assert_eq!(wide.coding(), Coding::Ldpc);
    assert_eq!(wide.with_coding(Coding::Bcc), Err(ModeError::Coding));
    let narrow = new(Family::He, 9, Mhz20, 1, Ns800).unwrap();
    assert_eq!(narrow.coding(), Coding::Ldpc);
    assert!(narrow.with_coding(Coding::Bcc).is_ok());
}

#[test]
fn modes_are_printed_for_people() {
    assert_eq!(Mode::CCK_5_5.to_string(), "5.5 Mbit/s");
    let mode = new(Family::Ht, 7, Mhz40, 2, Ns400).unwrap();
    assert_eq!(mode.to_string(), "MCS 7, 2 streams, 40 MHz, 400 ns");
}
