//! Any bytes are a series of round-trip times or one clear error.

#![no_main]

use airtcp_link::RttSeries;
use airtcp_units::Duration;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let series = match RttSeries::parse(bytes, "fuzz") {
        Ok(series) => series,
        Err(error) => {
            assert!(error.to_string().len() < 600, "{error}");
            return;
        }
    };
    let summary = series.summary();
    assert_eq!(summary.count, series.as_slice().len());
    assert!(summary.min <= summary.median && summary.median <= summary.max);
    assert!(summary.max <= Duration::from_secs(3600));
    if let Some(correlation) = summary.lag1_autocorrelation {
        assert!(correlation.abs() <= 1.0 + 1e-9, "{correlation}");
    }
    assert_eq!(series.wrapping(summary.count as u64), series.as_slice()[0]);
    assert_eq!(RttSeries::parse(bytes, "fuzz"), Ok(series));
});
