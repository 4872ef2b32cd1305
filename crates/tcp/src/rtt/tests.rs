use super::*;

fn milliseconds(value: u64) -> Duration {
    Duration::from_millis(value)
}

#[test]
fn has_nothing_before_the_first_sample() {
    let estimator = RttEstimator::new(&TimeoutConfig::default());
    assert_eq!(estimator.srtt(), None);
    assert_eq!(estimator.rttvar(), None);
    assert_eq!(estimator.latest(), None);
    assert_eq!(estimator.minimum(), None);
}

/// RFC 6298 §2.2 and §2.3 by hand: R = 100: SRTT 100, RTTVAR 50.
/// R' = 180: RTTVAR = 3/4·50 + 1/4·80 = 57.5; SRTT = 7/8·100 + 1/8·180 = 110.
/// R' = 70: RTTVAR = 3/4·57.5 + 1/4·40 = 53.125; SRTT = 7/8·110 + 1/8·70 = 105.
#[test]
fn follows_rfc_6298() {
    let mut estimator = RttEstimator::new(&TimeoutConfig::default());
    estimator.on_sample(milliseconds(100), 0, 0);
    assert_eq!(estimator.srtt(), Some(milliseconds(100)));
    assert_eq!(estimator.rttvar(), Some(milliseconds(50)));
    estimator.on_sample(milliseconds(180), 0, 0);
    assert_eq!(estimator.srtt(), Some(milliseconds(110)));
    assert_eq!(estimator.rttvar(), Some(Duration::from_micros(57_500)));
    estimator.on_sample(milliseconds(70), 0, 0);
    assert_eq!(estimator.srtt(), Some(milliseconds(105)));
    assert_eq!(estimator.rttvar(), Some(Duration::from_micros(53_125)));
    assert_eq!(estimator.latest(), Some(milliseconds(70)));
    assert_eq!(estimator.minimum(), Some(milliseconds(70)));
}

/// Miyim eq. 2 uses S(k) after the update: |180 − 110| = 70 → 3/4·50 + 1/4·70 = 55.
#[test]
fn deviation_from_the_updated_mean_is_seven_eighths_of_the_error() {
    let config = TimeoutConfig {
        deviation_from: DeviationFrom::UpdatedMean,
        ..Default::default()
    };
    let mut estimator = RttEstimator::new(&config);
    estimator.on_sample(milliseconds(100), 0, 0);
    estimator.on_sample(milliseconds(180), 0, 0);
    assert_eq!(estimator.rttvar(), Some(milliseconds(55)));
}

#[test]
fn gains_are_parameters() {
    let config = TimeoutConfig {
        mean_gain: 0.5,
        deviation_gain: 1.0,
        ..TimeoutConfig::default()
    };
    let mut estimator = RttEstimator::new(&config);
    estimator.on_sample(milliseconds(100), 0, 0);
    estimator.on_sample(milliseconds(40), 0, 0);
    assert_eq!(estimator.srtt(), Some(milliseconds(70)));
    assert_eq!(estimator.rttvar(), Some(milliseconds(60)));
}

#[test]
fn averages_round_to_nearest() {
    // 1/8 of 4 ns is half a nanosecond: rounds up, in both directions.
    let gain = Gain::new(0.125);
    assert_eq!(gain.average(0, 4), 1);
    assert_eq!(gain.average(4, 0), 3);
    assert_eq!(gain.average(0, 3), 0);
    assert_eq!(gain.average(u64::MAX, 0), u64::MAX - (1 << 61));
}
