use airtcp_units::Duration;

use super::*;

fn config(fading: Fading) -> RadioConfig {
    RadioConfig {
        carrier_hz: 2.4e9,
        transmit_power_dbm: 20.0,
        noise_dbm: -90.0,
        path_loss_exponent: 3.0,
        loss_at_1_m_db: None,
        shadowing_db: 0.0,
        shadowing_distance_m: None,
        fading,
    }
}

/// A carrier of 2.4 GHz at this speed has a Doppler frequency of 10 Hz.
const TEN_HERTZ: Fading = Fading::Jakes {
    speed_m_per_s: 10.0 * SPEED_OF_LIGHT / 2.4e9,
};

fn radio(config: &RadioConfig, station: u64) -> Radio {
    let stream = Stream::new(3, "radio").substream(station);
    Radio::new(config, 10.0, stream).unwrap()
}

fn at(milliseconds: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(milliseconds)
}

/// Friis at 2.4 GHz and 1 m: 20 log10(4π · 2.4e9 / c) = 40.05 dB; ten times as far 10·3 dB more.
/// 20 dBm less 70.05 dB are 39.95 dB above -90 dBm.
#[test]
fn path_loss_is_friis_and_then_log_distance() {
    let config = config(Fading::None);
    assert!((config.path_loss_db(1.0) - 40.05).abs() < 0.005);
    assert!((config.path_loss_db(10.0) - 70.05).abs() < 0.005);
    let radio = radio(&config, 0);
    assert!((radio.mean_snr_db() - 39.95).abs() < 0.005);
    assert_eq!(radio.snr_db(at(7), 3), radio.mean_snr_db());
}

/// 4000 stations: the mean within 4σ/√n, the standard deviation within 4/√(2n) of it.
#[test]
fn shadowing_has_its_variance() {
    let config = RadioConfig {
        shadowing_db: 4.0,
        shadowing_distance_m: None,
        ..config(Fading::None)
    };
    let count = 4000;
    let draws = || (0..count).map(|station| radio(&config, station).mean_snr_db() - 39.95);
    let mean = draws().sum::<f64>() / count as f64;
    let variance = draws().map(|draw| (draw - mean).powi(2)).sum::<f64>() / count as f64;
    assert!(mean.abs() < 0.26, "{mean}");
    assert!((variance.sqrt() / 4.0 - 1.0).abs() < 0.045, "{variance}");
}

/// Kolmogorov and Smirnov: √n times the largest distance is above 1.63 in 1 of 100 samples.
fn distance_from_exponential(mut powers: Vec<f64>) -> f64 {
    powers.sort_by(f64::total_cmp);
    let count = powers.len() as f64;
    let of = |(place, &power): (usize, &f64)| {
        let expected = 1.0 - (-power).exp();
        (expected - place as f64 / count).abs()
    };
    powers.iter().enumerate().map(of).fold(0.0, f64::max) * count.sqrt()
}

#[test]
fn the_power_of_rayleigh_fading_is_exponential() {
    let independent = radio(&config(Fading::Independent), 1);
    let powers = (0..20_000).map(|index| independent.power_gain(at(0), index));
    assert!(distance_from_exponential(powers.collect()) < 1.63);
    // Of Jakes' process one moment of each of many stations: they are independent.
    let jakes = config(TEN_HERTZ);
    let powers = (0..4000).map(|station| radio(&jakes, station).power_gain(at(777), 0));
    assert!(distance_from_exponential(powers.collect()) < 1.63);
}

/// The autocorrelation of the in-phase part is J0(2π·f_d·τ)/2, and both parts are uncorrelated
/// (Jakes 1974, §1.3). Over 4000 stations the mean of products, with a variance of at most 3/4, has
/// a standard error below 0.014.
#[test]
fn jakes_autocorrelation_is_the_bessel_function() {
    let stream = Stream::new(5, "jakes");
    let stations: Vec<_> = (0..4000)
        .map(|n| Jakes::new(10.0, stream.substream(n)))
        .collect();
    for lag in [0, 5, 10, 20, 38, 61, 100, 150, 300] {
        let mean = |product: fn((f64, f64), (f64, f64)) -> f64| {
            let of = |station: &Jakes| {
                product(
                    station.quadratures(at(200)),
                    station.quadratures(at(200 + lag)),
                )
            };
            stations.iter().map(of).sum::<f64>() / stations.len() as f64
        };
        let expected = libm::j0(2.0 * std::f64::consts::PI * 10.0 * lag as f64 / 1000.0) / 2.0;
        let same = mean(|now, later| now.0 * later.0);
        let cross = mean(|now, later| now.0 * later.1);
        assert!(
            (same - expected).abs() < 0.045,
            "lag {lag} ms: {same}, {expected}"
        );
        assert!(cross.abs() < 0.045, "lag {lag} ms: {cross}");
    }
}

