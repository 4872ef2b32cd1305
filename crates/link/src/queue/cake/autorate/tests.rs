//! Against the script itself: its arithmetic, run by bash over the same probes and loads.

use super::*;

/// The load, in kbit/s, that is measured with the `k`-th probe, and that probe's delay.
fn offered(k: u64, rate_kbps: u64, noise: i64) -> (u64, i64) {
    let high = rate_kbps * 9 / 10;
    match k {
        0..=40 => (1000, 20_000 + noise / 8),
        41..=200 => (high, 22_000 + noise),
        201..=260 => (high, 65_000 + noise),
        261..=300 => (high, 120_000),
        301..=500 => (1500, 20_000 + noise),
        _ => (high, 20_000 + (k as i64 - 500) * 200 + noise),
    }
}

/// `cake-autorate.sh` of August 2026 with `defaults.sh` and packets of 1500 bytes: lines of the
/// script (the case `irtt`, "Keep track of delays" to `set_shaper_rates`, and the case `SARS`) were
/// run for each of 700 probes, 50 ms apart, the load being measured with every fourth. Rate in
/// kbit/s, the first reflector's baseline and the average delta in microseconds.
#[test]
fn it_does_what_the_script_does() {
    let expected = [
        (50, 21_632, 20_159, 5_522),
        (100, 36_011, 20_200, 6_327),
        (150, 57_650, 20_246, 5_644),
        (200, 80_000, 20_291, 5_578),
        (250, 29_872, 20_664, 46_982),
        (300, 5_148, 21_350, 98_540),
        (350, 5_100, 20_436, 2_045),
        (400, 5_202, 20_463, 3_868),
        (450, 5_359, 20_480, 4_638),
        (500, 5_466, 20_514, 3_745),
        (550, 8_743, 20_584, 11_469),
        (600, 12_247, 20_713, 21_984),
        (650, 12_461, 20_964, 34_095),
        (700, 8_259, 21_268, 41_052),
    ];
    let base = BitRate::from_bps(20_000_000);
    let mut control = RateControl::new(AutorateConfig::default(), base, 1500);
    let (mut drawn, mut digest, mut found) = (1_u64, 0, Vec::new());
    for k in 1..=700 {
        drawn = (drawn * 1_103_515_245 + 12_345) % (1 << 31);
        let noise = (drawn / 65_536 % 8000) as i64;
        let (achieved_kbps, delay_us) = offered(k, control.rate_kbps, noise);
        let now = Instant::ZERO + Duration::from_millis(50 * k);
        if k % 4 == 0 {
            // Of 200 ms.
            control.metered_bytes = achieved_kbps * 25;
            control.meter(now);
        }
        let delay = Duration::from_micros(delay_us as u64);
        control.probe(now, delay, Duration::ZERO);
        control.answer(now);
        digest = (digest * 31 + control.rate_kbps) % 1_000_000_007;
        if k % 50 == 0 {
            let average_us = control.deltas_us.iter().sum::<i64>() / WINDOW as i64;
            found.push((k, control.rate_kbps, control.baselines_us[0], average_us));
        }
    }
    assert_eq!(found, expected);
    // Of the rates after each of the probes.
    assert_eq!(digest, 465_913_987);
}

/// An answer is processed when it arrives, after earlier probes and measurements.
#[test]
fn steps_are_in_order_of_time() {
    let base = BitRate::from_bps(20_000_000);
    let mut control = RateControl::new(AutorateConfig::default(), base, 1500);
    let mut steps = Vec::new();
    for _ in 0..9 {
        let (at, step) = control.next();
        steps.push((at.as_nanos() / 1_000_000, step));
        match step {
            Step::Meter => control.meter(at),
            Step::Answer => control.answer(at),
            Step::Probe => {
                control.probe(at, Duration::from_millis(70), Duration::from_millis(30));
            }
        }
    }
    use Step::{Answer, Meter, Probe};
    assert_eq!(
        steps,
        [
            (0, Probe),
            (50, Probe),
            (100, Answer),
            (100, Probe),
            (150, Answer),
            (150, Probe),
            (200, Meter),
            (200, Answer),
            (200, Probe)
        ]
    );
}

/// A link that never resumes answers no probe, and the probes leave no state.
#[test]
fn a_probe_without_an_answer_is_forgotten() {
    let base = BitRate::from_bps(1_000_000);
    let mut control = RateControl::new(AutorateConfig::default(), base, 1500);
    control.probe(Instant::ZERO, Duration::MAX, Duration::from_millis(10));
    assert!(control.answers.is_empty());
    assert_eq!(control.rate(), base);
}
