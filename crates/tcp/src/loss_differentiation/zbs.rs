//! ZBS (Cen et al. §V): chooses the classifier that works best at the current interarrival times.
//! The ratio of their average to their minimum indicates how many flows share the bottleneck.

use super::interarrival::Interarrival;
use super::round_trips::RoundTrips;
use super::spike::Spike;
use super::{Cause, ZigZagTable};

/// A round trip this little above the minimum, in minimum interarrival times: nothing is queued,
/// and Spike is right.
const NOTHING_QUEUED: f64 = 0.05;

/// The cause of a loss of `lost` segments.
pub fn classify(
    round_trips: &RoundTrips,
    interarrival: &Interarrival,
    spike: &Spike,
    lost: u32,
) -> Cause {
    let Some(least) = interarrival.least() else {
        return spike.classify();
    };
    if round_trips.latest < round_trips.least + NOTHING_QUEUED * least {
        return spike.classify();
    }
    let narrow = interarrival.average() / least;
    if narrow < 0.875 {
        ZigZagTable::CEN.classify(round_trips, lost)
    } else if narrow < 1.5 {
        interarrival.classify(lost)
    } else if narrow < 2.0 {
        ZigZagTable::CEN.classify(round_trips, lost)
    } else {
        spike.classify()
    }
}
