use super::*;
use crate::phy::Family;

fn db(ratio: f64) -> f64 {
    10.0 * ratio.log10()
}

/// The SNR at which a frame of `bytes` is damaged with chance `wanted`, by bisection.
fn snr_for(mode: Mode, bytes: u32, wanted: f64) -> f64 {
    let (mut low, mut high) = (-20.0, 50.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if frame_error_rate(mode, middle, bytes).as_f64() > wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Textbook points: DBPSK needs Eb/N0 = 10.34 dB for 10^-5 (½·exp(-10.82)), DQPSK about 12.0 dB
/// (Proakis, figure 5.2-15).
#[test]
fn bit_error_rates_are_the_textbooks() {
    // At 1 Mbit/s Eb/N0 is 22 times the SNR.
    let dbpsk = bit_error_rate(Mode::DSSS_1, 10.343 - db(22.0));
    assert!((dbpsk / 1e-5 - 1.0).abs() < 0.01, "{dbpsk}");
    let dqpsk = bit_error_rate(Mode::DSSS_2, 12.0 - db(11.0));
    assert!((dqpsk / 1e-5 - 1.0).abs() < 0.15, "{dqpsk}");
    assert!((tail(1.0) - 0.158_655).abs() < 1e-6);
    // No signal: half of all bits are wrong.
    for &mode in Mode::LEGACY {
        assert!(bit_error_rate(mode, -60.0) > 0.49, "{mode:?}");
    }
}

/// The union bound of biorthogonal signals, 14·Q(√(Es/N0)) + Q(√(2·Es/N0)) for 16 of them (Proakis,
/// §5.2-2), is never less than the chance itself, and meets it as the energy grows.
#[test]
fn cck_meets_its_union_bound() {
    let share = [12.0_f64, 20.0, 30.0].map(|symbol_energy| {
        let snr_db = db(symbol_energy * 1.375 / 22.0);
        let union = 14.0 * tail(symbol_energy.sqrt()) + tail((2.0 * symbol_energy).sqrt());
        bit_error_rate(Mode::CCK_5_5, snr_db) * 15.0 / 8.0 / union
    });
    assert!(share.is_sorted() && share[0] > 0.8, "{share:?}");
    assert!((0.98..1.0).contains(&share[2]), "{share:?}");
}

#[test]
fn more_signal_is_never_worse_and_faster_modes_need_more() {
    for &mode in Mode::LEGACY {
        let mut before = 1.0;
        for step in -40..80 {
            let rate = frame_error_rate(mode, f64::from(step) / 2.0, 1000).as_f64();
            assert!(rate <= before + 1e-12, "{mode:?}");
            before = rate;
        }
        assert!(before < 1e-9, "{mode:?}");
    }
    let needed = |mode| snr_for(mode, 1000, 0.1);
    // CCK at 5.5 Mbit/s is detected coherently and needs no more than differential QPSK at 2.
    let without_two = [Mode::DSSS_1, Mode::CCK_5_5, Mode::CCK_11];
    assert!(without_two.is_sorted_by(|slow, fast| needed(*slow) < needed(*fast)));
    // 9 Mbit/s (BPSK 3/4) needs about as much as 12 Mbit/s (QPSK 1/2), as is known of 802.11a.
    let without_nine: Vec<_> = Mode::of(Family::Ofdm)
        .filter(|&mode| mode != Mode::OFDM_9)
        .collect();
    assert!(without_nine.is_sorted_by(|slow, fast| needed(*slow) < needed(*fast)));
}

/// IEEE 802.11-2016 table 17-18 asks receivers with a noise figure of 10 dB and 5 dB for their
/// imperfections for 10 % of frames of 1000 bytes at -82 dBm (6 Mbit/s) and -65 dBm (54 Mbit/s).
/// Noise in 20 MHz is -101 dBm: that leaves an SNR of 4 dB and 21 dB.
#[test]
fn sensitivity_is_that_of_the_standard() {
    assert!((snr_for(Mode::OFDM_6, 1000, 0.1) - 4.0).abs() < 1.5);
    assert!((snr_for(Mode::OFDM_54, 1000, 0.1) - 21.0).abs() < 1.5);
}

/// Bits are independent: 1 - (1 - b)^(8n).
#[test]
fn frames_are_damaged_by_one_bit() {
    let bits = bit_error_rate(Mode::DSSS_1, -4.0);
    let expected = 1.0 - (1.0 - bits).powi(8 * 500);
    let ours = frame_error_rate(Mode::DSSS_1, -4.0, 500).as_f64();
    assert!((ours / expected - 1.0).abs() < 1e-6, "{ours}, {expected}");
}

/// The errors of ns-3.37, recorded by `benches/ns3/error_rates.cc`: the closed form for the
/// convolutional code and the lines for LDPC are within 0.1 dB of them.
#[test]
fn errors_are_those_of_ns3() {
    use crate::phy::{Coding, GuardInterval, Width};
    let (mut bcc, mut ldpc) = (0, 0);
    for text in include_str!("ns3.csv").lines() {
        let fields: Vec<&str> = text.split(',').collect();
        let number = |place: usize| fields[place].parse::<f64>().unwrap();
        let (index, snr_db, bytes, recorded) =
            (number(1) as u8, number(2), number(3) as u32, number(4));
        let mode = Mode::new(
            Family::Ht,
            index.min(7),
            Width::Mhz20,
            1,
            GuardInterval::Ns800,
        )
        .unwrap();
        if fields[0] == "bcc" {
            let mode = if index < 8 {
                mode
            } else if index < 10 {
                // 20 MHz has no MCS 9 of 802.11ac with one stream.
                Mode::new(Family::He, index, Width::Mhz20, 1, GuardInterval::Ns800)
                    .and_then(|mode| mode.with_coding(Coding::Bcc))
                    .unwrap()
            } else {
                continue;
            };
            if (1e-5..0.3).contains(&recorded) {
                let at = |db: f64| frame_error_rate(mode, db, bytes).as_f64();
                assert!(
                    at(snr_db + 0.1) < recorded && recorded < at(snr_db - 0.1),
                    "{text}"
                );
                bcc += 1;
            }
        } else if (0.003..0.99).contains(&recorded) && bytes == 1458 {
            let he = Mode::new(Family::He, index, Width::Mhz20, 1, GuardInterval::Ns800).unwrap();
            let at = |db: f64| frame_error_rate(he, db, bytes).as_f64();
            assert!(
                at(snr_db + 0.1) < recorded && recorded < at(snr_db - 0.1),
                "{text}"
            );
            ldpc += 1;
        }
    }
    assert!(bcc > 150 && ldpc > 50, "{bcc}, {ldpc}");
}
