use airtcp_units::Duration;

use super::*;
use crate::phy::error_rate::frame_error_rate;
use crate::phy::ppdu::{MAX_TIME, PacketPadding};
use crate::random::Stream;

const MPDU: u32 = 1538;
const LONG: [GuardInterval; 1] = [GuardInterval::Ns800];

/// Share of MPDUs that arrive.
fn success(mode: Mode, snr_db: f64) -> f64 {
    1.0 - frame_error_rate(mode, snr_db, MPDU).as_f64()
}

/// MPDUs of a PPDU, and its duration with contention and answer.
fn burst(mode: Mode, is_probe: bool) -> (u32, Duration) {
    let longest = mode.max_psdu_bytes(MAX_TIME, PacketPadding::None);
    let mpdus = if is_probe {
        1
    } else {
        (longest / 1544).clamp(1, 64)
    };
    let air = mode.ppdu_time(1544 * mpdus, PacketPadding::None);
    (mpdus, air + Duration::from_micros(160))
}

/// Goodput of a mode in packets a second.
fn goodput(mode: Mode, snr_db: f64) -> f64 {
    let (mpdus, time) = burst(mode, false);
    f64::from(mpdus) * success(mode, snr_db) / time.as_secs_f64()
}

/// Runs a rate control on a static channel; the packets a second of the last half.
fn run(control: &mut RateControl, snr_db: f64, seconds: u64) -> f64 {
    run_from(Instant::ZERO, control, snr_db, seconds)
}

/// The same from a later time on.
fn run_from(start: Instant, control: &mut RateControl, snr_db: f64, seconds: u64) -> f64 {
    let draws = Stream::new(7, "channel");
    let (mut now, mut draw, mut failures, mut delivered) = (start, 0, 0, 0);
    let end = start + Duration::from_secs(seconds);
    let half = start + Duration::from_millis(500 * seconds);
    while now < end {
        let choice = control.choose(now, failures, Some(snr_db));
        let (sent, time) = burst(choice.mode, choice.is_probe);
        now += time;
        let damaged = frame_error_rate(choice.mode, snr_db, MPDU);
        let mut acknowledged = 0;
        for _ in 0..sent {
            acknowledged += u32::from(!damaged.happens(draws.draw(draw)));
            draw += 1;
        }
        failures = if acknowledged == 0 { failures + 1 } else { 0 };
        if now > half {
            delivered += acknowledged;
        }
        control.report(
            now,
            &Report {
                mode: choice.mode,
                sent,
                acknowledged,
            },
        );
    }
    f64::from(delivered) / (seconds as f64 / 2.0)
}

fn minstrel(modes: &[Mode]) -> RateControl {
    let minstrel = Minstrel::new(modes, Instant::ZERO, Stream::new(3, "sampling"));
    RateControl::Minstrel(Box::new(minstrel.unwrap()))
}

/// At every SNR at which the slowest mode works it ends within one MCS of the best.
#[test]
fn minstrel_is_within_a_step_of_the_best() {
    for family in [Family::Ht, Family::Vht, Family::He] {
        let modes = modes(family, Width::Mhz20, 1, &LONG);
        for snr in 4..40 {
            let snr = f64::from(snr);
            let mut control = minstrel(&modes);
            run(&mut control, snr, 3);
            let by_goodput = |a: &&Mode, b: &&Mode| goodput(**a, snr).total_cmp(&goodput(**b, snr));
            let best = modes.iter().max_by(by_goodput).unwrap();
            let found = control.best();
            let apart = found.index().abs_diff(best.index());
            assert!(apart <= 1, "{family} at {snr} dB: {found}, best {best}");
        }
    }
}

/// With all groups of a station it comes within 15 % of the best mode's goodput, samples included.
#[test]
fn minstrel_finds_its_way_among_groups() {
    let guards = [GuardInterval::Ns400, GuardInterval::Ns800];
    let modes = modes(Family::Vht, Width::Mhz80, 2, &guards);
    for snr in (8..48).step_by(4) {
        let snr = f64::from(snr);
        let most = modes
            .iter()
            .map(|mode| goodput(*mode, snr))
            .fold(0.0, f64::max);
        let mut control = minstrel(&modes);
        let reached = run(&mut control, snr, 6) / most;
        let best = control.best();
        assert!(reached > 0.85, "{snr} dB: {best}, {reached} of the best");
    }
}