/// A Rayleigh signal crosses ρ times its mean square √(2π)·f_d·ρ·exp(-ρ²) times a second upwards
/// (Jakes 1974, equation 1.3-35): 200 stations for 10 s at ρ = 0.5 and f_d = 10 Hz, 9.76 a second,
/// 19500 crossings in all. They come in pairs and clusters; within 5 %.
#[test]
fn levels_are_crossed_as_often_as_theory_says() {
    let config = config(TEN_HERTZ);
    let (level, mut crossings) = (0.5_f64, 0);
    for station in 0..200 {
        let radio = radio(&config, station);
        let above = |step: u64| radio.power_gain(at(step), 0) > level * level;
        crossings += (1..10_000)
            .filter(|&step| !above(step - 1) && above(step))
            .count();
    }
    let rate = crossings as f64 / 2000.0;
    let expected = (2.0 * std::f64::consts::PI).sqrt() * 10.0 * level * (-level * level).exp();
    assert!((rate / expected - 1.0).abs() < 0.05, "{rate}, {expected}");
}

#[test]
fn the_channel_is_a_pure_function() {
    for fading in [Fading::Independent, TEN_HERTZ] {
        let radio = radio(&config(fading), 9);
        let forward: Vec<_> = (0..50).map(|i| radio.snr_db(at(i), i)).collect();
        let backward: Vec<_> = (0..50).rev().map(|i| radio.snr_db(at(i), i)).collect();
        assert!(forward.iter().eq(backward.iter().rev()));
    }
}

#[test]
fn distances_are_uniform_or_listed() {
    let stream = Stream::new(1, "placement");
    let listed = Placement::Listed(vec![10.0, 55.0]);
    let distances = [0, 1, 2].map(|station| listed.distance_m(station, stream));
    assert_eq!(distances, [10.0, 55.0, 10.0]);
    let uniform = Placement::Uniform {
        from_m: 40.0,
        to_m: 70.0,
    };
    let draws: Vec<_> = (0..4000)
        .map(|station| uniform.distance_m(station, stream))
        .collect();
    assert!(
        draws
            .iter()
            .all(|distance| (40.0..=70.0).contains(distance))
    );
    let mean = draws.iter().sum::<f64>() / 4000.0;
    // 4 · 30/√12 / √4000.
    assert!((mean - 55.0).abs() < 0.55, "{mean}");
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |config: RadioConfig| config.check().unwrap_err().to_string();
    let fine = config(Fading::None);
    let carrier = RadioConfig {
        carrier_hz: 0.0,
        ..fine
    };
    assert_eq!(refused(carrier), "a carrier of 0 Hz; expected more than 0");
    let speed = config(Fading::Jakes {
        speed_m_per_s: -1.0,
    });
    assert_eq!(refused(speed), "a speed of -1 m/s; expected 0 or more");
    let shadowing = RadioConfig {
        shadowing_db: -4.0,
        ..fine
    };
    assert_eq!(refused(shadowing), "shadowing of -4 dB; expected 0 or more");
    let noise = RadioConfig {
        noise_dbm: f64::NAN,
        ..fine
    };
    assert_eq!(noise.check(), Err(RadioError::Level));
    let near = Radio::new(&fine, -3.0, Stream::new(1, ""))
        .unwrap_err()
        .to_string();
    assert_eq!(near, "a distance of -3 m; expected more than 0");
    let none = Placement::Listed(Vec::new()).check();
    assert_eq!(none, Err(PlacementError::Empty));
}
