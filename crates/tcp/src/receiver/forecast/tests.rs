//! The inference against a direct computation, and forecasts of rates that are known.

use super::*;

const SEGMENT: u32 = 1448;

fn cautious() -> SproutConfig {
    SproutConfig::default()
}

fn at(milliseconds: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(milliseconds)
}

/// Poisson's probability of `count`, from its definition.
fn poisson(mean: f64, count: usize) -> f64 {
    let factorial: f64 = (1..=count).map(|factor| factor as f64).product();
    mean.powi(count as i32) * (-mean).exp() / factorial
}

/// The normal distribution's mass between `low` and `high`, by Simpson's rule.
fn normal(low: f64, high: f64, deviation: f64) -> f64 {
    let density = |x: f64| {
        (-x * x / (2.0 * deviation * deviation)).exp()
            / (deviation * (2.0 * std::f64::consts::PI).sqrt())
    };
    let (low, high) = (low.max(-9.0 * deviation), high.min(9.0 * deviation));
    if low >= high {
        return 0.0;
    }
    let parts = 200;
    let width = (high - low) / f64::from(parts);
    let sum: f64 = (0..=parts)
        .map(|part| {
            let weight = match part {
                0 => 1.0,
                _ if part == parts => 1.0,
                _ if part % 2 == 1 => 4.0,
                _ => 2.0,
            };
            weight * density(low + width * f64::from(part))
        })
        .sum();
    sum * width / 3.0
}

/// §3.1 and §3.2 written out: every rate moves to each other by the normal distribution, an
/// outage ends by an exponential clock, and Bayes' rule takes the number of arrivals.
fn directly(before: &[f64], count: Option<usize>, noise: f64, escape: f64) -> Vec<f64> {
    let deviation = noise * 0.02_f64.sqrt();
    let step = 1000.0 / 256.0;
    let middle = |index: usize| {
        if index == 0 {
            0.0
        } else {
            (index as f64 + 0.5) * step
        }
    };
    let mut after = vec![0.0; 257];
    for (from, probability) in before.iter().enumerate() {
        for (to, mass) in after.iter_mut().enumerate() {
            let low = if to == 0 { -1e9 } else { to as f64 * step };
            let high = if to == 256 {
                1e9
            } else {
                (to + 1) as f64 * step
            };
            let stays = (-escape * 0.02).exp();
            let share = match (from, to) {
                (0, 0) => stays,
                (0, _) => 1.0 - stays,
                _ => 1.0,
            };
            *mass +=
                share * probability * normal(low - middle(from), high - middle(from), deviation);
        }
    }
    if let Some(count) = count {
        for (rate, mass) in after.iter_mut().enumerate() {
            *mass *= poisson(middle(rate) * 0.02, count);
        }
    }
    let sum: f64 = after.iter().sum();
    after.iter().map(|mass| mass / sum).collect()
}

#[test]
fn the_inference_is_the_direct_computation() {
    for (noise, escape) in [(200.0, 1.0), (60.0, 5.0)] {
        let mut inference = Inference::new(noise, escape, 0.05);
        let mut expected = inference.probabilities.clone();
        let ticks = [Some(4), Some(6), None, Some(5), Some(0), Some(0), Some(9)];
        for count in ticks {
            inference.pass(count);
            expected = directly(&expected, count, noise, escape);
            for (rate, expected) in expected.iter().enumerate() {
                let found = inference.probabilities[rate];
                // Rates more than five deviations away are left out, as in the authors' code.
                assert!(
                    (found - expected).abs() < 2e-5,
                    "{count:?}: rate {rate}: {found}, directly {expected}"
                );
            }
        }
    }
}

/// The 5 % quantile of Poisson's distribution, from its definition.
fn quantile(mean: f64, risk: f64) -> u32 {
    let mut sum = 0.0;
    for count in 0..200 {
        sum += poisson(mean, count);
        if sum >= risk {
            return count as u32;
        }
    }
    unreachable!("the mean is below 100")
}