/// From 30 dB the channel falls to 10 dB, where MCS 7 carries nothing: half a second later the mode
/// is one that works.
#[test]
fn minstrel_gives_way() {
    let modes = modes(Family::Ht, Width::Mhz20, 1, &LONG);
    let mut control = minstrel(&modes);
    run(&mut control, 30.0, 2);
    assert_eq!(control.best().index(), 7);
    assert!(control.success().unwrap() > 0.9);
    let start = Instant::ZERO + Duration::from_secs(3);
    // The best twice at least, then the second best.
    let chain: Vec<_> = (1..8)
        .map(|failures| control.choose(start, failures, None).mode.index())
        .collect();
    assert_eq!(chain[0], 7);
    assert!(chain.contains(&6), "{chain:?}");
    run_from(start, &mut control, 10.0, 1);
    assert!(success(control.best(), 10.0) > 0.5, "{}", control.best());
}

/// At 30 dB MCS 7 is the best of 802.11n. Repetitions leave it after two attempts or more, each in
/// another mode after RTS and CTS, through four modes; then the driver restarts. A sample's
/// repetitions begin with the second best.
#[test]
fn repetitions_step_down_behind_rts_and_begin_again() {
    let modes = modes(Family::Ht, Width::Mhz20, 1, &LONG);
    let mut control = minstrel(&modes);
    run(&mut control, 30.0, 2);
    let start = Instant::ZERO + Duration::from_secs(3);
    // Whatever is to be sampled now is sampled.
    control.choose(start, 0, None);
    let chain: Vec<_> = (0..60)
        .map(|failures| control.choose(start, failures, None))
        .collect();
    let in_best = chain.iter().take_while(|choice| !choice.needs_rts).count();
    assert!((2..=7).contains(&in_best), "{chain:?}");
    assert!(
        chain[..in_best]
            .iter()
            .all(|choice| choice.mode.index() == 7)
    );
    let behind = chain[in_best..].iter();
    let cleared: Vec<_> = behind.take_while(|choice| choice.needs_rts).collect();
    let mut stages: Vec<_> = cleared.iter().map(|choice| choice.mode).collect();
    stages.dedup();
    assert!((2..=3).contains(&stages.len()), "{stages:?}");
    assert_eq!(stages[0].index(), 6);
    let again = chain[in_best + cleared.len()];
    assert_eq!((again.mode.index(), again.needs_rts), (7, false));

    // At 20 dB there are faster modes, and an update has them sampled.
    let mut control = minstrel(&modes);
    run(&mut control, 20.0, 2);
    let report = Report {
        mode: control.best(),
        sent: 10,
        acknowledged: 10,
    };
    control.report(start, &report);
    let sampled = (0..20)
        .map(|step| start + Duration::from_millis(20 * step))
        .find(|&now| control.choose(now, 0, None).is_probe);
    let after_sample = control.choose(sampled.expect("one is sampled"), 1, None);
    let usual = (1..20)
        .map(|step| start + Duration::from_secs(step))
        .find(|&now| !control.choose(now, 0, None).is_probe);
    let usual = usual.expect("not all are samples");
    let second = (1..20)
        .map(|failures| control.choose(usual, failures, None))
        .find(|choice| choice.needs_rts);
    assert_eq!(Some(after_sample), second);
}

#[test]
fn ideal_takes_the_best_and_fixed_its_own() {
    let modes = modes(Family::He, Width::Mhz20, 1, &LONG);
    let mut ideal = RateControl::Ideal(Ideal::new(modes.clone(), MPDU, BasicRates::OFDM).unwrap());
    assert_eq!(ideal.best().index(), 0);
    assert_eq!(ideal.choose(Instant::ZERO, 0, Some(50.0)).mode.index(), 11);
    assert_eq!(ideal.choose(Instant::ZERO, 0, Some(-20.0)).mode.index(), 0);
    let mut before = 0;
    for tenths in 0..400 {
        let snr = f64::from(tenths) / 10.0;
        let index = ideal.choose(Instant::ZERO, 0, Some(snr)).mode.index();
        assert!(index >= before, "{snr} dB");
        before = index;
    }
    let mut fixed = RateControl::Fixed(modes[5]);
    assert_eq!(fixed.choose(Instant::ZERO, 3, None).mode, modes[5]);
    assert_eq!(fixed.success(), None);
    assert!(Ideal::new(Vec::new(), MPDU, BasicRates::OFDM).is_none());
    assert!(Minstrel::new(&[Mode::OFDM_6], Instant::ZERO, Stream::new(1, "x")).is_none());
}
