//! The model with counters that are frozen while the medium is busy, as in G. Bianchi,
//! I. Tinnirello, "Remarks on IEEE 802.11 DCF performance analysis", IEEE Communications Letters
//! 9(8), 2005, and I. Tinnirello, G. Bianchi, Y. Xiao, "Refinements on IEEE 802.11 distributed
//! coordination function modeling approaches", IEEE Transactions on Vehicular Technology 59(3),
//! 2010.
//!
//! A station that listens to a frame has at least one slot left when it ends. So the first slot
//! after it belongs to the stations that have just sent, and they use it when they draw 0; all
//! others start in later slots, and p and τ hold only there.

use super::{Saturation, busy_times, fixed_point, payload, window};
use crate::mac::dcf::BssConfig;

/// Stages that are summed up. The chance to get that far is below 0.53^200.
const STAGES: i32 = 200;

/// A station's mean behaviour between two successes.
struct Station {
    /// Attempts in slots that are open to all.
    attempts: f64,
    /// Such slots, the station's attempts counted.
    slots: f64,
    /// Attempts in the slot after a collision.
    at_once: f64,
}

fn station(p: f64, config: &BssConfig) -> Station {
    let (smallest, doublings) = window(config);
    let window = |stage: i32| smallest * 2_f64.powi(stage.min(doublings));
    let mut sums = Station {
        attempts: 0.0,
        slots: 0.0,
        at_once: 0.0,
    };
    let mut reached = 1.0;
    for stage in 0..STAGES {
        sums.attempts += reached;
        // A draw that is not 0 is one of 1 … W − 1.
        sums.slots += reached * window(stage) / 2.0;
        let draws_zero = 1.0 / window(stage + 1);
        sums.at_once += reached * p * draws_zero;
        reached *= p * (1.0 - draws_zero);
    }
    sums
}

pub(super) fn model(config: &BssConfig) -> Saturation {
    let n = f64::from(config.stations);
    let (p, tau) = fixed_point(config.stations, |p| {
        let station = station(p, config);
        station.attempts / station.slots
    });
    let sums = station(p, config);
    let at_once = sums.at_once / sums.attempts;
    // A success is followed by others while the station draws 0: by 1/(W − 1) on average.
    let again = 1.0 / (window(config).0 - 1.0);
    let repeated = (1.0 - p + at_once) * again;
    let successes = n * tau * (1.0 - p + at_once + repeated);
    let some = 1.0 - (1.0 - tau).powf(n);
    let alone = n * tau * (1.0 - tau).powf(n - 1.0);
    let (success_time, collision_time) = busy_times(config);
    // The slot for the stations that have just sent passes before the others start.
    let time = config.phy.slot().as_secs_f64()
        + successes * success_time
        + (some - alone) * collision_time;
    Saturation {
        collisions: p / (1.0 + at_once + repeated),
        throughput: successes * payload(config) / time,
    }
}
