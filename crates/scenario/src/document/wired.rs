//! `[wired]`: the path between the access point and the wired hosts.

use super::{AqmTable, LineDelay, LossTable, QueueTable};
use crate::names::Shape;
use airtcp_units::bounded::{Limit, Rate};
use airtcp_units::{BitRate, Duration};

line_keys! {
    /// The path between the access point and the wired hosts, the same in both directions.
    #[derive(Clone, Copy, Default)]
    pub struct WiredTable takes {
        /// Rate of the line, which all flows share; 1 Gbit/s behind 802.11n, ac and ax when left
        /// out.
        // The path between an access point and servers (Fotiadis §IV).
        rate: Option<BitRate> = Some(BitRate::from_bps(100_000_000)), as Limit<Rate>;
        /// One-way delay of a packet, the same in each direction.
        delay: LineDelay;
        /// The queue in front of the line; of 1000 packets behind 802.11n, ac and ax when left out.
        queue: QueueTable, holding keys;
        shared aqm;
        /// Packets that get lost behind the access point, or in front of a receiver that refuses
        /// them. Where flows go both ways, acknowledgments that share the line with data are lost
        /// too.
        loss: LossTable, holding keys;
        /// A further delay for each flow, drawn once: half of this round trip each way.
        round_trip: RoundTripTable, holding keys;
    }
}

keys! {
    /// Distribution of round-trip times over flows.
    #[derive(Clone, Copy, Default)]
    pub struct RoundTripTable takes {
        /// The shape of the distribution.
        shape: Shape = Shape::default();
        /// Shortest (`uniform`).
        // Mahmoodi et al. §IV.
        from: Duration = Duration::from_millis(5), as LineDelay;
        /// Longest (`uniform`).
        to: Duration = Duration::from_millis(100), as LineDelay;
        /// Mean (`normal`, `exponential`).
        mean: Duration = Duration::from_millis(50), as LineDelay;
        /// Standard deviation (`normal`). A draw below 0 counts as 0.
        deviation: Duration = Duration::from_millis(20), as LineDelay;
    }
}
