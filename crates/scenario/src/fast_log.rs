//! Ping logs of links that are faster than any radio: of a wire, or of the machine itself.
//!
//! The round trips of a log are all there is of its link, and a window over a round trip of 20 us
//! is several Gbit/s: two minutes of that are tens of millions of packets, for a link that nobody
//! meant. Such a link carries no more than a slow wire does, so that its runs take as long as those
//! of a radio, and whoever names it is told.

use airtcp_link::trace::rtt_log::RttSeries;
use airtcp_link::{Delay, Service};
use airtcp_units::{BitRate, Duration};

use crate::Scenario;
use crate::link::Link;

/// Half of the round trips of a wireless link are longer: a full frame of 802.11 with its
/// contention, and the reply's, take that long.
const FAST: Duration = Duration::from_millis(1);
/// What a link with faster round trips carries: Fast Ethernet's rate (IEEE 802.3 clause 24), less
/// than the 240 Mbit/s of twenty full frames in the shortest round trip that is a radio's.
pub(crate) const MAX: BitRate = BitRate::from_bps(100_000_000);

/// Whether half of the round trips are shorter than a radio's.
pub(crate) fn is_fast(series: &RttSeries) -> bool {
    series.median() < FAST
}

impl Scenario {
    /// A warning of a log that is no radio's.
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
