//! Power save between beacons, by the distribution of the waits for answers.

use super::sorted;

/// Interval of beacons: 100 time units of 1024 microseconds (IEEE 802.11-2020, 9.4.1.3).
const BEACON_S: f64 = 0.1024;
/// Usual DTIM periods: beacons between two that a sleeping station wakes for.
const BEACONS: [f64; 4] = [1.0, 2.0, 3.0, 10.0];
/// At least this share of the probes waits if the radio is in power save.
const SLEEPS: f64 = 0.5;
/// Largest distance of the waits' distribution from a uniform one (Kolmogorov and Smirnov).
const EVEN: f64 = 0.06;
/// Fewer round trips show no distribution.
const FEWEST: usize = 100;

/// The longest wait of a radio in power save; `None` if the waits are not uniform.
///
/// A probe arrives at any time between two beacons and waits for the next: the waits are uniform
/// from 0 to the interval. Only answered probes outside stops count.
pub(super) fn sleep(rtt_s: impl IntoIterator<Item = f64>) -> Option<f64> {
    let rtts = sorted(rtt_s);
    if rtts.len() < FEWEST {
        return None;
    }
    let waits: Vec<f64> = rtts.iter().map(|rtt| rtt - rtts[0]).collect();
    let count = waits.len() as f64;
    BEACONS
        .map(|beacons| beacons * BEACON_S)
        .into_iter()
        .find(|&longest| {
            let is_within = |wait: &f64| *wait > 0.05 * longest && *wait < 0.95 * longest;
            let within: Vec<f64> = waits.iter().copied().filter(is_within).collect();
            let longer = waits.iter().filter(|wait| **wait > 1.1 * longest).count() as f64;
            if (within.len() as f64) < SLEEPS * count || longer / count > 0.05 || within.is_empty()
            {
                return false;
            }
            let farthest = within
                .iter()
                .zip(1..)
                .map(|(wait, rank)| {
                    let even = (wait / longest - 0.05) / 0.9;
                    (f64::from(rank) / within.len() as f64 - even).abs()
                })
                .fold(0.0, f64::max);
            farthest <= EVEN + 1.36 / (within.len() as f64).sqrt()
        })
}
