//! Ping logs of links faster than any radio: of a wire, or of the loopback interface.
//!
//! A log's round trips are the only facts about its link, and a window over a round trip of 20 us
//! is several Gbit/s: two minutes of that are tens of millions of packets, for a link that nobody
//! meant. Such a link carries no more than a slow wire does, so that its runs take as long as those
//! of a radio, and its user gets a warning.

use airtcp_link::trace::rtt_log::RttSeries;
use airtcp_link::{Delay, Service};
use airtcp_units::{BitRate, Duration};

use crate::Scenario;
use crate::link::Link;

/// Lower bound of a wireless link's median round trip: a full 802.11 frame and the reply, each with
/// contention, take that long.
const FAST: Duration = Duration::from_millis(1);
/// Capacity of a link with faster round trips: Fast Ethernet's rate (IEEE 802.3 clause 24), less
/// than the 240 Mbit/s of twenty full frames in a radio's shortest round trip.
pub(crate) const MAX: BitRate = BitRate::from_bps(100_000_000);

/// Whether the median round trip is shorter than a radio's.
pub(crate) fn is_fast(series: &RttSeries) -> bool {
    series.median() < FAST
}

impl Scenario {
    /// A warning about a log that cannot come from a radio.
    pub(crate) fn fast_log(&self) -> Option<String> {
        let Link::Pipe { data, .. } = &self.link else {
            return None;
        };
        match (&data.delay, &data.service) {
            (Delay::Recorded { series, .. }, Service::Constant(MAX)) => Some(format!(
                "link.rtt_log: the median round trip is {}, which is a wire's or this machine's own, \
                 no radio's; the link is taken to carry at most {MAX}. Ping the far end over the \
                 wireless link",
                series.median(),
            )),
            _ => None,
        }
    }
}