/// A rate that is known and stays is a Poisson process: its numbers over 1 to 8 ticks.
#[test]
fn a_forecast_of_a_known_rate_is_poissons_quantile() {
    for risk in [0.05, 0.25, 0.5] {
        let inference = Inference::new(1.0, 1.0, risk);
        for index in [20, 60, 128, 200] {
            let mut known = vec![0.0; RATES];
            known[index] = 1.0;
            let forecast = inference.deliveries.forecast(&known, risk);
            for ticks in 1..=8 {
                let mean = (index as f64 + 0.5) * 1000.0 / 256.0 * 0.02 * ticks as f64;
                let expected = quantile(mean, risk);
                let found = forecast.within(ticks);
                // Ticks count thirty segments at most, and the rate moves by a seventh of one a
                // second.
                assert!(
                    found.abs_diff(expected) <= 1,
                    "step {index}, {ticks} ticks: {found}, Poisson's {expected}"
                );
            }
        }
    }
}

/// Noise widens a forecast's distribution, and caution makes it smaller.
#[test]
fn noise_and_caution_lower_a_forecast() {
    let mut known = vec![0.0; RATES];
    known[128] = 1.0;
    let within = |noise, risk| {
        let inference = Inference::new(noise, 1.0, risk);
        inference.deliveries.forecast(&known, risk).within(8)
    };
    assert!(within(1.0, 0.05) > within(200.0, 0.05));
    assert!(within(200.0, 0.5) > within(200.0, 0.05));
}

/// A segment each `every` milliseconds from `from` up to `until`.
fn arrive(forecaster: &mut Forecaster, from: u64, until: u64, every: usize) -> Forecast {
    let mut last = Forecast::default();
    for millisecond in (from..until).step_by(every) {
        let arrived = (millisecond / every as u64 + 1) * u64::from(SEGMENT);
        last = forecaster.forecast(at(millisecond), arrived, SEGMENT);
    }
    last
}

/// 500 segments a second for two seconds: five ticks deliver 50, fewer with caution. Then silence:
/// none is expected any more after a second, although 50 ms of it are excused.
#[test]
fn arrivals_raise_a_forecast_and_an_outage_ends_it() {
    let mut forecaster = Forecaster::new(cautious());
    let first = forecaster.forecast(at(0), u64::from(SEGMENT), SEGMENT);
    let steady = arrive(&mut forecaster, 2, 2000, 2);
    assert!(first.within(5) < 10, "{first:?}: any rate is as likely");
    assert!((30..50).contains(&steady.within(5)), "{steady:?}");
    let arrived = 1000 * u64::from(SEGMENT);
    let excused = forecaster.forecast(at(2040), arrived, SEGMENT);
    assert!(excused.within(5) > 25, "{excused:?}");
    let after = forecaster.forecast(at(3000), arrived, SEGMENT);
    assert_eq!(after.within(8), 0);
    let long_after = forecaster.forecast(at(10_000_000_000), arrived, SEGMENT);
    assert_eq!(long_after.within(8), 0);
}

/// Silence is no outage while a path's round trip lasts.
#[test]
fn a_long_round_trip_excuses_longer_silence() {
    let after = |round_trip| {
        let mut forecaster = Forecaster::new(cautious());
        forecaster.on_round_trip(Duration::from_millis(round_trip));
        arrive(&mut forecaster, 0, 2000, 2);
        let arrived = 1000 * u64::from(SEGMENT);
        forecaster.forecast(at(2300), arrived, SEGMENT).within(5)
    };
    assert!(after(400) > after(40) + 10);
}

/// The average of the authors' variant: an eighth of each tick's number; ticks that are excused do
/// not count.
#[test]
fn the_moving_average_expects_its_rate_to_stay() {
    let mut forecaster = Forecaster::new(SproutConfig {
        forecasting: Forecasting::MovingAverage,
        ..cautious()
    });
    let steady = arrive(&mut forecaster, 0, 2000, 2);
    for ticks in 1..=8 {
        assert!(steady.within(ticks).abs_diff(10 * ticks as u32) <= 1);
    }
    let mut average = Knowledge::Average(8.0);
    average.pass(0.0, true);
    average.pass(16.0, true);
    average.pass(0.0, false);
    assert!(matches!(average, Knowledge::Average(rate) if rate == 9.0 * 7.0 / 8.0));
}
