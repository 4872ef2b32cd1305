//! Responsiveness in round trips per minute (draft-ietf-ippm-responsiveness, "Aggregating the
//! Measurements").
//!
//! Each kind of round trip is aggregated by its mean without the slowest 5 %. A foreign probe's
//! three round trips (TCP, TLS, HTTP) have equal weight, and so do foreign responsiveness and the
//! load's.

/// The share that is kept, in thousandths (the draft's TMP).
pub(super) const KEPT_PERMILLE: u64 = 950;
const MILLISECONDS_PER_MINUTE: f64 = 60_000.0;

/// The mean of the lowest 95 % of `values` (nearest rank); `None` without any.
pub(super) fn trimmed_mean(values: &mut [f64]) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let kept = (values.len() as u64 * KEPT_PERMILLE).div_ceil(1000) as usize;
    (kept > 0).then(|| values[..kept].iter().sum::<f64>() / kept as f64)
}

/// Responsiveness of connections other than the load's, from the means of their TCP handshakes,
/// TLS round trips and HTTP round trips, in milliseconds.
pub(super) fn foreign(tcp_ms: f64, tls_ms: f64, http_ms: f64) -> f64 {
    MILLISECONDS_PER_MINUTE / ((tcp_ms + tls_ms + http_ms) / 3.0)
}

/// Responsiveness of the load's connections, from the mean of their round trips.
pub(super) fn own(http_ms: f64) -> f64 {
    MILLISECONDS_PER_MINUTE / http_ms
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: of 1 to 19 ms and an outlier of 900 ms the 20th is cut, and (1 + … + 19) / 19 is
    /// 10. TLS at 30 ms and HTTP at 20 ms on top give (10 + 30 + 20) / 3 = 20 ms, 3000 a minute;
    /// the load's round trips of 60 ms give 1000; the mean of both is 2000.
    #[test]
    fn the_arithmetic_is_that_of_a_worked_example() {
        let mut handshakes: Vec<f64> = (1..20).rev().map(f64::from).collect();
        handshakes.push(900.0);
        let tcp = trimmed_mean(&mut handshakes).unwrap();
        assert!((tcp - 10.0).abs() < 1e-12);
        let foreign = foreign(tcp, 30.0, 20.0);
        assert!((foreign - 3000.0).abs() < 1e-9);
        assert!((f64::midpoint(foreign, own(60.0)) - 2000.0).abs() < 1e-9);
        assert_eq!(trimmed_mean(&mut []), None);
        assert_eq!(trimmed_mean(&mut [7.0]), Some(7.0));
    }
}
